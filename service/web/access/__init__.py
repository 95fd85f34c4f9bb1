"""Who may send requests and read answers: keys and their limits, other origins, security headers."""
