"""What a run is: canonical text, identity and digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

FORMAT = 1
"""number of the formats of run directories and of all JSON output"""


def canonical_text(value: Any) -> str:
    """A value as the one JSON text that stands for it.

    >>> canonical_text({"b": [1, "é"], "a": None})
    '{"a":null,"b":[1,"é"]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def identity(value: Any) -> str:
    """Value -> canonical text -> UTF-8 bytes -> SHA-256.

    >>> identity({"format": 1})
    '3f0a99256beeb89a6b9f2793885291a6454928fd74903159ab2e51452b13df6f'
    """
    return hashlib.sha256(canonical_text(value).encode()).hexdigest()


def differences(expected: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Where two descriptions of runs differ, for people; of games their paytables.

    >>> differences({"tie_break": "a", "software": {"code": "1"}}, {"tie_break": "b", "software": {"code": "2"}})
    ['tie_break: expected a, found b', 'software code: expected 1, found 2']
    """
    said = []
    for key, mine in expected.items():
        theirs = found.get(key)
        if canonical_text(mine) == canonical_text(theirs):
            continue
        if isinstance(mine, dict) and isinstance(theirs, dict):
            said += [f"{key} {line}" for line in differences(mine, theirs)]
        elif key == "games" and theirs:
            said += _other_paytables(mine, theirs)
        else:
            said.append(f"{key}: expected {mine}, found {'nothing' if theirs is None else theirs}")
    return said


def _other_paytables(expected: list[Any], found: list[Any]) -> list[str]:
    """The paytables of two lists of games that only one of them has, or that are not the same in both."""
    mine, theirs = (
        {
            f"{game['name']}, {_label(table)}": canonical_text([game | {"paytables": []}, table])
            for game in games
            for table in game["paytables"]
        }
        for games in (expected, found)
    )
    kinds = {
        "expected and not found": [name for name in mine if name not in theirs],
        "found and not expected": [name for name in theirs if name not in mine],
    }
    if not any(kinds.values()):
        kinds = {"with other rules, pays or sources": [name for name in mine if mine[name] != theirs[name]]}
    shown = {what: names[:3] + [f"{len(names) - 3} more"] * (len(names) > 3) for what, names in kinds.items() if names}
    return [f"games {what}: {'; '.join(names)}" for what, names in shown.items()] or ["games: in another order"]


def _label(table: Mapping[str, Any]) -> str:
    """The name of a paytable, with the coin level where there are several."""
    return f"{table['name']}, {table['coins']} coin{'s' * (table['coins'] > 1)}" if table["levels"] else table["name"]


def pretty_text(value: Any) -> str:
    """A value as the JSON text of a file: keys in their order, two spaces, one newline at the end."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def content_digest(table: pa.Table) -> str:
    """SHA-256 over the integer and text columns of a table, independent of how Parquet stores them.

    In schema order, for each column ``name:type`` and a newline, then the little-endian values, or for text the length
    as a little-endian uint32 and the UTF-8 bytes of each value. Floats are left out: they follow from the integers.
    Raises `ValueError` for columns of other types or with nulls.

    >>> content_digest(pa.table({"n": pa.array([1, 2], pa.int16()), "x": [0.5, 0.5]}))[:16]
    '4b77695cb4d39f7f'
    """
    digest = hashlib.sha256()
    for field in table.schema:
        if pa.types.is_floating(field.type):
            continue
        digest.update(f"{field.name}:{field.type}\n".encode())
        column = table.column(field.name).combine_chunks()
        if column.null_count:
            raise ValueError(f"column {field.name!r} has {column.null_count} nulls")
        if pa.types.is_integer(field.type):
            digest.update(number_bytes(column))
        elif pa.types.is_string(field.type):
            digest.update(_prefixed(column))
        else:
            raise ValueError(f"column {field.name!r} is {field.type}; expected integers or text")
    return digest.hexdigest()


def number_bytes(column: pa.Array) -> bytes:
    """The little-endian values of a column of integers or floats without nulls; its `to_numpy` would import pandas."""
    kind = np.dtype(column.type.to_pandas_dtype())
    values = np.frombuffer(column.buffers()[1] or b"", kind, len(column), column.offset * kind.itemsize)
    return values.astype(kind.newbyteorder("<"), copy=False).tobytes()


def _prefixed(column: pa.Array) -> bytes:
    """Each text of a column, after its length in bytes as a little-endian uint32.

    >>> _prefixed(pa.array(["a", "", "bc"]))
    b'\\x01\\x00\\x00\\x00a\\x00\\x00\\x00\\x00\\x02\\x00\\x00\\x00bc'
    """
    if not len(column):
        return b""
    _, offsets, content = column.buffers()
    ends = np.frombuffer(offsets, np.int32, len(column) + 1, column.offset * 4)
    texts = np.frombuffer(content or b"", np.uint8)[ends[0] : ends[-1]]
    lengths = np.diff(ends).astype("<u4")
    if (lengths == lengths[0]).all():  # as in most columns
        return np.hstack([lengths.view(np.uint8).reshape(-1, 4), texts.reshape(len(lengths), -1)]).tobytes()
    # Many times faster than np.insert.
    at = (ends[:-1] - ends[0])[:, None] + 4 * np.arange(len(lengths))[:, None] + np.arange(4)
    written = np.empty(len(texts) + 4 * len(lengths), np.uint8)
    text = np.ones(len(written), bool)
    text[at] = False
    written[at] = lengths.view(np.uint8).reshape(-1, 4)
    written[text] = texts
    return written.tobytes()


@lru_cache(maxsize=1)
def software() -> dict[str, str]:
    """The versions that decide bytes: autohold's own with a digest of its code, and pyarrow's."""
    try:
        own = version("autohold")
    except PackageNotFoundError:
        own = "uninstalled"
    return {"autohold": own, "code": code_digest(), "pyarrow": pa.__version__}


def code_digest() -> str:
    """SHA-256 over the names and contents of all modules of `evaluator` and `pipeline`, in order of their names."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for folder in ("evaluator", "pipeline"):
        for path in sorted((root / folder).rglob("*.py")):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(root).as_posix()}:{len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()
