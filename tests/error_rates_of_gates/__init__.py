"""How often gates pass: simulated pairs of models, of which it is known how far one is behind the other."""
