"""Picks the text files out of what gather.sh downloaded: DIR/text/SOURCE/PACKAGE/PATH.

A file counts as text if it is UTF-8 without NUL. Of each package at most PER_PACKAGE bytes are taken, spread over its files, so that no
package decides the figure; of a file at most 1 MB; a file that was seen before is left out.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

PER_PACKAGE = 1_500_000
PER_FILE = 1_000_000
# Compiled, packed or pictures: never text.
SKIP = {".so", ".pyc", ".gz", ".png", ".jpg", ".gif", ".woff", ".woff2", ".ttf", ".wasm", ".zip", ".bz2", ".xz", ".whl", ".jar"}

Files = Iterator[tuple[str, bytes]]


def of_directory(path: Path) -> Files:
    for file in sorted(path.rglob("*")):
        if file.is_file() and not file.is_symlink() and file.suffix not in SKIP:
            yield str(file.relative_to(path)), file.read_bytes()


def of_zip(path: Path) -> Files:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if not entry.is_dir() and Path(entry.filename).suffix not in SKIP:
                yield entry.filename, archive.read(entry)


def of_tar(path: Path) -> Files:
    with tarfile.open(path) as archive:
        for entry in archive:
            if entry.isfile() and Path(entry.name).suffix not in SKIP and (file := archive.extractfile(entry)):
                yield entry.name, file.read()


def of_deb(path: Path) -> Files:
    with tempfile.TemporaryDirectory() as unpacked:
        subprocess.run(["dpkg", "-x", path, unpacked], check=True)
        # Documents lie there packed.
        for file in Path(unpacked).rglob("*.gz"):
            if file.is_file() and not file.is_symlink():
                subprocess.run(["gunzip", "-fq", file], check=False)
        yield from of_directory(Path(unpacked))


def packages(root: Path, crates: Path) -> Iterator[tuple[str, str, Files]]:
    for path in sorted((root / "wheels").glob("*.whl")):
        yield "pypi", path.name.split("-")[0], of_zip(path)
    for path in sorted((root / "sdists").iterdir()):
        yield "pypi-sdist", path.name.removesuffix(".tar.gz"), of_zip(path) if path.suffix == ".zip" else of_tar(path)
    for path in sorted((root / "npm").glob("*.tgz")):
        yield "npm", path.stem, of_tar(path)
    yield "npm", "locks", of_directory(root / "npm" / "locks")
    for path in sorted((root / "go").rglob("cache/download/**/*.zip")):
        name = "_".join(path.relative_to(root / "go").parts[3:])
        yield "go", name.removesuffix(".zip"), of_zip(path)
    for path in sorted((root / "maven").glob("*.jar")):
        yield "maven", path.stem, of_zip(path)
    for path in sorted((root / "deb").glob("*.deb")):
        yield "debian", path.name.split("_")[0], of_deb(path)
    for path in sorted(crates.glob("*/*")):
        if path.is_dir():
            yield "crates", path.name, of_directory(path)
    yield "logs", "logs", of_directory(root / "logs")


def text_of(data: bytes) -> bytes | None:
    if not data or b"\0" in data:
        return None
    try:
        data.decode()
    except UnicodeDecodeError:
        return None
    # Cut at the end of a character.
    return data[:PER_FILE].decode(errors="ignore").encode()


def main() -> None:
    root, crates = Path(sys.argv[1]), Path(sys.argv[2])
    out = root / "text"
    shutil.rmtree(out, ignore_errors=True)
    seen: set[bytes] = set()
    total = 0
    for source, package, files in packages(root, crates):
        picked = []
        for name, data in files:
            text = text_of(data)
            digest = hashlib.sha256(data).digest()
            if text is not None and digest not in seen:
                seen.add(digest)
                picked.append((name, text))
        # Of a large package every n-th file.
        step = max(1, -(-sum(len(text) for _, text in picked) // PER_PACKAGE))
        taken = 0
        for name, text in picked[::step]:
            if taken + len(text) > PER_PACKAGE * 3 // 2:
                continue
            path = out / source / package / os.path.normpath("/" + name)[1:]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
            taken += len(text)
        total += taken
        print(f"{taken:9} {source}/{package}", flush=True)
    print(f"{total / 1e6:.0f} MB of text in {out}")


if __name__ == "__main__":
    main()
