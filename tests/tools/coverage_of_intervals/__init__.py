"""How often intervals contain the true area: simulated data sets with known true areas."""
