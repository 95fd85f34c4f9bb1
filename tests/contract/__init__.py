"""openapi.yaml and the service, held together both ways."""
