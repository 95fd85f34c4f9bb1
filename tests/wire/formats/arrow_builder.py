"""Arrow messages built field by field, so that they can say what no real writer would; tables follow Message.fbs."""

import struct

import flatbuffers

SCHEMA, DICTIONARY, RECORD_BATCH = 1, 2, 3
NULL, INT, TIMESTAMP, STRUCT, UNION = 1, 2, 10, 13, 14
END = b"\xff\xff\xff\xff\x00\x00\x00\x00"

_PREPEND = {
    "offset": flatbuffers.Builder.PrependUOffsetTRelativeSlot,
    "uint8": flatbuffers.Builder.PrependUint8Slot,
    "int16": flatbuffers.Builder.PrependInt16Slot,
    "int32": flatbuffers.Builder.PrependInt32Slot,
    "int64": flatbuffers.Builder.PrependInt64Slot,
}


class MessageBuilder(flatbuffers.Builder):
    """Writes the tables of a message; each method returns the position of what it wrote."""

    def table(self, fields):
        """Write {place: (kind, value)}."""
        self.StartObject(max(fields, default=-1) + 1)
        for place, (kind, value) in fields.items():
            _PREPEND[kind](self, place, value, 0)
        return self.EndObject()

    def tables(self, offsets):
        """Write a list of tables."""
        self.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.PrependUOffsetTRelative(offset)
        return self.EndVector()

    def integers(self, numbers):
        """Write a list of 32-bit integers."""
        self.StartVector(4, len(numbers), 4)
        for number in reversed(numbers):
            self.PrependInt32(number)
        return self.EndVector()

    def structs(self, pairs):
        """Write a list of structs of two 64-bit integers."""
        self.StartVector(16, len(pairs), 8)
        for first, second in reversed(pairs):
            self.PrependInt64(second)
            self.PrependInt64(first)
        return self.EndVector()

    def pair(self, key, value=""):
        """Write a pair of metadata."""
        key, value = self.CreateString(key), self.CreateString(value)
        return self.table({0: ("offset", key), 1: ("offset", value)})

    def field(self, name="x", kind=NULL, type_fields=None, children=(), metadata=()):
        """Write a field of a schema."""
        of_type = self.table(type_fields or {})
        name, children, metadata = self.CreateString(name), self.tables(children), self.tables(metadata)
        places = {0: name, 3: of_type, 5: children, 6: metadata}
        return self.table({2: ("uint8", kind)} | {place: ("offset", offset) for place, offset in places.items()})

    def integer_field(self, name="x"):
        """Write a field of 8-bit integers."""
        return self.field(name, INT, {0: ("int32", 8), 1: ("uint8", 1)})

    def schema(self, fields, metadata=(), *, big_endian=False):
        """Write the header of a schema."""
        fields, metadata = self.tables(fields), self.tables(metadata)
        return self.table({0: ("int16", int(big_endian)), 1: ("offset", fields), 2: ("offset", metadata)})

    def batch(self, rows, nodes, buffers):
        """Write the header of a record batch."""
        nodes, buffers = self.structs(nodes), self.structs(buffers)
        return self.table({0: ("int64", rows), 1: ("offset", nodes), 2: ("offset", buffers)})


def message(kind, header, body=b"", *, pairs=0, size=0, version=4):
    """A whole message; `header` writes its header, or is None; all `pairs` of metadata are one pair of this size."""
    builder = MessageBuilder(1024)
    place = header(builder) if header else 0
    metadata = builder.tables([builder.pair("k" * size)] * pairs) if pairs else 0
    fields = {0: ("int16", version), 1: ("uint8", kind), 2: ("offset", place), 3: ("int64", len(body))}
    builder.Finish(builder.table(fields | {4: ("offset", metadata)}))
    content = bytes(builder.Output())
    content += bytes(-len(content) % 8)
    return b"\xff\xff\xff\xff" + struct.pack("<i", len(content)) + content + body


def schema_message(*names, **options):
    """A schema of fields of 8-bit integers."""
    return message(SCHEMA, lambda builder: builder.schema([builder.integer_field(name) for name in names]), **options)


def batch_message(rows=2, nodes=((2, 0),), buffers=((0, 0), (0, 2)), **options):
    """A record batch; by default, of one column of two 8-bit integers."""
    body = bytes([1, 2] + [0] * 6 + [3, 4] + [0] * 6)
    return message(RECORD_BATCH, lambda builder: builder.batch(rows, nodes, buffers), body, **options)
