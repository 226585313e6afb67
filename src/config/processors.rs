//! `processors`: how the scrubber scrubs: `policy` reads where and how hard, `rules` what is a secret. `batch` and
//! `memory_limiter` are accepted by name only.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::components::{Context, components, type_of};
use super::problem::Origin;
use super::section::{Located, Section};
use super::settings::ScrubSettings;
use super::{policy, rules};

/// The types that we have.
pub(crate) const TYPES: &[&str] = &["scrub", "batch", "memory_limiter"];

/// The name of the processor that is implied in every pipeline.
pub(crate) const IMPLIED: &str = "scrub";

/// Reads the section: the settings of each `scrub` processor, the implied one included.
pub(crate) fn read(top: &mut Section<'_>, context: &Context<'_>) -> BTreeMap<String, Arc<ScrubSettings>> {
    let mut section = top.child("processors");
    let mut scrubs = BTreeMap::new();
    let mut names = components(&section, "processor", TYPES);
    if !section.has(IMPLIED) {
        names.insert(0, Located { value: IMPLIED.to_owned(), origin: Origin::Default });
    }
    for name in names {
        let mut processor = section.child(&name.value);
        match type_of(&name.value) {
            "scrub" => {
                let settings = scrub(&mut processor, &name.value, context);
                scrubs.insert(name.value.clone(), Arc::new(settings));
            }
            "batch" => {
                processor.ignore_the_rest();
                context.notice(format!(
                    "processor {} has no effect: a request is answered after the backend has it, so it is not held back",
                    name.value
                ));
            }
            _ => {
                processor.ignore_the_rest();
                context.notice(format!(
                    "processor {} has no effect: memory is bounded by service.limits.max_in_flight_bytes",
                    name.value
                ));
            }
        }
        section.show(&name.value, processor.finish());
    }
    section.ignore_the_rest(); // The strange ones have been reported.
    top.show("processors", section.finish());
    scrubs
}

fn scrub(section: &mut Section<'_>, name: &str, context: &Context<'_>) -> ScrubSettings {
    let policy = policy::read(section);
    let (rules, spared) = rules::read(section, &policy, context);
    ScrubSettings { name: name.to_owned(), policy, rules, spared }
}
