"""Between bytes and the domain: decoders, marshmallow fields and schemas, encoders, problems. Knows no HTTP."""
