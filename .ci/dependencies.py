"""Holds the locked dependencies to deny.toml: each under an allowed licence, each from crates.io.

Reads `cargo metadata --format-version 1 --locked` from standard input.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
TOKEN = re.compile(r"\(|\)|[A-Za-z0-9.+-]+(?: WITH [A-Za-z0-9.+-]+)?")


def allowed(expression, licences):
    """Whether an SPDX expression can be met by the allowed licences; AND binds tighter than OR."""
    tokens = TOKEN.findall(expression.replace("/", " OR "))

    def either():
        met = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            other = both()
            met = met or other
        return met

    def both():
        met = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            other = one()
            met = met and other
        return met

    def one():
        token = tokens.pop(0)
        if token != "(":
            return token in licences
        met = either()
        assert tokens.pop(0) == ")"
        return met

    met = either()
    assert not tokens, f"not an SPDX expression: {expression}"
    return met


def main():
    licences = tomllib.loads(Path("deny.toml").read_text())["licenses"]["allow"]
    packages = json.load(sys.stdin)["packages"]
    problems = []
    for package in packages:
        name = f"{package['name']} {package['version']}"
        if package["source"] not in (CRATES_IO, None):
            problems.append(f"{name} comes from {package['source']}")
        if not package["license"] or not allowed(package["license"], licences):
            problems.append(f"{name} has the licence {package['license']}")
    print("\n".join(problems) if problems else f"{len(packages)} packages: licences and sources are as in deny.toml")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
