"""How the knowledge is made: cells are drawn and simulated, the model and the trees are fitted to them."""
