"""Signed statements about a run: in-toto Statement v1 in a DSSE envelope, Ed25519, any number of signatures.

What is signed is the pre-authentication encoding of DSSE, over the exact bytes of the statement:

    DSSEv1 <length of type> <type> <length of statement> <statement>

so nothing has to be written canonically to be checked, and OpenSSL can check it. A statement lists every file of
SHA256SUMS, and SHA256SUMS itself, with its digest, and what the run says. It is the same for equal runs: no date, no
name. Private keys are only read; they are never written, and never taken from within a run directory.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.faults import ConfigError, Fault
from pipeline.findings import Findings
from pipeline.location import Location, tree, write_whole
from pipeline.manifest import pretty_text
from pipeline.open_run import open_run
from pipeline.store import SUMS, file_digest, read_sums

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

FOLDER = "attestations"
ENVELOPE = f"{FOLDER}/certification.dsse.json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:autohold:certification:v1"
PAYLOAD = "application/vnd.in-toto+json"


def encode(body: bytes, kind: str = PAYLOAD) -> bytes:
    """The bytes that are signed: DSSE's pre-authentication encoding.

    >>> encode(b"hello world", "http://example.com/HelloWorld")
    b'DSSEv1 29 http://example.com/HelloWorld 11 hello world'
    """
    return b"DSSEv1 %d %s %d %s" % (len(kind.encode()), kind.encode(), len(body), body)


def statement(run: Location) -> dict[str, Any]:
    """What is stated about a run: its files by digest, its identity, and each certificate's payback."""
    manifest, _, places = open_run(run)
    digests = {**read_sums(run), SUMS: file_digest(run / SUMS)}
    certificates = [(place, place.certificate()) for place in places]
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": digests[name]}} for name in sorted(digests)],
        "predicateType": PREDICATE,
        "predicate": {
            "identity": manifest["identity"],
            "software": manifest["software"],
            "certificates": [
                {
                    "folder": place.folder,
                    "game": content["game"],
                    "paytable": content["label"],
                    "payback": content["payback"],
                    "tie_break": content["tie_break"],
                }
                for place, content in certificates
            ],
            "parts": [{key: part[key] for key in ("path", "rows", "content")} for part in manifest["parts"]],
        },
    }


def sign(run: Location, key_file: Path, password: bytes | None = None) -> str:
    """Add a signature to the run's envelope, which is made where there is none; returns the key's identity.

    A signature of the same key is replaced. The envelope of another statement, for the run has changed, is refused.
    """
    if isinstance(run, Path) and run.resolve() in key_file.resolve().parents:
        raise ConfigError([Fault(str(key_file), "", "a private key must not be in the run directory")])
    key = _private(key_file, password)
    body = pretty_text(statement(run)).encode()
    name = key_identity(key.public_key())
    signatures: list[dict[str, str]] = []
    if (run / ENVELOPE).exists():
        envelope = json.loads((run / ENVELOPE).read_text(encoding="utf-8"))
        if base64.b64decode(envelope["payload"]) != body:
            message = "is about another state of the run; remove it to start with new signatures"
            raise ConfigError([Fault(str(run / ENVELOPE), "", message)])
        signatures = [one for one in envelope["signatures"] if one["keyid"] != name]
    signatures.append({"keyid": name, "sig": base64.b64encode(key.sign(encode(body))).decode()})
    envelope = {"payloadType": PAYLOAD, "payload": base64.b64encode(body).decode(), "signatures": signatures}
    write_whole(run / ENVELOPE, pretty_text(envelope).encode())
    return name


def key_identity(key: Ed25519PublicKey) -> str:
    """SHA-256 of the raw public key, as `openssl pkey -pubin -outform DER | tail -c 32 | sha256sum` prints it."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()


def _private(path: Path, password: bytes | None) -> Ed25519PrivateKey:
    private, _, serialization = _cryptography()
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), password)
    except (ValueError, TypeError) as problem:
        raise ConfigError([Fault(str(path), "", f"is no private key that can be read: {problem}")]) from None
    if not isinstance(key, private):
        raise ConfigError([Fault(str(path), "", "expected an Ed25519 key: openssl genpkey -algorithm ed25519")])
    return key


def public_key(path: Path) -> Ed25519PublicKey:
    """A public key from a PEM file; raises `ConfigError`."""
    _, public, serialization = _cryptography()
    try:
        key = serialization.load_pem_public_key(path.read_bytes())
    except ValueError as problem:
        raise ConfigError([Fault(str(path), "", f"is no public key that can be read: {problem}")]) from None
    if not isinstance(key, public):
        raise ConfigError([Fault(str(path), "", "expected an Ed25519 key")])
    return key


def _cryptography() -> tuple[type[Ed25519PrivateKey], type[Ed25519PublicKey], Any]:
    """The kinds of keys, and what reads them; raises `ConfigError` without the optional package."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ConfigError([Fault("", "", "signatures need cryptography: pip install 'autohold[sign]'")]) from None
    return ed25519.Ed25519PrivateKey, ed25519.Ed25519PublicKey, serialization


# --- checking ---------------------------------------------------------------------------------------------------------


def check_attestations(
    run: Location, digests: dict[str, str], keys: Sequence[Ed25519PublicKey], findings: Findings, notes: list[str]
) -> None:
    """The envelope of a run against the digests of its files, and a signature by every key that is asked for.

    digests: of the files that SHA256SUMS lists. Without keys only what is stated is checked, not who signed it.
    """
    there = [f"{FOLDER}/{name}" for name in tree(run / FOLDER)]
    for name in there:
        if name != ENVELOPE:
            findings.add("unexpected", name, "is no attestation of autohold")
    if ENVELOPE not in there:
        for key in keys:
            findings.add("signature", ENVELOPE, "is missing", f"a signature by {key_identity(key)}")
        return
    read = _read_envelope(run / ENVELOPE, findings)
    if read is None:
        return
    body, signatures = read
    _check_statement(run, body, digests, findings)
    wanted = {key_identity(key): key for key in keys}
    for name in wanted.keys() - signatures.keys():
        findings.add("signature", ENVELOPE, "is not signed by that key", name, ", ".join(signatures) or "no signature")
    for name, signature in signatures.items():
        if name not in wanted:
            notes.append(f"signature by {name} not checked: its public key was not given with --key")
        elif not _valid(wanted[name], signature, body):
            findings.add("signature", ENVELOPE, f"the signature by {name} does not check")


def _read_envelope(path: Location, findings: Findings) -> tuple[bytes, dict[str, bytes]] | None:
    """The statement's bytes and key identity -> signature."""
    try:
        text = path.read_bytes().decode("utf-8")
        envelope = json.loads(text)
        body = base64.b64decode(envelope["payload"], validate=True)
        signatures = {one["keyid"]: base64.b64decode(one["sig"], validate=True) for one in envelope["signatures"]}
        again = {
            "payloadType": PAYLOAD,
            "payload": base64.b64encode(body).decode(),
            "signatures": [
                {"keyid": name, "sig": base64.b64encode(signature).decode()} for name, signature in signatures.items()
            ],
        }
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error) as problem:
        findings.add("signature", ENVELOPE, f"is no DSSE envelope: {problem}")
        return None
    if pretty_text(again) != text:
        findings.add("signature", ENVELOPE, "is not the text that its values make")
    return body, signatures


def _check_statement(run: Location, body: bytes, digests: dict[str, str], findings: Findings) -> None:
    """Whether the statement is about the files that are there."""
    try:
        said = json.loads(body)
        subjects = {one["name"]: one["digest"]["sha256"] for one in said["subject"]}
        kind = (said["_type"], said["predicateType"])
        identity = said["predicate"]["identity"]
    except (ValueError, KeyError, TypeError) as problem:
        findings.add("signature", ENVELOPE, f"what is signed is no statement about files: {problem}")
        return
    findings.differ("signature", ENVELOPE, "types of the statement", (STATEMENT, PREDICATE), kind)
    there = {**digests, SUMS: file_digest(run / SUMS)} if (run / SUMS).is_file() else digests
    for name in sorted(subjects.keys() | there.keys()):
        findings.differ("signature", ENVELOPE, f"SHA-256 of {name}, as signed, and of the file",
                        subjects.get(name, "nothing"), there.get(name, "nothing"))  # fmt: skip
    try:
        mine = pretty_text(statement(run)).encode()
    except (ConfigError, OSError, KeyError, ValueError, TypeError):
        return  # found with the manifest and the certificates
    if mine != body and subjects == there:
        findings.add("signature", ENVELOPE, f"what is signed of the run {identity} is not what the run says")


def _valid(key: Ed25519PublicKey, signature: bytes, body: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, encode(body))
    except InvalidSignature:
        return False
    return True
