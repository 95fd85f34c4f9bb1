"""How often gates pass: simulated pairs of models with a known difference."""
