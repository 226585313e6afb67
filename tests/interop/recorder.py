"""A backend that records: OTLP over gRPC and HTTP, protobuf and JSON, with and without gzip.

Everything is kept as the official package's messages, so that requests of different encodings compare.
"""

import base64
import gzip
import json
import threading
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

REQUEST = {
    "traces": trace_service_pb2.ExportTraceServiceRequest,
    "metrics": metrics_service_pb2.ExportMetricsServiceRequest,
    "logs": logs_service_pb2.ExportLogsServiceRequest,
}
REPLY = {
    "traces": trace_service_pb2.ExportTraceServiceResponse,
    "metrics": metrics_service_pb2.ExportMetricsServiceResponse,
    "logs": logs_service_pb2.ExportLogsServiceResponse,
}
METHODS = {
    "/opentelemetry.proto.collector.trace.v1.TraceService/Export": "traces",
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export": "metrics",
    "/opentelemetry.proto.collector.logs.v1.LogsService/Export": "logs",
}
HEX_FIELDS = {"traceId", "spanId", "parentSpanId"}

# `raw` is the body as it came, after decompression. grpcio hides a message's compression: None.
Recorded = namedtuple("Recorded", "signal message raw protocol encoding compression")


def from_json(signal, text):
    """OTLP JSON -> message. Its ids are hex, where protobuf's JSON mapping has base64."""
    return json_format.ParseDict(ids_to_base64(json.loads(text)), REQUEST[signal]())


def ids_to_base64(value):
    if isinstance(value, list):
        return [ids_to_base64(item) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {}
    for key, item in value.items():
        if key in HEX_FIELDS and isinstance(item, str):
            changed[key] = base64.b64encode(bytes.fromhex(item)).decode()
        else:
            changed[key] = ids_to_base64(item)
    return changed


def signal_of(message):
    """Which signal a message is of."""
    return next(signal for signal, kind in REQUEST.items() if isinstance(message, kind))


def case_of(message):
    """The `interop.case` in a request's resource; a request is of one case."""
    cases = set()
    for _, resources in message.ListFields():
        for entry in resources:
            found = [a.value.string_value for a in entry.resource.attributes if a.key == "interop.case"]
            cases.update(found or [None])
    (case,) = cases
    return case


class Recorder:
    """Listens on two ports, chosen by the system unless given."""

    def __init__(self, grpc_port=0, http_port=0):
        self.lock = threading.Lock()
        self.requests = []
        self.grpc = grpc.server(ThreadPoolExecutor(8), options=[("grpc.so_reuseport", 0)])
        self.grpc.add_generic_rpc_handlers((GrpcDoor(self),))
        self.grpc_port = self.grpc.add_insecure_port(f"127.0.0.1:{grpc_port}")
        self.http = ThreadingHTTPServer(("127.0.0.1", http_port), HttpDoor)
        self.http.recorder = self
        self.http_port = self.http.server_address[1]

    def __enter__(self):
        self.grpc.start()
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()
        self.grpc.stop(None).wait()

    def record(self, *fields):
        with self.lock:
            self.requests.append(Recorded(*fields))

    def of(self, case, signal):
        """The recorded requests of one case and signal, in their order."""
        with self.lock:
            mine = [r for r in self.requests if r.signal == signal]
        return [r for r in mine if case_of(r.message) == case]


class GrpcDoor(grpc.GenericRpcHandler):
    def __init__(self, recorder):
        self.recorder = recorder

    def service(self, details):
        signal = METHODS.get(details.method)
        if signal is None:
            return None

        def export(raw, _context):
            self.recorder.record(signal, REQUEST[signal].FromString(raw), raw, "grpc", "protobuf", None)
            return REPLY[signal]()

        return grpc.unary_unary_rpc_method_handler(export, None, REPLY[signal].SerializeToString)


class HttpDoor(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        raw = self.body()
        signal = self.path.rsplit("/", 1)[-1]
        compression = self.headers.get("content-encoding", "none")
        if compression == "gzip":
            raw = gzip.decompress(raw)
        as_json = self.headers["content-type"].startswith("application/json")
        message = from_json(signal, raw) if as_json else REQUEST[signal].FromString(raw)
        encoding = "json" if as_json else "protobuf"
        self.server.recorder.record(signal, message, raw, "http", encoding, compression)
        self.reply(b"{}" if as_json else REPLY[signal]().SerializeToString())

    def body(self):
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(pieces)

    def reply(self, body):
        self.send_response(200)
        self.send_header("content-type", self.headers["content-type"])
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
