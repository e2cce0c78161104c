"""Object stores on this machine: moto's S3 server in this process, and s3rver, another program, as a second kind."""

import logging
import os
import re
import socket
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from moto.server import ThreadedMotoServer
from s3fs import S3FileSystem

from pipeline.location import location, tree

ROOT = Path(__file__).parent.parent.parent
S3RVER = ROOT / "tests" / ".programs" / "node_modules" / ".bin" / "s3rver"


class Store(NamedTuple):
    """A store that runs, with an empty bucket named ``bucket``."""

    name: str
    endpoint: str
    environment: dict[str, str]
    """for commands that use it"""
    requests: list[tuple[str, str, int]]
    """method, key (or ``?list`` and its prefix) and status of what was asked since it was cleared; moto only"""


@contextmanager
def moto():
    """Knows exclusive creation."""
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    requests = []
    listener = logging.Handler()
    listener.emit = lambda record: requests.append(_request(record.getMessage()))
    logger = logging.getLogger("werkzeug")
    level, logger.propagate = logger.level, False
    logger.setLevel(logging.INFO)
    logger.addHandler(listener)
    try:
        yield _store("moto", f"http://{host}:{port}", "key", requests)
    finally:
        logger.removeHandler(listener)
        logger.setLevel(level)
        logger.propagate = True
        server.stop()


def _request(line):
    method, target, status = re.search(r'"(?:\x1b\[[0-9;]*m)*(\w+) (\S+) HTTP/1\.1(?:\x1b\[0m)?" (\d+)', line).groups()
    path, _, query = target.partition("?")
    key = unquote(path.removeprefix("/bucket").removeprefix("/"))
    prefix = re.search(r"prefix=([^&]*)", query)
    return method, f"?list {unquote(prefix[1])}" if "list-type" in query and prefix else key, int(status)


@contextmanager
def s3rver(folder):
    """Does not know exclusive creation: it writes over what is there."""
    assert S3RVER.exists(), f"{S3RVER} is missing; run tests/install_programs"
    words = [S3RVER, "-d", folder, "-a", "127.0.0.1", "-p", "0", "--silent", "--configure-bucket", "bucket"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        address = next(line.split()[-1] for line in process.stdout if "listening on" in line)
        yield _store("s3rver", f"http://{address}", "S3RVER", [])
    finally:
        process.kill()
        process.communicate()


@contextmanager
def through(store):
    """The store by another address; at the end that is cut, with all that is on the way."""
    there, ends = urlsplit(store.endpoint), []

    class Relay(BaseRequestHandler):
        def handle(self):
            with socket.create_connection((there.hostname, there.port)) as behind:
                ends.extend([self.request, behind])
                back = Thread(target=pass_on, args=(behind, self.request))
                back.start()
                pass_on(self.request, behind)
                back.join()

    def pass_on(source, target):
        with suppress(OSError):
            while content := source.recv(2**16):
                target.sendall(content)
        cut(target)

    def cut(end):
        with suppress(OSError):  # it is cut already
            end.shutdown(socket.SHUT_RDWR)

    with ThreadingTCPServer(("127.0.0.1", 0), Relay) as server:
        Thread(target=server.serve_forever).start()
        try:
            endpoint = "http://{}:{}".format(*server.server_address)
            yield store._replace(endpoint=endpoint, environment={**store.environment, "AWS_ENDPOINT_URL": endpoint})
        finally:
            server.shutdown()
            server.socket.close()
            for end in ends:
                cut(end)


def _store(name, endpoint, key, requests):
    changes = {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": key,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    if name == "moto":
        S3FileSystem(endpoint_url=endpoint, key=key, secret=key).mkdir("bucket")
    return Store(name, endpoint, changes, requests)


def contents(run):
    """Path -> bytes of every object of a run but its log; of the store that this process's environment names."""
    place = location(str(run))
    return {name: (place / name).read_bytes() for name in tree(place) if name != "log.jsonl"}
