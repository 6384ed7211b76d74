"""Description of a histogram under a noise: profiles, the features of the model, and reference errors."""
