//! Properties of the JSON transcoder: any valid encoding survives the way to JSON and back, and nothing makes it panic.
//!
//! The encodings are made by the schema table from random choices: every field of every signal, in any order, singular
//! ones repeatedly, numbers packed or not, with unknown fields and over-long varints. `prost` is the judge.

use blackbar::otlp::json::{self, JsonError, to_protobuf};
use blackbar::otlp::schema::{Field, Kind, Message};
use blackbar::otlp::{Signal, schema};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::profiles::v1development::ExportProfilesServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use proptest::collection::vec;
use proptest::prelude::*;

/// The typed reading of an encoding, encoded again: equal messages give equal bytes (NaN included).
fn typed(signal: Signal, body: &[u8]) -> Vec<u8> {
    fn again<M: prost::Message + Default>(body: &[u8]) -> Vec<u8> {
        M::decode(body).expect("a valid encoding").encode_to_vec()
    }
    match signal {
        Signal::Traces => again::<ExportTraceServiceRequest>(body),
        Signal::Metrics => again::<ExportMetricsServiceRequest>(body),
        Signal::Logs => again::<ExportLogsServiceRequest>(body),
        Signal::Profiles => again::<ExportProfilesServiceRequest>(body),
    }
}

/// The transcoder under test, as text that reads well where a property fails.
fn from_protobuf(message: &'static Message, body: &[u8]) -> Result<String, JsonError> {
    json::from_protobuf(message, body).map(|json| String::from_utf8(json).expect("JSON is UTF-8"))
}

/// The same message as the `opentelemetry-proto` crate writes it in JSON: a second opinion on the format.
fn foreign_json(signal: Signal, body: &[u8]) -> Vec<u8> {
    fn json<M: prost::Message + Default + serde::Serialize>(body: &[u8]) -> Vec<u8> {
        serde_json::to_vec(&M::decode(body).expect("a valid encoding")).expect("serialises")
    }
    match signal {
        Signal::Traces => json::<ExportTraceServiceRequest>(body),
        Signal::Metrics => json::<ExportMetricsServiceRequest>(body),
        Signal::Logs => json::<ExportLogsServiceRequest>(body),
        Signal::Profiles => unreachable!("not asked for"),
    }
}

fn signals() -> impl Strategy<Value = Signal> {
    prop::sample::select(Signal::ALL.to_vec())
}

proptest! {
    #[test]
    fn any_valid_encoding_survives_json(signal in signals(), choices in vec(any::<u8>(), 0..1500)) {
        let body = Choices::new(&choices).message(signal.request(), 0);
        let json = from_protobuf(signal.request(), &body).unwrap();
        prop_assert!(!json.contains('\n'));
        let back = to_protobuf(signal.request(), json.as_bytes()).unwrap();
        prop_assert_eq!(typed(signal, &back), typed(signal, &body));
        // What came from JSON is canonical: it gives the same JSON and the same bytes again.
        let again = from_protobuf(signal.request(), &back).unwrap();
        prop_assert_eq!(&again, &json);
        prop_assert_eq!(to_protobuf(signal.request(), again.as_bytes()).unwrap(), back);
    }

    /// That implementation writes NaN and infinity as null, and the ids of profiles as arrays of numbers: left out.
    #[test]
    fn reads_what_another_implementation_writes(
        signal in prop::sample::select(vec![Signal::Traces, Signal::Metrics, Signal::Logs]),
        choices in vec(any::<u8>(), 0..1500),
    ) {
        let body = Choices { doubles: &DOUBLES[..FINITE], ..Choices::new(&choices) }.message(signal.request(), 0);
        let json = foreign_json(signal, &body);
        let read = to_protobuf(signal.request(), &json);
        prop_assert_eq!(read.map(|read| typed(signal, &read)), Ok(typed(signal, &body)), "{}", String::from_utf8_lossy(&json));
    }

    #[test]
    fn random_bytes_never_panic(signal in signals(), bytes in vec(any::<u8>(), 0..400)) {
        let _ = from_protobuf(signal.request(), &bytes);
        let _ = to_protobuf(signal.request(), &bytes);
    }

    #[test]
    fn mutated_encodings_never_panic(
        signal in signals(),
        choices in vec(any::<u8>(), 0..500),
        edits in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut body = Choices::new(&choices).message(signal.request(), 0);
        edit(&mut body, &edits);
        if let Ok(json) = from_protobuf(signal.request(), &body) {
            let back = to_protobuf(signal.request(), json.as_bytes()).unwrap();
            prop_assert_eq!(from_protobuf(signal.request(), &back).unwrap(), json);
        }
    }

    #[test]
    fn mutated_json_never_panics(
        signal in signals(),
        choices in vec(any::<u8>(), 0..500),
        edits in vec((any::<prop::sample::Index>(), prop::sample::select(br#"{}[]",:\ue-10.nt"#.to_vec())), 1..4),
    ) {
        let body = Choices::new(&choices).message(signal.request(), 0);
        let mut json = from_protobuf(signal.request(), &body).unwrap().into_bytes();
        edit(&mut json, &edits);
        if let Ok(body) = to_protobuf(signal.request(), &json) {
            let again = from_protobuf(signal.request(), &body).unwrap();
            prop_assert_eq!(typed(signal, &to_protobuf(signal.request(), again.as_bytes()).unwrap()), typed(signal, &body));
        }
    }

    #[test]
    fn cut_json_is_refused(signal in signals(), choices in vec(any::<u8>(), 0..300), at in any::<prop::sample::Index>()) {
        let body = Choices::new(&choices).message(signal.request(), 0);
        let json = from_protobuf(signal.request(), &body).unwrap();
        prop_assert!(to_protobuf(signal.request(), &json.as_bytes()[..at.index(json.len())]).is_err());
    }

    #[test]
    fn every_double_survives(bits in any::<u64>()) {
        let body = [&[(1 << 3) | 1], &bits.to_le_bytes()[..]].concat();
        let value = &schema::metrics::SUMMARY_DATA_POINT_VALUE_AT_QUANTILE;
        let back = to_protobuf(value, from_protobuf(value, &body).unwrap().as_bytes()).unwrap();
        let read = f64::from_le_bytes(back[1..].try_into().unwrap());
        prop_assert!(read.to_bits() == bits || read.is_nan() && f64::from_bits(bits).is_nan());
    }

    #[test]
    fn every_text_survives(text in any::<String>()) {
        let json = serde_json::to_vec(&serde_json::json!({ "stringValue": text })).unwrap();
        let body = to_protobuf(&schema::common::ANY_VALUE, &json).unwrap();
        let back: serde_json::Value =
            serde_json::from_str(&from_protobuf(&schema::common::ANY_VALUE, &body).unwrap()).unwrap();
        prop_assert_eq!(back, serde_json::json!({ "stringValue": text }));
    }
}

fn edit(bytes: &mut [u8], edits: &[(prop::sample::Index, u8)]) {
    for (at, byte) in edits {
        if !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
    }
}

/// A source of choices; where it is exhausted, everything is zero and messages end.
struct Choices<'a> {
    bytes: std::slice::Iter<'a, u8>,
    doubles: &'static [f64],
}

impl<'a> Choices<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: bytes.iter(), doubles: &DOUBLES }
    }

    fn below(&mut self, n: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0)) % n
    }

    /// A random valid encoding of a message.
    fn message(&mut self, message: &'static Message, depth: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let records = self.below(if depth > 8 { 2 } else { 9 });
        for _ in 0..records {
            match self.below(12) {
                0 => self.unknown(&mut out),
                n => {
                    let field = &message.fields[(self.below(256) + n) % message.fields.len()];
                    self.field(field, depth, &mut out);
                }
            }
        }
        out
    }

    fn field(&mut self, field: &'static Field, depth: usize, out: &mut Vec<u8>) {
        let content = match field.kind {
            Kind::Message(nested) => self.message(nested, depth + 1),
            Kind::Text => TEXTS[self.below(TEXTS.len())].as_bytes().to_vec(),
            Kind::Bytes | Kind::Payload => (0..self.below(6)).map(|_| self.below(256) as u8).collect(),
            Kind::Id(length) => vec![self.below(256) as u8; [length, 0, 3][self.below(3)]],
            kind => {
                if field.repeated && self.below(2) == 0 {
                    let mut packed = Vec::new();
                    for _ in 0..self.below(4) {
                        self.number(kind, &mut packed);
                    }
                    packed
                } else {
                    self.varint(u64::from(field.number) << 3 | wire_type(kind), out);
                    self.number(kind, out);
                    return;
                }
            }
        };
        self.varint(u64::from(field.number) << 3 | 2, out);
        self.varint(content.len() as u64, out);
        out.extend_from_slice(&content);
    }

    fn number(&mut self, kind: Kind, out: &mut Vec<u8>) {
        let n = NUMBERS[self.below(NUMBERS.len())];
        match (kind, wire_type(kind)) {
            (Kind::Double, _) => {
                out.extend_from_slice(&self.doubles[self.below(self.doubles.len())].to_le_bytes())
            }
            (_, 1) => out.extend_from_slice(&n.to_le_bytes()),
            (_, 5) => out.extend_from_slice(&(n as u32).to_le_bytes()),
            (Kind::Bool, _) => self.varint(n & 1, out),
            _ => self.varint(n, out),
        }
    }

    /// A field that no schema knows: of any wire type, a group too.
    fn unknown(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(match self.below(5) {
            0 => &[0xf8, 0x07, 0x01],
            1 => &[0xfa, 0x07, 0x03, b'a', 0xff, b'c'],
            2 => &[0xfd, 0x07, 1, 2, 3, 4],
            3 => &[0xf9, 0x07, 1, 2, 3, 4, 5, 6, 7, 8],
            _ => &[0xfb, 0x07, 0x08, 0x01, 0xfc, 0x07],
        });
    }

    /// A varint, now and then longer than need be.
    fn varint(&mut self, n: u64, out: &mut Vec<u8>) {
        let start = out.len();
        prost::encoding::encode_varint(n, out);
        if self.below(8) == 7 && out.len() - start < 4 {
            *out.last_mut().unwrap() |= 0x80;
            out.extend_from_slice(&[0x80, 0]);
        }
    }
}

fn wire_type(kind: Kind) -> u64 {
    match kind {
        Kind::Fixed64 | Kind::Sfixed64 | Kind::Double => 1,
        Kind::Fixed32 => 5,
        _ => 0,
    }
}

const TEXTS: [&str; 6] =
    ["", "a", "line\nbreak \"quoted\" \\ \u{0}\u{1f}", "ключ 鍵 🔑", "\u{2028}\u{feff}\u{fffd}", "null"];

const NUMBERS: [u64; 9] =
    [0, 1, 2, 0x7fff_ffff, 0xffff_ffff, 1 << 53, i64::MAX as u64, i64::MIN as u64, u64::MAX];

const FINITE: usize = 7;

const DOUBLES: [f64; 10] = [
    0.0,
    -0.0,
    0.1,
    -1.5,
    1e300,
    5e-324,
    9_007_199_254_740_993.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];
