"""From bytes to a document of columns: a file for each format, content codings, and the table of decoders."""
