//! What several boundaries' tests share.

pub mod backend;
pub mod backend_answer;
pub mod backend_pki;
pub mod backend_proxy;
pub mod client;
pub mod messages;
pub mod process;
pub mod small_disk;

/// A configuration with every listener on a free loopback port, and this exporter (YAML flow: `otlp_http: {...}`).
pub fn config(exporter: &str) -> String {
    let name = exporter.split(':').next().unwrap();
    let pipeline = format!("{{receivers: [otlp], exporters: [{name}]}}");
    format!(
        "receivers: {{otlp: {{protocols: {{grpc: {{endpoint: '127.0.0.1:0'}}, http: {{endpoint: '127.0.0.1:0'}}}}}}}}
exporters: {{{exporter}}}
extensions: {{health_check: {{endpoint: '127.0.0.1:0'}}}}
service:
  extensions: [health_check]
  pipelines: {{traces: {pipeline}, metrics: {pipeline}, logs: {pipeline}, profiles: {pipeline}}}
"
    )
}
