"""Certificates of a cluster that talks TLS, and the two ways to name them."""

from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def _signed(name, key, issuer, issuer_key, authority=False):
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def make_pem(folder):
    """Option -> file: an authority, and a certificate with its key that all sides share."""
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    authority, member = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("ca", "member"))
    files = {
        "ca": _signed(authority, keys[0], authority, keys[0], authority=True),
        "cert": _signed(member, keys[1], authority, keys[0]),
        "key": keys[1].private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.pem").write_bytes(content)
    return {name: folder / f"{name}.pem" for name in files}


def tls_options(pem):
    """Options of a command."""
    return tuple(word for name, file in pem.items() for word in (f"--tls-{name}", file))


def tls_settings(pem, *roles):
    """Dask's configuration as environment variables, for the roles `client`, `scheduler` and `worker`."""
    names = {"CA_FILE": pem["ca"]}
    for role in roles or ("client",):
        names |= {f"{role.upper()}__{what.upper()}": pem[what] for what in ("cert", "key")}
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(file) for name, file in names.items()}
