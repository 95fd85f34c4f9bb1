"""What the service tells of itself: its log, its counts for Prometheus, and the times in each answer."""
