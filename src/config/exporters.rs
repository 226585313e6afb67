//! `exporters`: where the data goes. The network ones are read in `remote`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::components::{Context, components, type_of};
use super::problem::Origin;
use super::remote::{self, ReadExporter};
use super::section::Section;
use crate::forward::settings::{ExporterSettings, ProxySettings};
use crate::otlp::Encoding;

/// The types that we have. `otlp` and `otlphttp` are the Collector's older names.
pub(crate) const TYPES: &[&str] = &["otlp_grpc", "otlp_http", "file", "stdout", "debug", "otlp", "otlphttp"];

/// Reads the section. An exporter that can't be made is missing from the result; a problem says why.
pub(crate) fn read(
    top: &mut Section<'_>,
    context: &Context<'_>,
    proxy: &ProxySettings,
) -> BTreeMap<String, ReadExporter> {
    let mut section = top.child("exporters");
    let mut exporters = BTreeMap::new();
    for name in components(&section, "exporter", TYPES) {
        let mut exporter = section.child(&name.value);
        let plain =
            |settings| Some(ReadExporter { settings, origin: name.origin.clone(), only: None, queue: None });
        let read = match type_of(&name.value) {
            "otlp_grpc" | "otlp" => remote::grpc(&mut exporter, context, proxy),
            "otlp_http" | "otlphttp" => http(&mut exporter, context, proxy),
            "file" => file(&mut exporter, &name.origin).and_then(plain),
            "debug" => {
                exporter.ignore_the_rest();
                context.notice(format!(
                    "exporter {} prints redacted OTLP JSON lines, as stdout does",
                    name.value
                ));
                plain(ExporterSettings::Stdout)
            }
            _ => plain(ExporterSettings::Stdout),
        };
        section.show(&name.value, exporter.finish());
        if let Some(read) = read {
            exporters.insert(name.value, read);
        }
    }
    section.ignore_the_rest(); // The strange ones have been reported.
    top.show("exporters", section.finish());
    exporters
}

fn http(section: &mut Section<'_>, context: &Context<'_>, proxy: &ProxySettings) -> Option<ReadExporter> {
    let encoding = section.choice(
        "encoding",
        Encoding::Protobuf,
        &[("proto", Encoding::Protobuf), ("json", Encoding::Json)],
    );
    remote::http(section, context, proxy, encoding)
}

fn file(section: &mut Section<'_>, origin: &Origin) -> Option<ExporterSettings> {
    let given = section.has("path");
    let Some(path) = section.plain_text("path") else {
        if !given {
            section.problem(origin, "path", "is missing; expected the file to append to");
        }
        return None;
    };
    Some(ExporterSettings::File { path: PathBuf::from(path.value) })
}
