"""The programs under test: Blackbar and the Collector, started, awaited until they answer, and stopped."""

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

STARTS_WITHIN = 20.0
STOPS_WITHIN = 40.0


def free_ports(count):
    """Ports that nothing listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


@contextlib.contextmanager
def running(command, log, env=None):
    """Runs a program with its output in `log`; ends it with SIGTERM, and demands a clean exit."""
    with open(log, "wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=env)
    try:
        yield process
        process.send_signal(signal.SIGTERM)
        code = process.wait(STOPS_WITHIN)
        assert code == 0, f"{command[0]} ended with {code}:\n{log.read_text()}"
    finally:
        process.kill()
        process.wait()


def await_until(what, process, log, ask):
    """Asks until the answer is yes; the program must stay alive meanwhile."""
    end = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < end:
        if process.poll() is not None:
            raise AssertionError(f"{what} ended with {process.returncode}:\n{log.read_text()}")
        if ask():
            return
        time.sleep(0.05)
    raise AssertionError(f"{what} did not start:\n{log.read_text()}")


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:
            return reply.status == 200
    except (urllib.error.URLError, OSError):
        return False


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


class Blackbar:
    """One running proxy in front of one backend."""

    def __init__(self, name, exporter, binary, scratch, variables=None):
        """`exporter` is YAML of the `exporters` section; without it, `variables` name the backend."""
        self.name, self.exporter, self.binary = name, exporter, binary
        self.variables = variables or {}
        self.grpc_port, self.http_port, self.admin_port = free_ports(3)
        safe = name.replace("/", "_").replace(" ", "_")
        self.log, self.file = scratch / f"{safe}.log", scratch / f"{safe}.yaml"

    @contextlib.contextmanager
    def run(self):
        # Only the test's own variables: an exporter variable of the machine's must not count.
        env = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "BLACKBAR"))}
        command = [self.binary, "run"]
        if self.exporter is None:
            protocols = "BLACKBAR__RECEIVERS__OTLP__PROTOCOLS"
            env |= self.variables
            env[f"{protocols}__GRPC__ENDPOINT"] = f"127.0.0.1:{self.grpc_port}"
            env[f"{protocols}__HTTP__ENDPOINT"] = f"127.0.0.1:{self.http_port}"
            env["BLACKBAR__EXTENSIONS__HEALTH_CHECK__ENDPOINT"] = f"127.0.0.1:{self.admin_port}"
        else:
            self.file.write_text(self.configuration())
            command += ["--config", str(self.file)]
        with running(command, self.log, env) as process:
            await_until(self.name, process, self.log, lambda: answers(self.admin("/readyz")))
            yield self

    def configuration(self):
        exporter = self.exporter.split(":", 1)[0].strip()
        pipelines = "".join(
            f"\n    {signal}: {{ receivers: [otlp], processors: [scrub], exporters: [{exporter}] }}"
            for signal in ("traces", "metrics", "logs")
        )
        return f"""
receivers:
  otlp:
    protocols:
      grpc: {{ endpoint: "127.0.0.1:{self.grpc_port}" }}
      http: {{ endpoint: "127.0.0.1:{self.http_port}" }}
processors:
  scrub: {{}}
exporters:
  {self.exporter}
extensions:
  health_check: {{ endpoint: "127.0.0.1:{self.admin_port}" }}
service:
  extensions: [health_check]
  pipelines:{pipelines}
"""

    def admin(self, path):
        return f"http://127.0.0.1:{self.admin_port}{path}"


class Collector:
    """The OpenTelemetry Collector of `collector/`, appending what it gets to a file."""

    def __init__(self, binary, scratch):
        self.binary, self.lines, self.log = binary, scratch / "collector.jsonl", scratch / "collector.log"
        self.file = scratch / "collector.yaml"
        self.grpc_port, self.http_port = free_ports(2)

    @contextlib.contextmanager
    def run(self):
        self.file.write_text(f"""
receivers:
  otlp:
    protocols:
      grpc: {{ endpoint: "127.0.0.1:{self.grpc_port}" }}
      http: {{ endpoint: "127.0.0.1:{self.http_port}" }}
exporters:
  debug: {{ verbosity: basic }}
  lines: {{ path: "{self.lines}" }}
service:
  telemetry: {{ metrics: {{ level: none }} }}
  pipelines:
    traces: {{ receivers: [otlp], exporters: [debug, lines] }}
    metrics: {{ receivers: [otlp], exporters: [debug, lines] }}
    logs: {{ receivers: [otlp], exporters: [debug, lines] }}
""")
        with running([self.binary, "--config", str(self.file)], self.log) as process:
            ports = (self.grpc_port, self.http_port)
            await_until("collector", process, self.log, lambda: all(listens(port) for port in ports))
            yield self
