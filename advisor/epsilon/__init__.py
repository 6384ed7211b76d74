"""What a budget means, and budgets from what other systems state."""
