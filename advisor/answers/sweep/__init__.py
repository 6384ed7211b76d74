"""Who wins where, over a grid of budgets, users and domain sizes."""
