"""How often the intervals hold the true area: simulated data sets, whose true areas are known."""
