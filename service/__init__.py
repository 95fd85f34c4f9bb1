"""rocpr: ROC and precision-recall curves as a stateless REST service."""
