"""The inverse question: how many users, or which budget, an error takes."""
