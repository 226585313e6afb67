"""The interop tests: official SDKs -> Blackbar -> a recording backend, and the official Collector.

Each SDK sends every batch twice, directly to a recorder and through Blackbar. What arrives through Blackbar must be
what arrived directly, with the planted secrets replaced and nothing else changed: compared message by message.

Usage: check.py BLACKBAR COLLECTOR JS_FOLDER SCRATCH
"""

import contextlib
import json
import subprocess
import sys
import threading
import urllib.request
from collections import Counter
from pathlib import Path

from google.protobuf.descriptor import FieldDescriptor
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import planted
from processes import Blackbar, Collector, free_ports
from recorder import REQUEST, Recorder, case_of, from_json

HERE = Path(__file__).parent
PROTOCOLS = ("grpc", "http/protobuf", "http/json")
COMPRESSIONS = ("none", "gzip")
SIGNALS = tuple(REQUEST)
FIRST_KEY = {"resourceSpans": "traces", "resourceMetrics": "metrics", "resourceLogs": "logs"}
TEXT = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)


class Problems(list):
    """What went wrong; a test goes on, to report everything at once."""

    def check(self, good, text):
        if not good:
            self.append(text)


def scrub(message):
    """A copy of a message with the planted secrets replaced, in every text of it."""
    copy = type(message).FromString(message.SerializeToString())
    scrub_fields(copy)
    return copy


def scrub_fields(message):
    for field, value in message.ListFields():
        many = hasattr(value, "append")
        if field.message_type is not None:
            for item in value if many else [value]:
                scrub_fields(item)
        elif field.type in TEXT and many:
            value[:] = [scrubbed(item) for item in value]
        elif field.type in TEXT:
            setattr(message, field.name, scrubbed(value))


def scrubbed(value):
    if isinstance(value, str):
        return planted.scrubbed(value)
    # Bytes that are text are scrubbed as text.
    with contextlib.suppress(UnicodeDecodeError):
        return planted.scrubbed(value.decode()).encode()
    return value


def secrets_in(data):
    return [secret for secret in planted.SECRETS if secret.encode() in data]


def leaks(message):
    """Planted secrets in an encoded message."""
    return secrets_in(message.SerializeToString())


def run_sdk(command, plan):
    done = subprocess.run(command, input=json.dumps(plan).encode(), capture_output=True, timeout=300, check=False)
    return done.returncode, done.stderr.decode()


def plan_of(sdk, direct, blackbars):
    """Every protocol and compression to every Blackbar; by gRPC also to the port that is named for HTTP."""
    cases = []
    for blackbar in blackbars:
        for protocol in PROTOCOLS:
            for compression in COMPRESSIONS:
                own = (direct.grpc_port, blackbar.grpc_port)
                if protocol != "grpc":
                    own = (direct.http_port, blackbar.http_port)
                cases.append(case(sdk, blackbar, protocol, compression, *own))
    crossed = blackbars[0]
    cases.append(case(sdk, crossed, "grpc", "gzip", direct.grpc_port, crossed.http_port, " to the HTTP port"))
    cases.append(case(sdk, crossed, "http/json", "none", direct.http_port, crossed.grpc_port, " to the gRPC port"))
    return {"cases": cases, "texts": planted.texts()}


def case(sdk, blackbar, protocol, compression, direct, proxied, note=""):
    name = f"{sdk} {protocol} {compression}{note} -> {blackbar.name}"
    ports = {"direct": f"http://127.0.0.1:{direct}", "proxied": f"http://127.0.0.1:{proxied}"}
    return {"name": name, "protocol": protocol, "compression": compression, **ports}


def compare(problems, name, sent, arrived):
    """Each arrived message is a sent one, scrubbed; order aside, none is missing, added or doubled."""
    expected = [scrub(message) for message in sent]
    problems.check(sent, f"{name}: nothing was sent directly")
    for message in arrived:
        problems.check(not leaks(message), f"{name}: LEAK of {leaks(message)} in {message}")
        if message in expected:
            expected.remove(message)
        else:
            problems.append(f"{name}: arrived, but was not sent so:\n{message}\nexpected one of:\n{expected}")
    problems.check(not expected, f"{name}: {len(expected)} of {len(sent)} messages did not arrive")


def check_plan(problems, plan, direct, arrived_of):
    """Compares every case and signal; and that the SDKs planted every secret at all, in every signal some."""
    planted_in = Counter()
    for test in plan["cases"]:
        for signal in SIGNALS:
            sent = [r.message for r in direct.of(test["name"], signal)]
            for message in sent:
                found = leaks(message)
                planted_in.update({secret: 1 for secret in found})
                planted_in[signal] += len(found)
            compare(problems, f"{test['name']}, {signal}", sent, arrived_of(test["name"], signal))
    for wanted in (*planted.SECRETS, *SIGNALS):
        problems.check(planted_in[wanted], f"nothing planted: {wanted}")


def check_transport(problems, plan, direct, backend):
    """Each SDK spoke as it was told to, and Blackbar spoke to its backend as its configuration says."""
    spoken = {"grpc": ("grpc", "protobuf"), "http/protobuf": ("http", "protobuf"), "http/json": ("http", "json")}
    for test in plan["cases"]:
        exporter, compression, *_ = test["name"].split(" -> ")[1].split()
        told = ((direct, test["protocol"], test["compression"]), (backend, exporter, compression))
        for recorder, protocol, compression in told:
            for signal in SIGNALS:
                for r in recorder.of(test["name"], signal):
                    good = (r.protocol, r.encoding) == spoken[protocol] and r.compression in (compression, None)
                    problems.check(good, f"{test['name']}: {protocol} {compression} was {r[3:]}")


def check_metrics(problems, blackbar, plan, direct):
    """Our own metrics, read by the official Prometheus parser, tell what passed."""
    with urllib.request.urlopen(blackbar.admin("/metrics"), timeout=5) as reply:
        kind, page = reply.headers["content-type"], reply.read().decode()
    problems.check(kind.startswith("application/openmetrics-text"), f"content type {kind}")
    values = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }
    mine = [test for test in plan["cases"] if test["name"].endswith(f"-> {blackbar.name}")]
    for signal in SIGNALS:
        for protocol in ("grpc", "http"):
            labels = (("outcome", "accepted"), ("protocol", protocol), ("signal", signal))
            sent = sum(len(direct.of(test["name"], signal)) for test in mine if test["protocol"].startswith(protocol))
            got = values.get(("blackbar_requests_total", labels), 0)
            problems.check(got == sent, f"{blackbar.name}: {got} requests of {labels}, not {sent}")
        kinds = {dict(labels)["kind"] for name, labels in values
                 if name == "blackbar_redactions_total" and dict(labels)["signal"] == signal}
        problems.check("github-token" in kinds, f"{blackbar.name}: counted {kinds} in {signal}")
    problems.check(values.get(("blackbar_canary_failures_total", ())) == 0, f"{blackbar.name}: canary failed")
    problems.check(not secrets_in(page.encode()), f"{blackbar.name}: a secret in /metrics")


def collected(lines):
    """(case, signal) -> messages that the Collector wrote."""
    by_case = {}
    for line in lines.read_text().splitlines():
        signal = FIRST_KEY[next(iter(json.loads(line)))]
        message = from_json(signal, line)
        by_case.setdefault((case_of(message), signal), []).append(message)
    return by_case


def remote(kind, backend, options=""):
    port = backend.grpc_port if kind == "otlp_grpc" else backend.http_port
    tls = ", tls: { insecure: true }" if kind == "otlp_grpc" else ""
    return f'{kind}: {{ endpoint: "http://127.0.0.1:{port}"{tls}{options} }}'


def matrix(problems, binary, collector_binary, sdks, scratch):
    """SDKs x protocols x compressions x ways to a backend."""
    with contextlib.ExitStack() as stack:
        direct, backend = (stack.enter_context(Recorder()) for _ in range(2))
        collector = stack.enter_context(Collector(collector_binary, scratch).run())
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{backend.http_port}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
        }
        blackbars = [
            Blackbar("grpc none to recorder", remote("otlp_grpc", backend, ", compression: none"), binary, scratch),
            Blackbar("http/json none to recorder",
                     remote("otlp_http", backend, ", encoding: json, compression: none"), binary, scratch),
            Blackbar("http/protobuf gzip to recorder", None, binary, scratch, variables),
            Blackbar("grpc gzip to collector", remote("otlp_grpc", collector, ", compression: gzip"), binary, scratch),
            Blackbar("http/protobuf none to collector",
                     remote("otlp_http", collector, ", compression: none"), binary, scratch),
            Blackbar("http/json gzip to collector",
                     remote("otlp_http", collector, ", encoding: json, compression: gzip"), binary, scratch),
        ]
        for blackbar in blackbars:
            stack.enter_context(blackbar.run())
        for sdk, command in sdks.items():
            plan = plan_of(sdk, direct, blackbars)
            code, errors = run_sdk(command, plan)
            problems.check(code == 0, f"{sdk} ended with {code}: {errors}")
            got = collected(collector.lines)

            def arrived(name, signal, got=got):
                if name.endswith("collector"):
                    return got.get((name, signal), [])
                return [r.message for r in backend.of(name, signal)]

            check_plan(problems, plan, direct, arrived)
            check_transport(problems, plan, direct, backend)
            print(f"{sdk}: {len(plan['cases'])} cases x {len(SIGNALS)} signals compared", flush=True)
        plan = {"cases": [test for sdk in sdks for test in plan_of(sdk, direct, blackbars)["cases"]]}
        for blackbar in blackbars:
            check_metrics(problems, blackbar, plan, direct)
    for blackbar in blackbars:
        problems.check(not secrets_in(blackbar.log.read_bytes()), f"{blackbar.name}: a secret in its log")


def late_backend(problems, binary, command, scratch):
    """Blackbar is up before its backend: the SDK is told to retry, and everything arrives, once."""
    grpc_port, http_port = free_ports(2)
    blackbar = Blackbar("grpc none to late recorder", None, binary, scratch, {
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{grpc_port}",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
    })
    with Recorder() as direct, blackbar.run():
        name = f"late grpc none -> {blackbar.name}"
        test = case("late", blackbar, "grpc", "none", direct.grpc_port, blackbar.grpc_port)
        result = {}
        sdk = threading.Thread(target=lambda: result.update(zip(
            ("code", "errors"), run_sdk(command, {"cases": [test], "texts": planted.texts()}), strict=True)))
        sdk.start()
        # The direct copy of a batch goes first: once it is here, the proxied one is on its way or refused already.
        while sdk.is_alive() and not direct.of(name, "traces"):
            sdk.join(0.05)
        sdk.join(1.0)
        with Recorder(grpc_port, http_port) as backend:
            sdk.join(120)
            problems.check(result.get("code") == 0, f"late backend: {result}")
            for signal in SIGNALS:
                sent, arrived = ([r.message for r in rec.of(name, signal)] for rec in (direct, backend))
                compare(problems, f"late backend, {signal}", sent, arrived)
    print("late backend: compared", flush=True)


def main():
    binary, collector, js, scratch = sys.argv[1:]
    scratch = Path(scratch)
    sdks = {
        "python": [sys.executable, str(HERE / "python_sdk.py")],
        "javascript": ["node", str(Path(js) / "emit.mjs")],
    }
    problems = Problems()
    matrix(problems, binary, collector, sdks, scratch)
    late_backend(problems, binary, sdks["python"], scratch)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"interop: {len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
