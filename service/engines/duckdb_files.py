"""How DuckDB reads files: their kind, and the SQL that makes them one table. Runs nothing."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from service.engines.engine import Kind
from service.engines.failures import SHOWN_CHARACTERS, EngineFailed, FilesUnreadable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MOST_DIGITS = 15
"""A decimal of up to this many digits is the quotient of two integers that a double holds exactly."""

_COMPRESSED_ENDINGS = {"gz", "zst"}
_ENDINGS = {"parquet": "parquet", "csv": "csv", "tsv": "tsv", "arrow": "arrow", "feather": "arrow"}
_SEPARATOR_OF = {"csv": ",", "tsv": "\t"}
"""{kind of text: its separator by default}"""

_REMOTE = re.compile(r"[a-z0-9]{2,}://")
_DECIMAL_TYPE = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_INTEGER_TYPE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?")


@dataclass(frozen=True, slots=True)
class Files:
    """Files of one kind, or globs of them.

    kind   parquet, csv, tsv or arrow; None to tell it from the names.
    texts, numbers   columns of CSV and TSV files to read as text or as numbers, whatever they look like.
    delimiter, decimal   the separator and the decimal mark of CSV files.
    """

    names: Sequence[str]
    kind: str | None = None
    texts: Collection[str] = ()
    numbers: Collection[str] = ()
    delimiter: str | None = None
    decimal: str | None = None

    @property
    def found_kind(self) -> str:
        """The kind of all files. Raises EngineFailed if their names do not show one kind."""
        if self.kind is not None:
            return self.kind
        kinds = sorted({_kind_of_name(name) for name in self.names})
        if len(kinds) > 1:
            raise EngineFailed(f"The files are of several kinds, {' and '.join(kinds)}.")
        return kinds[0]

    @property
    def are_text(self) -> bool:
        """Whether they are CSV or TSV."""
        return self.found_kind in _SEPARATOR_OF

    @property
    def _separator(self) -> str:
        return self.delimiter or _SEPARATOR_OF[self.found_kind]

    @property
    def through_pyarrow(self) -> bool:
        """Whether pyarrow has to read them: Arrow files, and those that are not on this machine."""
        return self.found_kind == "arrow" or any(_REMOTE.match(name) for name in self.names)

    def reader(self, columns: Collection[str] = (), *, header: bool = True) -> str:
        """The SQL that reads them; `columns` are the columns of CSV files, as far as they are known.

        Columns of different files are matched by name, and get a type that holds the values of all files. Without
        `header`, the first row of CSV files is a row like the others, all of text.
        """
        kind = self.found_kind
        options = {"union_by_name": "true"} | ({"binary_as_string": "true"} if kind == "parquet" else {})
        if self.are_text:
            # Nothing is left to guess: a guess may skip rows, or take the first for a header.
            options |= {"header": str(header).lower(), "all_varchar": str(not header).lower()}
            options |= {"skip": "0", "comment": "''", "quote": "'\"'", "escape": "'\"'"}
            options["delim"] = text_literal(self._separator)
            options["decimal_separator"] = text_literal(self.decimal or ".")
            types = {**dict.fromkeys(self.numbers, "DOUBLE"), **dict.fromkeys(self.texts, "VARCHAR")}
            chosen = [f"{text_literal(name)}: '{types[name]}'" for name in columns if name in types]
            if chosen:
                options["types"] = f"{{{', '.join(chosen)}}}"
        names = ", ".join(map(text_literal, self.names))
        function = "read_csv" if self.are_text else f"read_{kind}"
        return f"{function}([{names}], {', '.join(f'{name} = {value}' for name, value in options.items())})"

    def trimmed(self, types: Mapping[str, str]) -> str:
        """The SQL that drops the blanks around cells of text; a blank cell has no value, as in a body."""
        cells = [quoted_name(name) for name, of_type in types.items() if name in self.texts and of_type == "VARCHAR"]
        replaced = [f"NULLIF(TRIM({cell}, ' \t'), '') AS {cell}" for cell in cells]
        return f"REPLACE ({', '.join(replaced)})" if replaced else ""

    def misread_numbers(self, columns: Collection[str]) -> str:
        """The SQL that counts cells of CSV columns that a body would refuse as numbers, even if DuckDB reads them.

        For each column: how many integers have no exact double, how many cells are not decimal numbers, such as 1_000
        NA or 1e999, and the beginning of the first of these in alphabetical order. Last, how many rows there are. Words
        such as nan and inf are not counted.
        """
        counts = []
        mark = re.escape(self.decimal or ".")
        decimal = f"[ \t]*[+-]?([0-9]+{mark}?[0-9]*|{mark}[0-9]+)([eE][+-]?[0-9]+)?[ \t]*"
        for name in columns:
            column = quoted_name(name)
            cell = f"TRIM({column})"
            whole = f"LENGTH({cell}) > {_MOST_DIGITS} AND REGEXP_FULL_MATCH({cell}, '[+-]?[0-9]+')"
            exact = f"TRY_CAST({cell} AS HUGEINT) = TRY_CAST(TRY_CAST({cell} AS DOUBLE) AS HUGEINT)"
            counts.append(f"COUNT(CASE WHEN {whole} AND NOT COALESCE({exact}, false) THEN 1 END)")
            read = f"ISFINITE(TRY_CAST(REPLACE({column}, {text_literal(self.decimal or '.')}, '.') AS DOUBLE))"
            other = f"REGEXP_FULL_MATCH({column}, {text_literal(decimal)}) <> COALESCE({read}, true)"
            counts.append(f"COUNT(CASE WHEN {other} THEN 1 END)")
            counts.append(f"MIN(CASE WHEN {other} THEN LEFT({cell}, {SHOWN_CHARACTERS + 1}) END)")
        texts = replace(self, numbers=(), texts={*self.texts, *self.numbers})
        return f"SELECT {', '.join(counts)}, COUNT(*) FROM {texts.reader(columns)}"  # noqa: S608  # quoted

    def types(self, columns: Collection[str]) -> str:
        """The SQL that lists the types that these columns have in Parquet files: name, type and the files of each."""
        names, wanted = ", ".join(map(text_literal, self.names)), ", ".join(map(text_literal, columns))
        return (
            f"SELECT name, duckdb_type AS type, LIST(file_name) AS files FROM parquet_schema([{names}]) "  # noqa: S608  # quoted
            f"WHERE name IN ({wanted}) AND duckdb_type IS NOT NULL GROUP BY ALL ORDER BY ALL"
        )

    def rounded(self, column: str, of_type: str, to_type: str) -> str:
        """The SQL that counts the numbers of a type that another type rounds, and all rows of these files."""
        cell = quoted_name(column)
        cast = f"CAST({cell} AS {to_type})"
        changed = f"TRY_CAST({cast} AS {of_type}) IS DISTINCT FROM {cell}"
        if of_type.startswith("DECIMAL") and not of_type.endswith(",0)") and not to_type.startswith("DECIMAL"):
            changed = f"CAST({cast} AS DOUBLE) IS DISTINCT FROM CAST(CAST({cell} AS VARCHAR) AS DOUBLE)"
        return f"SELECT COUNT(CASE WHEN {changed} THEN 1 END) AS changed, COUNT(*) AS rows FROM {self.reader()}"  # noqa: S608  # quoted

    def headers(self, connection: "DuckDBPyConnection", table: str) -> Iterator[tuple[list[str], str]]:
        """The names of the columns of each file, as they are written there, and the SQL that reads the file.

        Files that pyarrow reads are one table, named `table`.
        """
        if self.through_pyarrow:
            yield self.dataset().schema.names, table
            return
        from pyarrow import parquet  # noqa: PLC0415  # only some files need it

        for name in self.names:
            for (file,) in connection.execute("SELECT file FROM glob(?)", [name]).fetchall():
                alone = replace(self, names=[file])
                if self.found_kind == "parquet":
                    yield parquet.read_schema(file).names, alone.reader()
                    continue
                first = connection.execute(f"SELECT * FROM {alone.reader(header=False)} LIMIT 1").fetchone()  # noqa: S608  # quoted
                yield [cell or "" for cell in first or ()], alone.reader()

    def dataset(self) -> Any:  # noqa: ANN401  # pyarrow has no types
        """Open them with pyarrow. Raises EngineFailed."""
        import pyarrow as pa  # noqa: PLC0415  # only some files need it
        from pyarrow import csv, dataset, fs  # noqa: PLC0415  # likewise

        kind = "ipc" if self.found_kind == "arrow" else self.found_kind
        if self.are_text:
            marks = csv.ConvertOptions(decimal_point=self.decimal or ".")
            kind = dataset.CsvFileFormat(csv.ParseOptions(delimiter=self._separator), convert_options=marks)
        parts = []
        try:
            for name in self.names:
                system, path = (None, name) if not _REMOTE.match(name) else fs.FileSystem.from_uri(name)
                parts.append(dataset.dataset(path, format=kind, filesystem=system))
            return dataset.dataset(parts) if len(parts) > 1 else parts[0]
        except pa.ArrowException as error:
            raise FilesUnreadable(str(error)) from error
        except (OSError, ValueError) as error:
            raise EngineFailed(str(error)) from error


def kind_of_duckdb(of_type: str) -> Kind:
    """What a column of one of DuckDB's types holds."""
    if decimal := _DECIMAL_TYPE.fullmatch(of_type):
        digits, places = map(int, decimal.groups())
        return Kind("number" if places else "integer", through_text=digits > _MOST_DIGITS)
    if _INTEGER_TYPE.fullmatch(of_type):
        return Kind("integer")
    names = {"DOUBLE": "number", "FLOAT": "number", "BOOLEAN": "boolean", "VARCHAR": "text", '"NULL"': "number"}
    return Kind(names.get(of_type, "text" if of_type.startswith("ENUM") else of_type.lower()))


def _kind_of_name(name: str) -> str:
    endings = [ending.lstrip(".").lower() for ending in PurePath(name).suffixes]
    if endings and endings[-1] in _COMPRESSED_ENDINGS:
        endings.pop()
    if not endings or endings[-1] not in _ENDINGS:
        raise EngineFailed(f"{name} does not end in .{', .'.join(_ENDINGS)}; give its format with --format.")
    return _ENDINGS[endings[-1]]


def text_literal(text: str) -> str:
    """A text in SQL."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def quoted_name(name: str) -> str:
    """The name of a column in SQL."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
