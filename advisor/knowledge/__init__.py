"""What look-ups rest on: what it covers, its rules, its simulated cells, how good it is, and how to build it anew."""
