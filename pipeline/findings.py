"""What a verification finds: typed findings, each with what was expected and what is there."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

KINDS = {
    "incomplete": "the run is not finished",
    "missing": "a file is not there",
    "unexpected": "a file is there that the run does not have",
    "altered": "a file does not have the digest that SHA256SUMS says, or SHA256SUMS not the text that it must have",
    "truncated": "a Parquet file ends too early",
    "unreadable": "a file is not what its name says: JSON or Parquet that does not parse",
    "manifest": "the manifest does not fit its own identity, or is of another run or version",
    "schema": "the columns of a table are not those of its paytable",
    "receipt": "the footer of a part says something else than the part, its place or its run",
    "order": "rows are not in order, or double",
    "rows": "rows are missing, or there are too many",
    "row": "the values of a row contradict each other",
    "totals": "sums are not what they must add up to",
    "digest": "a table does not have the content digest that is said of it",
    "certificate": "a certificate does not follow from its strategy table",
    "sample": "the second engine finds another value for a sampled hand",
    "recompute": "computing it again gives another value",
    "signature": "a signature does not check, or what is signed is something else",
}
"""the kinds of findings"""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a run directory.

    >>> str(Finding("rows", "a/b/strategy", "rows of the table", "134459", "134458"))
    'rows: a/b/strategy: rows of the table: expected 134459, found 134458'
    """

    kind: str
    """one of `KINDS`"""
    path: str
    """from the run directory"""
    message: str
    """what is wrong"""
    expected: str = ""
    """what should be there, where that is known"""
    found: str = ""
    """what is there"""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is none of {', '.join(KINDS)}")

    def __str__(self) -> str:
        said = [f"expected {self.expected}"] * bool(self.expected) + [f"found {self.found}"] * bool(self.found)
        return ": ".join(part for part in (self.kind, self.path, self.message, ", ".join(said)) if part)


@dataclass
class Findings:
    """Findings as they come; the same one is kept once."""

    _found: dict[Finding, None] = field(default_factory=dict)

    @property
    def found(self) -> tuple[Finding, ...]:
        """In the order of the checks."""
        return tuple(self._found)

    def add(self, kind: str, path: str, message: str, expected: object = "", found: object = "") -> None:
        """Add a finding."""
        self._found[Finding(kind, path, message, str(expected), str(found))] = None

    def join(self, others: Findings) -> None:
        """Add those of another check."""
        self._found |= others._found

    def differ(self, kind: str, path: str, message: str, expected: object, found: object) -> bool:
        """Add a finding where the two values differ; returns whether they do."""
        if expected != found:
            self.add(kind, path, message, expected, found)
        return expected != found


@dataclass(frozen=True)
class Verification:
    """The result of verifying a run directory."""

    identity: str
    """of the run, as its manifest says; empty where that cannot be read"""
    level: str
    """what was checked: default, tables, sample, recompute"""
    findings: tuple[Finding, ...]
    """everything that is wrong"""
    notes: tuple[str, ...]
    """what is no fault, but good to know"""
    checked: dict[str, int]
    """how many files, bytes, tables, rows, sampled hands, recomputed parts"""

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def values(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        return {
            "identity": self.identity,
            "level": self.level,
            "sound": self.sound,
            "findings": [asdict(finding) for finding in self.findings],
            "notes": list(self.notes),
            "checked": self.checked,
        }
