#!/usr/bin/env bash
# The image test: builds the image's last stage from a static binary, then runs what is in it.
#
#   BLACKBAR=target/x86_64-unknown-linux-gnu/release/blackbar tests/image/run.sh
#
# Needs root, buildah, curl with HTTP/2 and python3. The image's root file system is mounted read-only and entered by
# chroot as its own user, since not every machine that builds can start containers.
set -euo pipefail
cd "$(dirname "$0")/../.."

binary=$(realpath "$BLACKBAR")
chroot=$(command -v chroot)
work=$(mktemp -d)
export BUILDAH_ISOLATION=chroot
run_buildah() { buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" "$@"; }

cleanup() {
    trap - EXIT
    [[ -z ${proxy:-} ]] || kill -KILL "$proxy" 2>/dev/null || true
    [[ -z ${backend:-} ]] || kill "$backend" 2>/dev/null || true
    ! mountpoint -q "$work/root" || umount "$work/root"
    [[ -z ${container:-} ]] || run_buildah rm "$container" >/dev/null
    rm -rf "$work"
}
trap cleanup EXIT

fail() {
    echo "image: $*" >&2
    exit 1
}

# --- build: the Dockerfile's own last stage, with the build stage's output laid out by hand
! ldd "$binary" 2>&1 | grep -q '=>' || fail "$binary is not static"
mkdir -p "$work/build/out" "$work/root"
install "$binary" "$work/build/out/blackbar"
install -m 0644 /etc/ssl/certs/ca-certificates.crt "$work/build/out/ca-certificates.crt"
sed -n '/^FROM scratch AS image$/,$p' Dockerfile >"$work/Dockerfile"
version=$("$binary" --version | awk '{ print $2 }')
run_buildah build --quiet --format docker --build-context "build=$work/build" --file "$work/Dockerfile" \
    --build-arg "VERSION=$version" --build-arg REVISION=test --tag blackbar:test . >/dev/null

# --- what a runtime reads
config() { run_buildah inspect --type image --format "{{$1}}" blackbar:test; }
expect() { [[ $(config "$1") == "$2" ]] || fail "$1 is $(config "$1"), not $2"; }
expect .Docker.Config.User 65532:65532
expect 'printf "%q" .Docker.Config.Healthcheck.Test' '["CMD" "/blackbar" "healthcheck"]'
expect 'printf "%q" .Docker.Config.Entrypoint' '["/blackbar"]'
expect 'printf "%q" .Docker.Config.Cmd' '["run" "--config" "/etc/blackbar/config.yaml"]'
expect 'index .Docker.Config.Labels "org.opencontainers.image.version"' "$version"
expect 'index .Docker.Config.Labels "org.opencontainers.image.licenses"' Apache-2.0
user=$(config .Docker.Config.User)

# --- what is in it: exactly these files, none of them writable by the image's user
container=$(run_buildah from blackbar:test)
mount --bind "$(run_buildah mount "$container")" "$work/root"
mount -o remount,bind,ro "$work/root"
files=$(cd "$work/root" && find . -type f | sort | tr '\n' ' ')
[[ $files == "./blackbar ./etc/blackbar/config.yaml ./etc/ssl/certs/ca-certificates.crt " ]] || fail "files: $files"
[[ -z $(find "$work/root" ! -uid 0 -o -perm /022 ! -type l) ]] || fail "files that others than root may write"

# Runs a command of the image as its user, with the given NAME=VALUE variables and no others. Call it in a subshell.
inside() {
    local variables=()
    while [[ ${1:-} == *=* ]]; do
        variables+=("$1")
        shift
    done
    exec env -i "${variables[@]}" "$chroot" --userspec="$user" --groups="${user#*:}" "$work/root" "$@"
}

# --- it says what is missing, and is not healthy while it is down
code=0
(inside /blackbar run --config /etc/blackbar/config.yaml) 2>"$work/missing.log" || code=$?
[[ $code == 78 ]] || fail "without a backend it ended with $code"
grep -q OTEL_EXPORTER_OTLP_ENDPOINT "$work/missing.log" || fail "the missing variable is not named"
code=0
(inside /blackbar healthcheck) 2>/dev/null || code=$?
[[ $code == 1 ]] || fail "healthcheck of nothing ended with $code"

# --- the main job, with the image's own command
python3 tests/image/exchange.py backend "$work" &
backend=$!
until [[ -s $work/port ]]; do
    kill -0 "$backend" || fail "the backend did not start"
    sleep 0.1
done
(inside "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:$(<"$work/port")" BLACKBAR_EXPORTER=otlp_http \
    /blackbar run --config /etc/blackbar/config.yaml) 2>"$work/log" &
proxy=$!
for _ in {1..100}; do
    (inside /blackbar healthcheck) >/dev/null 2>&1 && break
    kill -0 "$proxy" || fail "it ended: $(<"$work/log")"
    sleep 0.1
done
(inside /blackbar healthcheck) >/dev/null || fail "healthcheck of a running proxy: $(<"$work/log")"
# Probes come from outside: the health endpoint, and only it, listens on all addresses.
listening=$(awk 'NR > 1 && $4 == "0A" { print $2 }' /proc/net/tcp)
grep -q "^00000000:$(printf %04X 13133)\$" <<<"$listening" || fail "the health endpoint is not on 0.0.0.0"
for port in 4317 4318; do
    grep -q "^0100007F:$(printf %04X "$port")\$" <<<"$listening" || fail "port $port is not on loopback"
done

python3 tests/image/exchange.py bodies "$work"
curl --silent --show-error --fail --output /dev/null --data-binary "@$work/trace.pb" \
    -H 'content-type: application/x-protobuf' http://127.0.0.1:4318/v1/traces
curl --silent --show-error --fail --output /dev/null --dump-header "$work/headers" --http2-prior-knowledge \
    --data-binary "@$work/trace.grpc" -H 'content-type: application/grpc' -H 'te: trailers' \
    http://127.0.0.1:4317/opentelemetry.proto.collector.trace.v1.TraceService/Export
grep -qi '^grpc-status: 0' "$work/headers" || fail "gRPC: $(<"$work/headers")"
python3 tests/image/exchange.py check "$work" 2
python3 tests/image/exchange.py clean "$work/log" || fail "the log holds the secret"

# --- and its end
kill -TERM "$proxy"
code=0
wait "$proxy" || code=$?
proxy=
[[ $code == 0 ]] || fail "after SIGTERM it ended with $code: $(<"$work/log")"
echo "image: $version built, inspected, and run read-only as $user: ok"
