"""The client's and the backend's side of the image test, with nothing but the standard library.

  exchange.py bodies FOLDER        writes a trace with a fake secret, as protobuf and as a gRPC message
  exchange.py backend FOLDER       records what arrives by OTLP/HTTP in FOLDER; its port is in FOLDER/port
  exchange.py check FOLDER COUNT   COUNT requests arrived, each the trace without its secret and otherwise the same
  exchange.py clean FILE           the file does not hold the secret
"""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

SECRET = "gh" + "p_" + "A1b2C3d4E5f6" * 3
MARKER = "[REDACTED:github-token]"


def field(number, content):
    """One length-delimited protobuf field."""
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def trace(text):
    """An ExportTraceServiceRequest with one span: ids, a name, and `text` in an attribute."""
    attributes = field(9, field(1, "tool.output") + field(2, field(1, f"token: {text}")))
    attributes += field(9, field(1, "message") + field(2, field(1, "Retrieved 42 rows from table customers")))
    span = field(1, bytes(range(16))) + field(2, bytes(range(8))) + field(5, "tool call") + attributes
    return field(1, field(2, field(2, span)))


def bodies(folder):
    body = trace(SECRET)
    (folder / "trace.pb").write_bytes(body)
    (folder / "trace.grpc").write_bytes(b"\0" + len(body).to_bytes(4, "big") + body)


class Recorder(BaseHTTPRequestHandler):
    count = 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        Recorder.count += 1
        # Named last, so that a file that is there is whole.
        part = self.server.folder / f"arrived-{Recorder.count}.part"
        part.write_bytes(body)
        part.rename(part.with_suffix(".pb"))
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def backend(folder):
    server = HTTPServer(("127.0.0.1", 0), Recorder)
    server.folder = folder
    (folder / "port").write_text(str(server.server_address[1]))
    server.serve_forever()


def check(folder, count):
    arrived = [path.read_bytes() for path in sorted(folder.glob("arrived-*.pb"))]
    assert len(arrived) == int(count), f"{len(arrived)} requests arrived"
    for body in arrived:
        assert SECRET.encode() not in body, "the secret came out"
        assert body == trace(MARKER), f"something else changed: {body!r}"


def clean(file):
    assert SECRET.encode() not in file.read_bytes()


if __name__ == "__main__":
    command, path, *rest = sys.argv[1:]
    {"bodies": bodies, "backend": backend, "check": check, "clean": clean}[command](Path(path), *rest)
