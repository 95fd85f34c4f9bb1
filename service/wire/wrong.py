"""What a sender did wrong, as fields and columns raise it; wire/requests/faults.py gives it its JSON pointer."""


class Wrong(ValueError):
    """A value is wrong: a stable code, a sentence, and the row if the value is a column."""

    def __init__(self, code: str, detail: str, row: int | None = None) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.row = row
