//! The typed reference: decode an export request into structs, redact them one field after the other, encode them.
//!
//! Written against the generated types, field by field, so that it shares nothing with the walk but the scrubber.
//! For the default policy.

use blackbar::otlp::Signal;
use blackbar::redact::text::KeyPath;
use blackbar::redact::{Clean, Report, Scrub};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::profiles::v1development::ExportProfilesServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{Exemplar, Metric};
use opentelemetry_proto::tonic::profiles::v1development::ProfilesDictionary;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// The request, redacted and encoded again.
pub(crate) fn redact<S: Scrub>(scrubber: &S, signal: Signal, body: &[u8]) -> Vec<u8> {
    let mut reference = Reference { scrubber, report: Report::default(), strings: Vec::new() };
    match signal {
        Signal::Traces => {
            let mut request = ExportTraceServiceRequest::decode(body).expect("valid");
            reference.traces(&mut request);
            request.encode_to_vec()
        }
        Signal::Metrics => {
            let mut request = ExportMetricsServiceRequest::decode(body).expect("valid");
            reference.metrics(&mut request);
            request.encode_to_vec()
        }
        Signal::Logs => {
            let mut request = ExportLogsServiceRequest::decode(body).expect("valid");
            reference.logs(&mut request);
            request.encode_to_vec()
        }
        Signal::Profiles => {
            let mut request = ExportProfilesServiceRequest::decode(body).expect("valid");
            reference.profiles(&mut request);
            request.encode_to_vec()
        }
    }
}

/// Decodes and encodes, without redaction. `None` if `prost` refuses the bytes.
pub(crate) fn reencode(signal: Signal, body: &[u8]) -> Option<Vec<u8>> {
    match signal {
        Signal::Traces => ExportTraceServiceRequest::decode(body).ok().map(|request| request.encode_to_vec()),
        Signal::Metrics => {
            ExportMetricsServiceRequest::decode(body).ok().map(|request| request.encode_to_vec())
        }
        Signal::Logs => ExportLogsServiceRequest::decode(body).ok().map(|request| request.encode_to_vec()),
        Signal::Profiles => {
            ExportProfilesServiceRequest::decode(body).ok().map(|request| request.encode_to_vec())
        }
    }
}

struct Reference<'s, S> {
    scrubber: &'s S,
    report: Report,
    /// The profiles string table as it came.
    strings: Vec<String>,
}

type Keys<'k> = Option<&'k KeyPath<'k>>;

impl<S: Scrub> Reference<'_, S> {
    fn traces(&mut self, request: &mut ExportTraceServiceRequest) {
        for group in &mut request.resource_spans {
            self.resource(&mut group.resource);
            self.text(&mut group.schema_url);
            for scope in &mut group.scope_spans {
                self.scope(&mut scope.scope);
                self.text(&mut scope.schema_url);
                scope.spans.iter_mut().for_each(|span| self.span(span));
            }
        }
    }

    fn span(&mut self, span: &mut Span) {
        self.id(&mut span.trace_id, 16);
        self.id(&mut span.span_id, 8);
        self.id(&mut span.parent_span_id, 8);
        self.text(&mut span.trace_state);
        self.text(&mut span.name);
        self.attributes(&mut span.attributes, None);
        for event in &mut span.events {
            self.text(&mut event.name);
            self.attributes(&mut event.attributes, None);
        }
        for link in &mut span.links {
            self.id(&mut link.trace_id, 16);
            self.id(&mut link.span_id, 8);
            self.text(&mut link.trace_state);
            self.attributes(&mut link.attributes, None);
        }
        if let Some(status) = &mut span.status {
            self.text(&mut status.message);
        }
    }

    fn logs(&mut self, request: &mut ExportLogsServiceRequest) {
        for group in &mut request.resource_logs {
            self.resource(&mut group.resource);
            self.text(&mut group.schema_url);
            for scope in &mut group.scope_logs {
                self.scope(&mut scope.scope);
                self.text(&mut scope.schema_url);
                for record in &mut scope.log_records {
                    self.text(&mut record.severity_text);
                    self.text(&mut record.event_name);
                    self.value(&mut record.body, None);
                    self.attributes(&mut record.attributes, None);
                    self.id(&mut record.trace_id, 16);
                    self.id(&mut record.span_id, 8);
                }
            }
        }
    }

    fn metrics(&mut self, request: &mut ExportMetricsServiceRequest) {
        for group in &mut request.resource_metrics {
            self.resource(&mut group.resource);
            self.text(&mut group.schema_url);
            for scope in &mut group.scope_metrics {
                self.scope(&mut scope.scope);
                self.text(&mut scope.schema_url);
                scope.metrics.iter_mut().for_each(|metric| self.metric(metric));
            }
        }
    }

    fn metric(&mut self, metric: &mut Metric) {
        self.text(&mut metric.name);
        self.text(&mut metric.description);
        self.text(&mut metric.unit);
        self.attributes(&mut metric.metadata, None);
        match &mut metric.data {
            Some(Data::Gauge(gauge)) => gauge.data_points.iter_mut().for_each(|point| {
                self.attributes(&mut point.attributes, None);
                self.exemplars(&mut point.exemplars);
            }),
            Some(Data::Sum(sum)) => sum.data_points.iter_mut().for_each(|point| {
                self.attributes(&mut point.attributes, None);
                self.exemplars(&mut point.exemplars);
            }),
            Some(Data::Histogram(histogram)) => histogram.data_points.iter_mut().for_each(|point| {
                self.attributes(&mut point.attributes, None);
                self.exemplars(&mut point.exemplars);
            }),
            Some(Data::ExponentialHistogram(histogram)) => {
                histogram.data_points.iter_mut().for_each(|point| {
                    self.attributes(&mut point.attributes, None);
                    self.exemplars(&mut point.exemplars);
                })
            }
            Some(Data::Summary(summary)) => {
                summary.data_points.iter_mut().for_each(|point| self.attributes(&mut point.attributes, None));
            }
            None => {}
        }
    }

    fn exemplars(&mut self, exemplars: &mut [Exemplar]) {
        for exemplar in exemplars {
            self.id(&mut exemplar.trace_id, 16);
            self.id(&mut exemplar.span_id, 8);
            self.attributes(&mut exemplar.filtered_attributes, None);
        }
    }

    fn profiles(&mut self, request: &mut ExportProfilesServiceRequest) {
        if let Some(dictionary) = &mut request.dictionary {
            self.strings = dictionary.string_table.clone();
            let mut secret = Vec::new();
            for group in &request.resource_profiles {
                let attributes = group.resource.iter().flat_map(|resource| &resource.attributes);
                attributes.for_each(|attribute| self.find_secret_entries(attribute, None, &mut secret));
                for scope in group.scope_profiles.iter().filter_map(|scope| scope.scope.as_ref()) {
                    scope.attributes.iter().for_each(|a| self.find_secret_entries(a, None, &mut secret));
                }
            }
            for attribute in &dictionary.attribute_table {
                let key = self.string(attribute.key_strindex).unwrap_or_default().to_owned();
                let keys = KeyPath { key: key.as_bytes(), parent: None };
                self.find_in_value(&attribute.value, Some(&keys), &mut secret);
            }
            self.dictionary(dictionary, &secret);
        }
        for group in &mut request.resource_profiles {
            self.resource(&mut group.resource);
            self.text(&mut group.schema_url);
            for scope in &mut group.scope_profiles {
                self.scope(&mut scope.scope);
                self.text(&mut scope.schema_url);
                for profile in &mut scope.profiles {
                    self.id(&mut profile.profile_id, 16);
                    self.text(&mut profile.original_payload_format);
                    if std::str::from_utf8(&profile.original_payload).is_ok() {
                        self.bytes(&mut profile.original_payload, None);
                    } else {
                        profile.original_payload.clear();
                    }
                }
            }
        }
    }

    fn dictionary(&mut self, dictionary: &mut ProfilesDictionary, secret: &[usize]) {
        for (index, entry) in dictionary.string_table.iter_mut().enumerate() {
            let password = KeyPath { key: b"password", parent: None };
            self.keyed_text(entry, secret.contains(&index).then_some(&password));
        }
        for link in &mut dictionary.link_table {
            self.id(&mut link.trace_id, 16);
            self.id(&mut link.span_id, 8);
        }
        for attribute in &mut dictionary.attribute_table {
            let key = self.string(attribute.key_strindex).unwrap_or_default().to_owned();
            self.value(&mut attribute.value, Some(&KeyPath { key: key.as_bytes(), parent: None }));
        }
    }

    /// The table entries that are values of secret-named attributes.
    fn find_secret_entries(&self, attribute: &KeyValue, parent: Keys<'_>, secret: &mut Vec<usize>) {
        let key = self.effective_key(attribute, parent);
        self.find_in_value(&attribute.value, Some(&KeyPath { key: key.as_bytes(), parent }), secret);
    }

    fn find_in_value(&self, value: &Option<AnyValue>, keys: Keys<'_>, secret: &mut Vec<usize>) {
        match value.as_ref().and_then(|value| value.value.as_ref()) {
            Some(Value::StringValueStrindex(index)) => {
                if let Ok(index) = usize::try_from(*index)
                    && self.secret_above(keys).is_some()
                {
                    secret.push(index);
                }
            }
            Some(Value::ArrayValue(array)) => {
                for value in &array.values {
                    self.find_in_value(&Some(value.clone()), keys, secret);
                }
            }
            Some(Value::KvlistValue(list)) => {
                list.values.iter().for_each(|attribute| self.find_secret_entries(attribute, keys, secret));
            }
            _ => {}
        }
    }

    fn string(&self, index: i32) -> Option<&str> {
        self.strings.get(usize::try_from(index).ok()?).map(String::as_str)
    }

    fn effective_key(&self, attribute: &KeyValue, parent: Keys<'_>) -> String {
        let own = KeyPath { key: attribute.key.as_bytes(), parent };
        match self.string(attribute.key_strindex) {
            Some(name) if !name.is_empty() && attribute.key_strindex != 0 => {
                if self.scrubber.is_secret_key(&own) { attribute.key.clone() } else { name.to_owned() }
            }
            _ => attribute.key.clone(),
        }
    }

    fn resource(&mut self, resource: &mut Option<Resource>) {
        if let Some(resource) = resource {
            self.attributes(&mut resource.attributes, None);
            for entity in &mut resource.entity_refs {
                self.text(&mut entity.schema_url);
                self.text(&mut entity.r#type);
                entity.id_keys.iter_mut().for_each(|key| self.text(key));
                entity.description_keys.iter_mut().for_each(|key| self.text(key));
            }
        }
    }

    fn scope(&mut self, scope: &mut Option<InstrumentationScope>) {
        if let Some(scope) = scope {
            self.text(&mut scope.name);
            self.text(&mut scope.version);
            self.attributes(&mut scope.attributes, None);
        }
    }

    fn attributes(&mut self, attributes: &mut [KeyValue], parent: Keys<'_>) {
        for attribute in attributes {
            let key = self.effective_key(attribute, parent);
            self.text(&mut attribute.key);
            self.value(&mut attribute.value, Some(&KeyPath { key: key.as_bytes(), parent }));
        }
    }

    fn value(&mut self, value: &mut Option<AnyValue>, keys: Keys<'_>) {
        let Some(AnyValue { value: Some(value) }) = value else { return };
        let is_secret = self.secret_above(keys).is_some();
        match value {
            Value::StringValue(text) => self.keyed_text(text, keys),
            Value::BytesValue(bytes) => self.bytes(bytes, keys),
            Value::ArrayValue(array) => {
                for element in &mut array.values {
                    let mut wrapped = Some(std::mem::take(element));
                    self.value(&mut wrapped, keys);
                    *element = wrapped.unwrap_or_default();
                }
            }
            Value::KvlistValue(list) => self.attributes(&mut list.values, keys),
            Value::StringValueStrindex(index) if self.string(*index).is_some() => {}
            Value::IntValue(_) | Value::DoubleValue(_) | Value::StringValueStrindex(_) if is_secret => {
                *value = Value::StringValue("[REDACTED:secret]".to_owned());
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &mut String) {
        self.keyed_text(text, None);
    }

    fn keyed_text(&mut self, text: &mut String, keys: Keys<'_>) {
        let mut bytes = std::mem::take(text).into_bytes();
        self.bytes(&mut bytes, keys);
        *text = String::from_utf8(bytes).expect("UTF-8 stays UTF-8");
    }

    /// As a value of a secret-named key around it, if there is one, and then of its own key.
    fn bytes(&mut self, bytes: &mut Vec<u8>, keys: Keys<'_>) {
        for keys in [self.secret_above(keys), keys] {
            if let Some(Clean { text: clean, .. }) = self.scrubber.scrub(keys, bytes, &mut self.report) {
                *bytes = clean;
            }
        }
    }

    fn secret_above<'k>(&self, keys: Keys<'k>) -> Keys<'k> {
        let mut next = keys;
        while let Some(keys) = next {
            if self.scrubber.is_secret_key(keys) {
                return next;
            }
            next = keys.parent;
        }
        None
    }

    fn id(&mut self, id: &mut Vec<u8>, length: usize) {
        if id.len() != length {
            self.bytes(id, None);
        }
    }
}
