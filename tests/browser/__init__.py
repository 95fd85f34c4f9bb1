"""Our pages in a real Chromium."""
