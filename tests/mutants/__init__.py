"""Changes the mathematics and the wire at random, one small change at a time, and asks whether a test fails."""
