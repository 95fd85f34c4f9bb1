"""Every loop over rows, once: sweep.c, its textbook twin plain.py, and sweep.py, which calls the one or the other."""
