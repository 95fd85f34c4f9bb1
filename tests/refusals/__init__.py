"""What is refused, with which code, where the pointer points, and what the sentence says."""
