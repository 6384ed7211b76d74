"""What the project remembers: cards of every member, and a model fitted to simulated populations."""
