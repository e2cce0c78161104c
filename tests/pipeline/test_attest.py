"""Signatures: checked by OpenSSL alone, by several keys, and found wrong at any flipped byte."""

import base64
import hashlib
import json
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.attest import ENVELOPE, PAYLOAD, encode
from pipeline.verify import verify
from tests.pipeline import sealing

pytest.importorskip("cryptography")


def key(folder, name):
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.generate()
    none = s.NoEncryption()
    (folder / f"{name}.pem").write_bytes(private.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, none))
    public = private.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
    (folder / f"{name}.pub").write_bytes(public)
    secret = s.BestAvailableEncryption(b"word")
    (folder / f"{name}.locked").write_bytes(private.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, secret))


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    for name in ("studio", "lab", "other"):
        key(folder, name)
    (folder / "word").write_text("word\n")
    return folder


@pytest.fixture
def signed(whole, keys, command, tmp_path):
    run = sealing.copy(whole, tmp_path)
    for name in ("studio", "lab"):
        assert command("sign", run, "--private-key", keys / f"{name}.pem").returncode == 0
    return run


def test_two_signatures(signed, keys, command):
    assert verify(signed, keys=[keys / "studio.pub", keys / "lab.pub"]).sound
    assert len(json.loads((signed / ENVELOPE).read_text())["signatures"]) == 2
    result = verify(signed)
    assert result.sound
    assert len([note for note in result.notes if "not checked" in note]) == 2
    assert command("verify", signed, "--key", keys / "studio.pub").returncode == 0
    done = command("verify", signed, "--key", keys / "other.pub", "--json")
    assert done.returncode == 1
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["kind"], finding["message"]) == ("signature", "is not signed by that key")


def test_signing_again_changes_nothing(signed, keys, command):
    before = (signed / ENVELOPE).read_bytes()
    assert (
        command("sign", signed, "--private-key", keys / "lab.locked", "--password-file", keys / "word").returncode == 0
    )
    assert (signed / ENVELOPE).read_bytes() == before


def test_no_private_key_is_written(signed, keys, command):
    secrets = [(keys / f"{name}.pem").read_text().splitlines()[1] for name in ("studio", "lab")]
    for path in signed.rglob("*"):
        if path.is_file():
            assert not any(secret.encode() in path.read_bytes() for secret in secrets)
    shutil.copyfile(keys / "studio.pem", signed / "studio.pem")
    assert command("sign", signed, "--private-key", signed / "studio.pem").returncode == 1  # an unexpected file


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_openssl_alone_checks_it(signed, keys, tmp_path):
    envelope = json.loads((signed / ENVELOPE).read_text())
    body = base64.b64decode(envelope["payload"])
    (tmp_path / "pae.bin").write_bytes(encode(body))
    (tmp_path / "sig.bin").write_bytes(base64.b64decode(envelope["signatures"][0]["sig"]))
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", keys / "studio.pub", "-rawin"]
    done = subprocess.run([*command, "-in", tmp_path / "pae.bin", "-sigfile", tmp_path / "sig.bin"], check=False)
    assert done.returncode == 0
    said = json.loads(body)
    digests = {one["name"]: one["digest"]["sha256"] for one in said["subject"]}
    assert digests["SHA256SUMS"] == hashlib.sha256((signed / "SHA256SUMS").read_bytes()).hexdigest()
    assert (said["_type"], envelope["payloadType"]) == ("https://in-toto.io/Statement/v1", PAYLOAD)


@pytest.fixture(scope="module")
def desk(whole, keys, tmp_path_factory):
    from pipeline.attest import sign

    run = sealing.copy(whole, tmp_path_factory.mktemp("desk"))
    for name in ("studio", "lab"):
        sign(run, keys / f"{name}.pem")
    return run, (run / ENVELOPE).read_bytes()


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_flipped_byte_is_found(data, desk, keys):
    run, content = desk
    at, bit = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(0, 7))
    changed = bytearray(content)
    changed[at] ^= 1 << bit
    (run / ENVELOPE).write_bytes(changed)
    assert verify(run, keys=[keys / "studio.pub", keys / "lab.pub"]).findings
    (run / ENVELOPE).write_bytes(content)


def test_a_changed_run_is_found_without_a_key(signed):
    manifest = sealing.read_manifest(signed)
    manifest["software"]["autohold"] = "9.9"
    sealing.write_manifest(signed, manifest)
    messages = [str(finding) for finding in verify(signed).findings if finding.kind == "signature"]
    assert any("SHA-256 of manifest.json, as signed, and of the file" in message for message in messages)


def test_what_is_not_sound_is_not_signed(whole, keys, command, tmp_path):
    run = sealing.copy(whole, tmp_path)
    (run / "_SUCCESS").unlink()
    done = command("sign", run, "--private-key", keys / "lab.pem")
    assert done.returncode == 1
    assert "not signed" in done.stdout
    assert not (run / ENVELOPE).exists()


@pytest.mark.parametrize("wrong", ["lab.pub", "lab.locked", "word"])
def test_files_that_are_no_private_key(whole, keys, command, wrong, tmp_path):
    run = sealing.copy(whole, tmp_path)
    assert command("sign", run, "--private-key", keys / wrong).returncode == 2
    assert not (run / ENVELOPE).exists()


def test_a_missing_envelope_and_a_stray_file(whole, keys, tmp_path):
    run = sealing.copy(whole, tmp_path)
    assert [f.kind for f in verify(run, keys=[keys / "lab.pub"]).findings] == ["signature"]
    (run / "attestations").mkdir()
    (run / "attestations/x").write_text("")
    assert [f.kind for f in verify(run).findings] == ["unexpected"]
