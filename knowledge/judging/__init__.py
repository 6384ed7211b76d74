"""How good the knowledge is: questions outside of what it was made from, and the regret of following it."""
