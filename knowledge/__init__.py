"""Knowledge base: cards of all members, and a model fitted to simulated populations."""
