package main

import (
	"context"
	"os"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// linesConfig is the configuration of the `lines` exporter.
type linesConfig struct {
	// Path of the file that gets one OTLP JSON object a line.
	Path string `mapstructure:"path"`
}

// lines appends each batch, as the official JSON marshalers write it, to one file. All signals may share the file.
type lines struct {
	component.StartFunc
	component.ShutdownFunc
	path string
}

// oneWriter keeps lines whole when pipelines of several signals share a file.
var oneWriter sync.Mutex

func newLinesFactory() exporter.Factory {
	const level = component.StabilityLevelDevelopment
	return exporter.NewFactory(
		component.MustNewType("lines"),
		func() component.Config { return &linesConfig{} },
		exporter.WithTraces(func(_ context.Context, _ exporter.Settings, c component.Config) (exporter.Traces, error) {
			return newLines(c), nil
		}, level),
		exporter.WithMetrics(func(_ context.Context, _ exporter.Settings, c component.Config) (exporter.Metrics, error) {
			return newLines(c), nil
		}, level),
		exporter.WithLogs(func(_ context.Context, _ exporter.Settings, c component.Config) (exporter.Logs, error) {
			return newLines(c), nil
		}, level),
	)
}

func newLines(c component.Config) *lines {
	return &lines{path: c.(*linesConfig).Path}
}

func (l *lines) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: false}
}

func (l *lines) ConsumeTraces(_ context.Context, td ptrace.Traces) error {
	line, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
	return l.append(line, err)
}

func (l *lines) ConsumeMetrics(_ context.Context, md pmetric.Metrics) error {
	line, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(md)
	return l.append(line, err)
}

func (l *lines) ConsumeLogs(_ context.Context, ld plog.Logs) error {
	line, err := (&plog.JSONMarshaler{}).MarshalLogs(ld)
	return l.append(line, err)
}

func (l *lines) append(line []byte, err error) error {
	if err != nil {
		return err
	}
	oneWriter.Lock()
	defer oneWriter.Unlock()
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = file.Write(append(line, '\n')); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
