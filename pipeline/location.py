"""Where runs are: a folder of this machine, or a place in an object store, with the same few calls for both.

A file is there whole or not at all. A folder takes a temporary name, fsync and a rename; an object store does it
by itself, so objects are written to their final key at once. Everything about an object is one request.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pipeline.faults import ConfigError, Fault

TEMPORARY = ".writing-"
"""how the names of files begin that are not finished"""
OPTIONS = {"use_listings_cache": False}
"""others write too, so no listing is kept"""
FURTHER: dict[str, dict[str, Any]] = {"s3": {"max_concurrency": 1}}
"""s3fs asks for the size of an object before it reads it, unless it is not to read several pieces at a time"""
READERS = 16
"""objects that are read at the same time, for what takes long is the way to them"""


@dataclass(frozen=True)
class Remote:
    """A place in an object store: as much of a `pathlib.Path` as runs need, over fsspec.

    Workers get its text; how to reach the store is in their environment or fsspec's configuration.

    >>> place = Remote("s3://bucket/run") / "jacks-or-better/9-6"
    >>> str(place), place.name
    ('s3://bucket/run/jacks-or-better/9-6', '9-6')
    """

    url: str
    """with its protocol, without a slash at its end"""

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> Remote:
        return Remote(f"{self.url}/{name}")

    @property
    def name(self) -> str:
        """What follows the last slash."""
        return self.url.rpartition("/")[2]

    def absolute(self) -> Remote:
        """Itself."""
        return self

    def read_bytes(self) -> bytes:
        """The content; raises `FileNotFoundError`."""
        return bytes(self.call("cat_file"))

    def read_text(self, encoding: str = "utf-8") -> str:
        """The content as text; raises `FileNotFoundError`."""
        return self.read_bytes().decode(encoding)

    def exists(self) -> bool:
        """Whether there is an object, or objects below it."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        """Whether there is an object."""
        try:
            return bool(self.call("info")["type"] == "file")
        except FileNotFoundError:
            return False

    def is_dir(self) -> bool:
        """Whether there are objects below it."""
        return bool(children(self))

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the object; one that is not there is no error."""
        try:
            self.call("rm_file")
        except FileNotFoundError:
            if not missing_ok:
                raise

    def filesystem(self) -> tuple[Any, str]:
        """The fsspec file system, and the path in it."""
        from fsspec.core import url_to_fs

        system, path = url_to_fs(self.url, **OPTIONS, **FURTHER.get(self.url.partition("://")[0], {}))
        if getattr(system, "loop", None) is not None:
            # It would print with a traceback what requests that have failed leave behind; who asked raises that.
            system.loop.set_exception_handler(lambda loop, context: None)
        return system, path

    def call(self, method: str, *arguments: Any, **options: Any) -> Any:
        """Call a method of the file system for this place; raises `OSError`, whatever the store's library raises."""
        system, path = self.filesystem()
        try:
            return getattr(system, method)(path, *arguments, **options)
        except Exception as problem:
            number = next((n for kind, n in _NUMBERS if isinstance(problem, kind)), getattr(problem, "errno", None))
            raise OSError(number or errno.EIO, str(problem) or type(problem).__name__, self.url) from problem


_NUMBERS = (
    (FileNotFoundError, errno.ENOENT),
    (FileExistsError, errno.EEXIST),
    (PermissionError, errno.EACCES),
)
"""what `OSError` makes these kinds of"""

Location: TypeAlias = Path | Remote
Result = TypeVar("Result")


def location(place: str | Location) -> Location:
    """The location of a text: an object store where it has a protocol. Raises `ConfigError` where that cannot be used.

    >>> location("runs/mine")
    PosixPath('runs/mine')
    >>> location("s4://bucket/run")
    Traceback (most recent call last):
    pipeline.faults.ConfigError: s4://bucket/run: no object store is known by that protocol: s4
    """
    if isinstance(place, (Path, Remote)) or "://" not in place:
        return Path(place) if isinstance(place, str) else place
    protocol, _, rest = place.partition("://")
    if protocol == "file":
        return Path(rest)
    if not rest.strip("/"):
        raise ConfigError([Fault(place, "", f"names no bucket; expected {protocol}://bucket/run")])
    from fsspec import get_filesystem_class

    try:
        get_filesystem_class(protocol)
    except ValueError:
        message = f"no object store is known by that protocol: {protocol}"
        raise ConfigError([Fault(place, "", message)]) from None
    except ImportError as problem:
        hint = "pip install 'autohold[s3]'" if protocol == "s3" else str(problem)
        raise ConfigError([Fault(place, "", f"needs another package: {hint}")]) from None
    return Remote(place.rstrip("/"))


# --- reading ----------------------------------------------------------------------------------------------------------


def children(folder: Location) -> list[str]:
    """Names of what is directly in a folder, ascending; none where there is none. Raises `NotADirectoryError`."""
    try:
        if isinstance(folder, Path):
            return sorted(os.listdir(folder))
        names = [str(path).rstrip("/").rpartition("/")[2] for path in folder.call("ls", detail=False)]
    except FileNotFoundError:
        return []
    return sorted(names)


def walk(folder: Location) -> Iterator[tuple[str, int]]:
    """Every file below a folder, hidden ones too: its path from there, and its size in bytes; in no order."""
    if isinstance(folder, Remote):
        root = len(folder.filesystem()[1]) + 1
        with suppress(FileNotFoundError):
            for path, about in folder.call("find", detail=True).items():
                if len(path) > root:
                    yield path[root:], int(about["size"])
        return
    for name, entry in _entries(folder):
        with suppress(FileNotFoundError):  # a writer may be done with its temporary file by now
            if entry.is_file():
                yield name, entry.stat().st_size


def irregular(folder: Path) -> list[str]:
    """What is below a folder and neither a plain file nor a folder, ascending."""
    return sorted(
        name for name, entry in _entries(folder) if entry.is_symlink() or not (entry.is_file() or entry.is_dir())
    )


def _entries(folder: Path, above: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """All that is below a folder that can be read, by its path from there."""
    try:
        with os.scandir(folder / above) as found:
            entries = list(found)
    except OSError:
        return
    for entry in entries:
        yield above + entry.name, entry
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(folder, f"{above}{entry.name}/")


def tree(folder: Location) -> dict[str, int]:
    """The same, ascending."""
    return dict(sorted(walk(folder)))


def lines(path: Location) -> Iterator[str]:
    """The lines of a text, without their ends."""
    if isinstance(path, Remote):
        yield from path.read_text().split("\n")
        return
    with path.open(encoding="utf-8", newline="\n") as file:
        yield from (line.removesuffix("\n") for line in file)


def each(run: Location, function: Callable[[Location], Result], names: Iterable[str]) -> Iterator[Result]:
    """A function of files of a run, in the order of the names; in an object store of many at the same time."""
    if isinstance(run, Path):
        yield from (function(run / name) for name in names)
        return
    from concurrent.futures import ThreadPoolExecutor

    waiting = iter(names)
    with ThreadPoolExecutor(READERS) as pool:
        while block := list(islice(waiting, 16 * READERS)):
            yield from pool.map(function, [run / name for name in block])


# --- writing ----------------------------------------------------------------------------------------------------------


def write_whole(path: Location, content: bytes | Iterable[bytes]) -> None:
    """Write a file that is there completely or not at all, over what was there; of a long one piece by piece."""
    pieces = [content] if isinstance(content, bytes) else content
    if isinstance(path, Remote):
        path.call("pipe_file", b"".join(pieces))
        return
    from secrets import token_hex

    temporary = path.with_name(f"{TEMPORARY}{token_hex(8)}-{path.name}")  # hosts may share a folder
    with _named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("xb") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_new(path: Location, content: bytes) -> None:
    """Write a small file that was not there before; raises `FileExistsError` where it is.

    In a folder it may be there without content if the process dies. An object store that does not know exclusive
    creation (If-None-Match) writes over what was there.
    """
    if isinstance(path, Path):
        with _named(path), path.open("xb", buffering=0) as file:
            try:
                _all_of(file.write(content), content)
            except BaseException:
                path.unlink()
                raise
        return
    try:
        path.call("pipe_file", content, mode="create")
    except FileExistsError:
        raise
    except OSError:
        if not path.is_file():  # stores tell by different errors that something is there
            raise
        raise FileExistsError(errno.EEXIST, "is there already", str(path)) from None


def append_lines(path: Location, content: bytes) -> None:
    """Add whole lines to the end of a text, all or nothing; only one process does. An object is written anew."""
    if isinstance(path, Remote):
        try:
            before = path.read_bytes()
        except FileNotFoundError:
            before = b""
        write_whole(path, before + content)
        return
    with _named(path), path.open("a+b", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        if end and os.pread(file.fileno(), 1, end - 1) != b"\n":  # the machine stopped in the middle of a line
            content = b"\n" + content
        try:
            _all_of(file.write(content), content)
        except BaseException:
            file.truncate(end)
            raise


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors name the file that was to be written, not a temporary one or none."""
    try:
        yield
    except OSError as problem:
        if problem.filename is not None and TEMPORARY not in str(problem.filename):
            raise
        raise OSError(problem.errno, problem.strerror, str(path)) from problem


def _all_of(written: int, content: bytes) -> None:
    if written != len(content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def sweep(folder: Location) -> None:
    """Remove what an interrupted writer left; in an object store there is no such thing."""
    if isinstance(folder, Path):
        for orphan in folder.rglob(f"{TEMPORARY}*"):
            orphan.unlink(missing_ok=True)
