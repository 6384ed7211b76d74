"""What a histogram looks like under a noise: profiles, the features of the model, and reference errors."""
