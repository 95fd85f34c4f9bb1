"""From bytes to a document of columns: one file a format, content codings, and the table of decoders."""
