// Sends traces, metrics and logs with the official JavaScript SDK: each batch twice, directly and through Blackbar.
// The plan on standard input is that of python_sdk.py. Ends with 1 if any export failed.

import { createRequire } from 'node:module';
import { SpanKind, SpanStatusCode, context, trace } from '@opentelemetry/api';
import { SeverityNumber } from '@opentelemetry/api-logs';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

const require = createRequire(import.meta.url);
const PACKAGE = { grpc: 'grpc', 'http/protobuf': 'proto', 'http/json': 'http' };
const KIND = {
  traces: ['trace', 'OTLPTraceExporter'],
  metrics: ['metrics', 'OTLPMetricExporter'],
  logs: ['logs', 'OTLPLogExporter'],
};
const SUCCESS = 0;
const failures = [];

function exporter(testCase, signal, base) {
  const [name, constructor] = KIND[signal];
  const Exporter = require(`@opentelemetry/exporter-${name}-otlp-${PACKAGE[testCase.protocol]}`)[constructor];
  const url = testCase.protocol === 'grpc' ? base : `${base}/v1/${signal}`;
  const compression = testCase.compression === 'gzip' ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE;
  return new Exporter({ url, compression, timeoutMillis: 10_000 });
}

// Exports each batch to two exporters, and remembers a failure.
function both(testCase, signal) {
  const targets = ['direct', 'proxied'].map((where) => [where, exporter(testCase, signal, testCase[where])]);
  const one = (target, batch) => new Promise((resolve) => target.export(batch, resolve));
  return {
    async export(batch, done) {
      let last = { code: SUCCESS };
      for (const [where, target] of targets) {
        const result = await one(target, batch);
        if (result.code !== SUCCESS) {
          failures.push(`${testCase.name} ${signal} ${where}: ${result.error}`);
          last = result;
        }
      }
      done(last);
    },
    forceFlush: () => Promise.all(targets.map(([, target]) => target.forceFlush())),
    shutdown: () => Promise.all(targets.map(([, target]) => target.shutdown())),
  };
}

async function send(testCase, text) {
  const resource = resourceFromAttributes({
    'service.name': 'interop-js',
    'interop.case': testCase.name,
    'process.command_args': ['agent', text.github],
  });
  const traces = new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(both(testCase, 'traces'))],
  });
  const logs = new LoggerProvider({
    resource,
    processors: [new BatchLogRecordProcessor({ exporter: both(testCase, 'logs') })],
  });
  const reader = new PeriodicExportingMetricReader({
    exporter: both(testCase, 'metrics'),
    exportIntervalMillis: 2 ** 31 - 1,
  });
  const metrics = new MeterProvider({ resource, readers: [reader] });

  const tracer = traces.getTracer('interop.scope', '1.2.3');
  const parent = tracer.startSpan('parent');
  context.with(trace.setSpan(context.active(), parent), () => {
    spans(tracer, parent, text);
    points(metrics.getMeter('interop.scope', '1.2.3'), text);
    records(logs.getLogger('interop.scope', '1.2.3'), text);
  });
  parent.end();
  for (const provider of [traces, logs, metrics]) {
    // A failed export rejects the flush; `failures` has it already.
    await provider.forceFlush().catch(() => {});
    await provider.shutdown().catch(() => {});
  }
}

function spans(tracer, parent, text) {
  const span = tracer.startSpan('tool call', {
    kind: SpanKind.CLIENT,
    links: [{ context: parent.spanContext(), attributes: { why: text.bearer } }],
    attributes: {
      'tool.output': text.nested,
      'gen_ai.prompt': [text.plain, text.jwt, text.empty],
      'db.password': text.password,
      message: text.unicode,
      'url.full': text.query,
      'run.id': text.uuid,
      empty: text.empty,
      rows: 42,
      largest: Number.MAX_SAFE_INTEGER,
      ratio: 0.1,
      ok: true,
      counts: [1, -2, 3],
    },
  });
  span.addEvent('tool.output', { output: text.wrapped, rows: 42 });
  span.recordException(new Error(text.anthropic));
  span.setStatus({ code: SpanStatusCode.ERROR, message: text.aws });
  span.end();
}

function points(meter, text) {
  const attributes = { model: 'm-1', prompt: text.github, rows: 42 };
  meter.createCounter('interop.calls', { unit: '{call}', description: text.aws }).add(3, attributes);
  meter.createHistogram('interop.seconds', { unit: 's' }).record(0.25, { ...attributes, note: text.unicode });
  meter.createHistogram('interop.tokens').record(1234, { model: 'm-1', note: text.jwt });
  meter.createGauge('interop.level').record(-1.5, attributes);
}

function records(logger, text) {
  logger.emit({
    severityNumber: SeverityNumber.ERROR,
    severityText: 'ERROR',
    eventName: 'tool.result',
    body: text.nested,
    attributes: { tool_input: text.bearer, note: text.plain },
  });
  logger.emit({
    severityNumber: SeverityNumber.INFO,
    body: {
      request: { headers: { x: [text.github, 7, null, true] }, raw: new TextEncoder().encode(text.anthropic) },
      'db.password': text.password,
      clean: [text.unicode, 0.5, new Uint8Array([0, 1, 255])],
    },
  });
}

async function plan() {
  const pieces = [];
  for await (const piece of process.stdin) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces).toString());
}

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const { cases, texts } = await plan();
for (const testCase of cases) await send(testCase, texts);
console.error(failures.join('\n'));
process.exit(failures.length > 0 ? 1 : 0);
