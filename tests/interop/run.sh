#!/usr/bin/env bash
# The interop tests: official SDKs and the official Collector around a Blackbar binary, and proto/ against an SDK.
#
#   BLACKBAR=target/debug/blackbar tests/interop/run.sh
#
# Needs python3 with venv, npm, node and go. Installs what is pinned here into target/interop; nothing into the tree.
set -euo pipefail
cd "$(dirname "$0")/../.."

here=tests/interop
work=target/interop
binary=$(realpath "${BLACKBAR:-target/debug/blackbar}")
mkdir -p "$work"

# Runs an install command unless what it depends on is what it was the last time.
once() {
    local name=$1 sum
    shift
    sum=$(cat "$here"/requirements.txt "$here"/js/* "$here"/collector/* | sha256sum)
    if [[ ! -f $work/$name.done || $(<"$work/$name.done") != "$sum" ]]; then
        "$@"
        echo "$sum" >"$work/$name.done"
    fi
}

install_python() {
    rm -rf "$work/venv"
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
}

install_js() {
    rm -rf "$work/js"
    cp -r "$here/js" "$work/js"
    (cd "$work/js" && npm ci --ignore-scripts --no-audit --no-fund --silent)
}

build_collector() {
    (cd "$here/collector" && go build -trimpath -o "$OLDPWD/$work/collector" .)
}

once python install_python
once js install_js
once collector build_collector

"$work/venv/bin/python" "$here/proto_check.py"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$work/venv/bin/python" "$here/check.py" "$binary" "$(realpath "$work/collector")" "$work/js" "$scratch"
