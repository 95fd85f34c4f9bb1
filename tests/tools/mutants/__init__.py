"""Makes small random changes to the mathematics and the wire, one at a time, and finds out whether a test fails."""
