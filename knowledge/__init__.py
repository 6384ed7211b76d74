"""What the project remembers: for now, what is known of every protocol, method and metric."""
