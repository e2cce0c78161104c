"""What a run keeps of the receipts of its parts: sums, and digests that are not kept in memory."""

from __future__ import annotations

import os
import struct
import tempfile
from collections import Counter
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

from evaluator.payback import Outcome
from pipeline.plan import Plan, part_number
from pipeline.store import Receipt

RECORD = struct.Struct("<q32s32s")


class Digests(NamedTuple):
    """What the manifest and the sums say of a part."""

    rows: int
    content: str
    """content digest of its table"""
    sha256: str
    """of its file"""


class Gathered:
    """The receipts of a run as they come in: sums that add up, and a record for each part in a file without a name.

    So a run of a million parts takes no more memory than one of a thousand; the file has 72 bytes for each.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._tables = [(number, i) for number, entry in enumerate(plan.entries) for i in range(len(entry.paytables))]
        self._table = {plan.entries[number].folders[i]: at for at, (number, i) in enumerate(self._tables)}
        starts = accumulate((plan.parts(number) for number, _ in self._tables), initial=0)
        self._first = dict(zip(self._tables, starts, strict=False))
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this object
        self._missing = [plan.parts(number) * len(entry.paytables) for number, entry in enumerate(plan.entries)]
        self._sums = {place: Outcome.none_of(plan.entries[place[0]].paytables[place[1]]) for place in self._tables}
        self.total = sum(self._missing)
        """parts of the plan"""
        self.found: Counter[str] = Counter()
        """how many parts were found missing, sound, or damaged"""
        self.seconds = [0.0] * len(plan.entries)
        """processor time that the parts of each game took"""

    def add(self, receipts: Iterable[Receipt]) -> None:
        """Take receipts in, each once."""
        for receipt in receipts:
            folder, part = part_number(receipt.path)
            place = self._tables[self._table[folder]]
            self._sums[place] += receipt.outcome
            self._missing[place[0]] -= 1
            self.seconds[place[0]] += receipt.seconds
            self.found["damaged" if receipt.damaged else receipt.found] += 1
            record = RECORD.pack(receipt.rows, bytes.fromhex(receipt.content), bytes.fromhex(receipt.sha256))
            os.pwrite(self._file.fileno(), record, (self._first[place] + part) * RECORD.size)

    @property
    def done(self) -> int:
        """Parts whose receipts are in."""
        return self.found.total()

    @property
    def games(self) -> int:
        """Games all of whose parts are done."""
        return self._missing.count(0)

    def outcome(self, entry: int, table: int) -> Outcome:
        """The sums over all rows of a paytable, when all its receipts are in."""
        return self._sums[entry, table]

    def digests(self, entry: int, table: int, part: int) -> Digests:
        """What the receipt of a part said."""
        at = (self._first[entry, table] + part) * RECORD.size
        rows, content, sha256 = RECORD.unpack(os.pread(self._file.fileno(), RECORD.size, at))
        return Digests(rows, content.hex(), sha256.hex())
