"""Sends traces, metrics and logs with the official Python SDK: each batch twice, directly and through Blackbar.

Reads a plan from standard input: `texts` by name, and `cases` with `name`, `protocol` (`grpc`, `http/protobuf`,
`http/json`), `compression` (`none`, `gzip`) and the base URLs `direct` and `proxied`. Ends with 1 if any export failed.
"""

import json
import logging
import sys

import grpc
import opentelemetry.exporter.otlp.proto.http as proto_http
from opentelemetry._logs import SeverityNumber
from opentelemetry.exporter.otlp.common.http import Compression as JsonCompression
from opentelemetry.exporter.otlp.json.http._log_exporter import OTLPLogExporter as JsonLogs
from opentelemetry.exporter.otlp.json.http.metric_exporter import OTLPMetricExporter as JsonMetrics
from opentelemetry.exporter.otlp.json.http.trace_exporter import OTLPSpanExporter as JsonSpans
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogs
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcMetrics
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpans
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as ProtoLogs
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as ProtoMetrics
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as ProtoSpans
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, LogRecordExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricExporter, PeriodicExportingMetricReader
from opentelemetry.sdk.metrics.view import View
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Link, SpanKind, Status, StatusCode

NEVER = 10**9
PATHS = {"traces": "/v1/traces", "metrics": "/v1/metrics", "logs": "/v1/logs"}
EXPORTERS = {
    "grpc": (GrpcSpans, GrpcMetrics, GrpcLogs),
    "http/protobuf": (ProtoSpans, ProtoMetrics, ProtoLogs),
    "http/json": (JsonSpans, JsonMetrics, JsonLogs),
}
COMPRESSION = {
    "grpc": {"none": grpc.Compression.NoCompression, "gzip": grpc.Compression.Gzip},
    "http/protobuf": {"none": proto_http.Compression.NoCompression, "gzip": proto_http.Compression.Gzip},
    "http/json": {"none": JsonCompression.NONE, "gzip": JsonCompression.GZIP},
}

failures = []


class Both:
    """Exports each batch to two exporters, and remembers a failure."""

    def pair(self, case, signal, exporters):
        self.case, self.signal, self.exporters = case, signal, exporters
        return self

    def export(self, batch, *args, **kwargs):
        results = [exporter.export(batch, *args, **kwargs) for exporter in self.exporters]
        for where, result in zip(("direct", "proxied"), results, strict=True):
            if result.name != "SUCCESS":
                failures.append(f"{self.case} {self.signal} {where}: {result.name}")
        return max(results, key=lambda result: result.value)

    def shutdown(self, *args, **kwargs):
        for exporter in self.exporters:
            exporter.shutdown()

    def force_flush(self, *args, **kwargs):
        return True


class BothSpans(Both, SpanExporter):
    pass


class BothMetrics(Both, MetricExporter):
    pass


class BothLogs(Both, LogRecordExporter):
    pass


def exporter(kind, case, signal, base):
    protocol, compression = case["protocol"], case["compression"]
    options = {"compression": COMPRESSION[protocol][compression], "timeout": 10}
    if protocol == "grpc":
        return kind(endpoint=base, insecure=True, **options)
    return kind(endpoint=base + PATHS[signal], **options)


def both(joined, case, signal):
    kind = EXPORTERS[case["protocol"]][list(PATHS).index(signal)]
    bases = (case["direct"], case["proxied"])
    return joined.pair(case["name"], signal, [exporter(kind, case, signal, base) for base in bases])


def send(case, text):
    resource = Resource.create({
        "service.name": "interop-python",
        "interop.case": case["name"],
        "process.command_args": ["agent", text["github"]],
    })
    traces = TracerProvider(resource=resource)
    traces.add_span_processor(BatchSpanProcessor(both(BothSpans(), case, "traces")))
    logs = LoggerProvider(resource=resource)
    logs.add_log_record_processor(BatchLogRecordProcessor(both(BothLogs(), case, "logs")))
    reader = PeriodicExportingMetricReader(both(BothMetrics(), case, "metrics"), export_interval_millis=NEVER)
    # The view drops `note` from the series, so that it moves into the exemplars' filtered attributes.
    views = [View(instrument_name="interop.tokens", attribute_keys={"model"})]
    metrics = MeterProvider(resource=resource, metric_readers=[reader], views=views)

    tracer = traces.get_tracer("interop.scope", "1.2.3")
    with tracer.start_as_current_span("parent") as parent:
        link = Link(parent.get_span_context(), {"why": text["bearer"]})
        spans(tracer, link, text)
        points(metrics.get_meter("interop.scope", "1.2.3"), text)
        records(logs.get_logger("interop.scope", "1.2.3"), text)
    for provider in (traces, logs, metrics):
        provider.force_flush()
        provider.shutdown()


def spans(tracer, link, text):
    with tracer.start_as_current_span("tool call", kind=SpanKind.CLIENT, links=[link]) as span:
        span.set_attributes({
            "tool.output": text["nested"],
            "gen_ai.prompt": [text["plain"], text["jwt"], text["empty"]],
            "db.password": text["password"],
            "message": text["unicode"],
            "url.full": text["query"],
            "run.id": text["uuid"],
            "empty": text["empty"],
            "rows": 42,
            "largest": 2**63 - 1,
            "ratio": 0.1,
            "ok": True,
            "counts": [1, -2, 3],
        })
        span.add_event("tool.output", {"output": text["wrapped"], "rows": 42})
        span.record_exception(RuntimeError(text["anthropic"]))
        span.set_status(Status(StatusCode.ERROR, text["aws"]))


def points(meter, text):
    attributes = {"model": "m-1", "prompt": text["github"], "rows": 42}
    meter.create_counter("interop.calls", unit="{call}", description=text["aws"]).add(3, attributes)
    meter.create_histogram("interop.seconds", unit="s").record(0.25, {**attributes, "note": text["unicode"]})
    meter.create_histogram("interop.tokens").record(1234, {"model": "m-1", "note": text["jwt"]})
    meter.create_gauge("interop.level").set(-1.5, attributes)


def records(logger, text):
    logger.emit(severity_number=SeverityNumber.ERROR, severity_text="ERROR", body=text["nested"],
                attributes={"tool_input": text["bearer"], "note": text["plain"]}, event_name="tool.result")
    logger.emit(severity_number=SeverityNumber.INFO, body={
        "request": {"headers": {"x": [text["github"], 7, None, True]}, "raw": text["anthropic"].encode()},
        "db.password": text["password"],
        "clean": [text["unicode"], 0.5, b"\x00\x01\xff"],
    })


def main():
    logging.basicConfig(level=logging.WARNING)
    plan = json.load(sys.stdin)
    for case in plan["cases"]:
        send(case, plan["texts"])
    print("\n".join(failures), file=sys.stderr)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
