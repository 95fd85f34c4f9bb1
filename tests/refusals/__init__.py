"""What is refused, with which code, pointer and sentence."""
