"""Which ε: the answer at several budgets side by side, and the questions that lead to one."""
