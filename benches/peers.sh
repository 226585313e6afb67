#!/usr/bin/env bash
# Blackbar beside Kingfisher: CPU seconds and findings on the same text.
#
#   benches/peers.sh DIR [LABELLED.jsonl...]
#
# DIR holds text, for example what tests/precision/gather.sh gathers. Its files are joined to files of 1 MB first, so that opening files is
# not what is measured, and start-up is subtracted. Of each labelled file (see `blackbar rules test --help`): how many positives
# Kingfisher flags at all, which is kinder than "wholly gone", and what Blackbar removes.
#
# Installs kingfisher-bin from PyPI in a folder of its own, unless KINGFISHER names a binary. Needs a release build; BLACKBAR names another.
set -euo pipefail
here=$(realpath "$(dirname "$0")/..")
dir=${1:?usage: benches/peers.sh DIR [LABELLED.jsonl...]}
shift
blackbar=${BLACKBAR:-$here/target/release/blackbar}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

kingfisher=${KINGFISHER:-}
if [[ -z $kingfisher ]]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install -q kingfisher-bin
    kingfisher=$work/venv/bin/kingfisher
fi

mkdir "$work/text" "$work/empty"
find "$dir" -type f -print0 | sort -z | xargs -0 cat | split -b 1M -a 4 --additional-suffix .txt - "$work/text/"
: >"$work/empty/a.txt"
bytes=$(cat "$work"/text/* | wc -c)
echo "$(nproc) processors, $("$blackbar" --version), $("$kingfisher" --version), $bytes bytes"

# CPU seconds, user and system, of a command.
cpu() {
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

ours() { "$blackbar" scrub --format text --quiet "$1"/*; }
theirs() { "$kingfisher" scan --no-validate --git-history none --no-update-check --jobs 1 "${options[@]}" "$1" || true; }

# NAME COMMAND: the best of three runs, less the best of three on an empty file.
measure() {
    local name=$1 command=$2 start total
    start=$(for _ in 1 2 3; do cpu "$command" "$work/empty"; done | sort -g | head -1)
    total=$(for _ in 1 2 3; do cpu "$command" "$work/text"; done | sort -g | head -1)
    awk -v name="$name" -v s="$start" -v t="$total" -v b="$bytes" \
        'BEGIN { printf "%-24s %7.2f CPU s less %.2f at the start: %.0f MiB per CPU second\n", name, t, s, b / 1048576 / (t - s) }'
}

options=()
measure blackbar ours
measure kingfisher theirs
options=(--no-base64)
measure 'kingfisher, no base64' theirs
options=(--turbo)
measure 'kingfisher, turbo' theirs
options=(--no-dedup --format jsonl)
printf 'kingfisher on this text: %s findings\n' "$(theirs "$work/text" 2>/dev/null | grep -c '"snippet"')"

for labelled in "$@"; do
    rm -rf "$work/rows"
    mkdir "$work/rows"
    python3 - "$labelled" "$work/rows" <<'PYTHON'
import json, sys
for number, line in enumerate(open(sys.argv[1])):
    row = json.loads(line)
    kind = "positive" if row["positive"] else "negative"
    open(f"{sys.argv[2]}/{kind}-{number}.txt", "w").write(row["text"])
PYTHON
    flagged=$(theirs "$work/rows" 2>/dev/null | grep -o '"path":"[^"]*"' | sort -u)
    of() { find "$work/rows" -name "$1-*" | wc -l; }
    printf '%s: kingfisher flags %s of %s, and %s of %s negatives; blackbar: %s\n' "$(basename "$labelled")" \
        "$(grep -c /positive- <<<"$flagged" || true)" "$(of positive)" "$(grep -c /negative- <<<"$flagged" || true)" "$(of negative)" \
        "$("$blackbar" rules test "$labelled" | grep '^found')"
done
