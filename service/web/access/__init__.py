"""Who may send requests and who may read answers: keys and their limits, other origins, security headers."""
