"""What is on the menu, and what is known of each member."""
