"""openapi.yaml and the service agree, in both directions."""
