"""What the project remembers: what is known of every member, and a simulated grid that answers without data."""
