"""Where the fields of an Arrow message are: their indexes in Arrow's Message.fbs and Schema.fbs, and some values."""

MESSAGE_VERSION, MESSAGE_TYPE, MESSAGE_HEADER, MESSAGE_BODY_LENGTH, MESSAGE_METADATA = range(5)
ENDIANNESS, FIELDS, SCHEMA_METADATA = range(3)
FIELD_NAME, _, FIELD_TYPE_ID, FIELD_TYPE, FIELD_DICTIONARY, FIELD_CHILDREN, FIELD_METADATA = range(7)
BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION = range(4)
INT_WIDTH, INT_IS_SIGNED = range(2)
FLOAT_PRECISION = 0

V5 = 4
"""The metadata version of Arrow 1.0 and later; before it, compression was declared in a message's custom metadata."""

CONTINUATION = b"\xff\xff\xff\xff"
"""How a message begins."""

STREAM_END = CONTINUATION + bytes(4)
