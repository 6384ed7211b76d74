"""The ranking of protocols and methods: simulated, or looked up."""
