//! Reads a rule file. Reports every problem of the file at once, each with its line.
//!
//! Works on a tree whose nodes know their lines rather than with `serde`, which stops at the first mistake.

use std::str::FromStr;
use std::sync::Arc;

use super::before::{self, Before};
use super::rule::{Confidence, Cut, Example, Group, Mode, Origin, Rule, Specificity};
use super::set::{Allow, RuleError};
use super::{shape, template};
use crate::redact::action::{ACTIONS, Action};
use crate::redact::marker;
use crate::redact::validate::Validator;
use crate::yaml::{self, Node, Value};

/// Least bytes of a cut secret after its anchor or in its group, where the rule doesn't say or they are no words.
const DEFAULT_CUT: usize = 12;

/// The same where it is not sure that they are no words.
const WORDS_CUT: usize = 16;

/// What a rule file says of cut secrets.
#[derive(Clone, Copy)]
enum CutFrom {
    /// They don't count.
    Never,
    /// They count where they are no words, or long enough.
    Random,
    /// They count from so many bytes on.
    Bytes(usize),
}

const FILE_KEYS: &[&str] = &["order", "rules", "allow"];
const ALLOW_KEYS: &[&str] = &["sha256", "patterns"];
const RULE_KEYS: &[&str] = &[
    "id",
    "kind",
    "description",
    "source",
    "confidence",
    "anchors",
    "pattern",
    "preceded_by",
    "gap",
    "group",
    "word_start",
    "word_end",
    "integers",
    "validate",
    "mode",
    "action",
    "replacement",
    "cut",
    "cut_pattern",
    "examples",
    "counterexamples",
];

/// Reads the rules and the allow list of a file.
///
/// `anchors_optional`: for packs, whose patterns may have no literal to look for; they are slow, so others must have one.
pub(super) fn load(
    source_name: &str,
    yaml: &str,
    anchors_optional: bool,
) -> Result<(Vec<Rule>, Allow), Vec<RuleError>> {
    let mut loader = Loader { file: Arc::from(source_name), anchors_optional, errors: Vec::new() };
    let loaded = loader.file(yaml);
    if loader.errors.is_empty() { Ok(loaded) } else { Err(loader.errors) }
}

struct Loader {
    file: Arc<str>,
    anchors_optional: bool,
    errors: Vec<RuleError>,
}

/// The known entries of a mapping.
type Entries<'n> = Vec<(&'n str, &'n Node)>;

impl Loader {
    fn file(&mut self, yaml: &str) -> (Vec<Rule>, Allow) {
        let nothing = (Vec::new(), Allow::default());
        let (document, mistakes) = yaml::parse(yaml);
        for mistake in mistakes {
            self.error(mistake.place.line, mistake.message);
        }
        let Some(document) = document else { return nothing };
        let entries = self.mapping(&document, "the file", FILE_KEYS);
        let listed = entries.iter().any(|(key, node)| *key == "order" && self.order(node));
        let mut rules = Vec::new();
        let mut allow = Allow::default();
        for (key, node) in entries {
            match key {
                "rules" => {
                    rules = self.sequence(node, "rules").iter().filter_map(|n| self.rule(n, listed)).collect()
                }
                "allow" => allow = self.allow(node),
                _ => {}
            }
        }
        self.refuse_same_ids(&rules);
        (rules, allow)
    }

    /// Whether the order is the listed one.
    fn order(&mut self, node: &Node) -> bool {
        self.one_of(node, "order", &[("specificity", false), ("listed", true)]).unwrap_or(false)
    }

    fn allow(&mut self, node: &Node) -> Allow {
        let mut allow = Allow::default();
        for (key, value) in self.mapping(node, "allow", ALLOW_KEYS) {
            for (text, line) in self.texts(value, key) {
                match key {
                    "sha256" => match hex_digest(&text) {
                        Some(digest) => allow.sha256.push(digest),
                        None => self.error(line, "expected a SHA-256 of 64 hexadecimal digits".to_owned()),
                    },
                    _ => match bytes_regex(&format!("^(?:{text})$")) {
                        Ok(regex) => allow.patterns.push(regex),
                        Err(why) => self.error(line, format!("bad pattern: {why}")),
                    },
                }
            }
        }
        allow
    }

    /// What has to stand before a match: one of a list of words, or a service's name, up to `gap` bytes away.
    fn preceded_by(&mut self, node: &Node, gap: usize) -> Option<Before> {
        if scalar(node) == Some("vendors") {
            return Some(Before::vendors(gap));
        }
        let words: Vec<(String, usize)> = self.texts(node, "preceded_by");
        for (_, line) in words.iter().filter(|(word, _)| !before::is_plain(word)) {
            self.error(
                *line,
                "`preceded_by` lists words of 3 lower-case letters and digits or more".to_owned(),
            );
        }
        if words.is_empty() {
            self.error(node.place.line, "`preceded_by` must list words, or be vendors".to_owned());
        }
        let words: Vec<String> = words.into_iter().map(|(word, _)| word).collect();
        (!words.is_empty()).then(|| Before::listed(&words, gap))
    }

    fn rule(&mut self, node: &Node, listed: bool) -> Option<Rule> {
        let entries = self.mapping(node, "a rule", RULE_KEYS);
        let before = self.errors.len();
        let line = node.place.line;
        let get = |key: &str| entries.iter().find(|(name, _)| *name == key).map(|(_, node)| *node);

        let kind = self.required(get("kind"), "kind", line);
        if !kind.is_empty() && !marker::is_kind(kind.as_bytes()) {
            let form = "words of up to 16 letters, or of up to 4 letters and digits; 48 bytes in all";
            self.error(line, format!("kind `{kind}` must be in kebab case, lower case: {form}"));
        }
        let description = self.required(get("description"), "description", line);
        let pattern = self.required(get("pattern"), "pattern", line);
        let anchors: Vec<String> = get("anchors")
            .map(|n| self.texts(n, "anchors"))
            .unwrap_or_default()
            .into_iter()
            .map(|(anchor, _)| anchor)
            .collect();
        let gap = get("gap").map_or(0, |n| self.gap(n));
        let preceded_by = get("preceded_by").and_then(|n| self.preceded_by(n, gap));
        if (anchors.is_empty() && !self.anchors_optional && preceded_by.is_none())
            || anchors.iter().any(String::is_empty)
        {
            self.error(
                line,
                "`anchors` must list at least one literal that stands in every match".to_owned(),
            );
        }
        let confidence = get("confidence").and_then(|n| {
            self.one_of(
                n,
                "confidence",
                &[("confident", Confidence::Confident), ("contextual", Confidence::Contextual)],
            )
        });
        if get("confidence").is_none() {
            self.error(line, "`confidence` is missing: confident or contextual".to_owned());
        }
        let mode = get("mode")
            .and_then(|n| self.one_of(n, "mode", &[("active", Mode::Active), ("audit", Mode::Audit)]));
        let mut flag = |key: &str| {
            let choices = [("true", true), ("false", false)];
            get(key).and_then(|n| self.one_of(n, key, &choices)).unwrap_or(false)
        };
        let (word_start, word_end, integers) = (flag("word_start"), flag("word_end"), flag("integers"));
        let id = get("id").and_then(|n| self.text(n, "id")).unwrap_or_else(|| kind.clone());
        let mut rule = Rule {
            id: Arc::from(id),
            kind: Arc::from(kind.as_str()),
            description,
            source: get("source").and_then(|n| self.text(n, "source")),
            confidence: confidence.unwrap_or(Confidence::Contextual),
            anchors,
            ignore_case: pattern.starts_with(shape::IGNORE_CASE),
            pattern,
            group: get("group").and_then(|n| self.group(n)),
            before_anchor: 0,
            before_secret: 0,
            ends_with_secret: true,
            word_start,
            word_end,
            integers,
            validate: get("validate").map(|n| self.validators(n)).unwrap_or_default(),
            mode: mode.unwrap_or(Mode::Active),
            action: get("action").and_then(|n| self.one_of(n, "action", &ACTIONS)),
            replacement: get("replacement").and_then(|n| self.replacement(n)),
            specificity: if listed { Specificity::KnownFormat } else { specificity(&kind, confidence) },
            cut: None,
            preceded_by,
            spare: Vec::new(),
            examples: Vec::new(),
            counterexamples: Vec::new(),
            origin: Origin { file: Arc::clone(&self.file), line },
        };
        if rule.replacement.is_some() && rule.action.is_some_and(|action| action != Action::Marker) {
            self.error(
                line,
                "a `replacement` only stands in place of a plain marker, not of this `action`".to_owned(),
            );
        }
        rule.examples = get("examples").map(|n| self.examples(n, "examples", &rule.id)).unwrap_or_default();
        rule.counterexamples =
            get("counterexamples").map(|n| self.examples(n, "counterexamples", &rule.id)).unwrap_or_default();
        let cut = get("cut").and_then(|n| self.cut(n));
        let cut_pattern = get("cut_pattern").and_then(|n| self.text(n, "cut_pattern"));
        if self.errors.len() == before {
            self.shape(&mut rule, get("pattern").map_or(line, |n| n.place.line), cut, cut_pattern);
        }
        (self.errors.len() == before).then_some(rule)
    }

    /// What follows from the pattern. `cut` and `own`: `None` if the file doesn't say.
    fn shape(&mut self, rule: &mut Rule, line: usize, cut: Option<CutFrom>, own: Option<String>) {
        let hir = match bytes_regex(&rule.pattern).and_then(|_| shape::parse(&rule.pattern)) {
            Ok(hir) => hir,
            Err(why) => return self.error(line, format!("bad pattern: {why}")),
        };
        if hir.properties().minimum_len().unwrap_or(0) == 0 {
            return self.error(line, "the pattern matches the empty text".to_owned());
        }
        let number = match rule.group.as_ref().map(|group| shape::group_number(&hir, group)) {
            Some(None) => return self.error(line, "the pattern has no such group".to_owned()),
            Some(number) => number,
            None => None,
        };
        if let Some(group) = number {
            rule.before_secret = shape::before_group(&hir, group).unwrap_or(usize::MAX);
            rule.ends_with_secret = shape::ends_with_group(&hir, group);
        }
        let anchored = !rule.anchors.is_empty();
        match shape::before_anchor(&rule.pattern, &rule.anchors).or_else(|| (!anchored).then_some(0)) {
            Some(before) => rule.before_anchor = before,
            None => {
                return self.error(
                    line,
                    "cannot tell that an anchor stands in every match, at a bounded distance from its start"
                        .to_owned(),
                );
            }
        }
        let anchor = rule.anchors.iter().map(String::len).min().unwrap_or(0);
        let counts =
            |v: &Validator| !v.judges_parts() || matches!(v, Validator::MixedCase | Validator::NotHex);
        let at_end = rule.group.is_some() && (cut.is_none() || own.is_some());
        let cut = cut.or(match rule.confidence {
            // Half a number of a person is any number.
            _ if rule.group.is_some() && self.anchors_optional => None,
            _ if rule.group.is_some() && rule.validate.iter().any(counts) => Some(CutFrom::Random),
            Confidence::Contextual if rule.group.is_none() => None,
            _ => Some(CutFrom::Bytes(DEFAULT_CUT)),
        });
        let (floor, random) = match cut {
            None | Some(CutFrom::Never) => return,
            // What stands around a group may stand around a name, too.
            Some(CutFrom::Random) if rule.group.is_some() => (usize::MAX, DEFAULT_CUT),
            Some(CutFrom::Random) => (WORDS_CUT, DEFAULT_CUT),
            Some(CutFrom::Bytes(floor)) => (floor, floor),
        };
        let prefix = if rule.group.is_none() { anchor } else { 0 };
        let (floor, random) = (floor.saturating_add(prefix), prefix + random);
        let derived = || shape::prefixes(&hir, number);
        let pattern = own.as_ref().map_or_else(derived, |own| format!("(?:{own})$"));
        match bytes_regex(&pattern) {
            Ok(regex) if rule.group.is_some() && regex.captures_len() < 2 => {
                self.error(line, "the `cut_pattern` must have the secret in a group".to_owned())
            }
            Ok(_) => {
                let of_own = |own: &String| shape::before_anchor(own, &rule.anchors).unwrap_or(usize::MAX);
                let before_anchor = own.as_ref().map_or(rule.before_anchor, of_own);
                rule.cut = Some(Cut { pattern, floor, random, own: own.is_some(), before_anchor, at_end });
            }
            Err(why) if own.is_some() => self.error(line, format!("bad `cut_pattern`: {why}")),
            Err(why) => self.error(
                line,
                format!("the pattern is too large to be cut: {why}; write `cut: never`, or a `cut_pattern`"),
            ),
        }
    }

    fn cut(&mut self, node: &Node) -> Option<CutFrom> {
        let bytes = |text: &str| text.parse().ok().filter(|n| *n >= 4).map(CutFrom::Bytes);
        let cut = match scalar(node) {
            Some("never") => Some(CutFrom::Never),
            Some("random") => Some(CutFrom::Random),
            text => text.and_then(bytes),
        };
        if cut.is_none() {
            self.error(
                node.place.line,
                "`cut` must be `never`, `random` or a number of bytes from 4".to_owned(),
            );
        }
        cut
    }

    /// How far a word of `preceded_by` may be away, in bytes.
    fn gap(&mut self, node: &Node) -> usize {
        const MOST: usize = 64;
        let gap = scalar(node).and_then(|text| text.parse().ok()).filter(|n| *n <= MOST);
        if gap.is_none() {
            self.error(node.place.line, format!("`gap` must be a number of bytes up to {MOST}"));
        }
        gap.unwrap_or(0)
    }

    fn group(&mut self, node: &Node) -> Option<Group> {
        match scalar(node).map(|text| (text, text.parse::<usize>())) {
            Some((_, Ok(number))) if number > 0 => Some(Group::Index(number)),
            Some((name, Err(_))) if text_of(node).is_some() => Some(Group::Name(name.to_owned())),
            _ => {
                self.error(node.place.line, "`group` must be a name or a number from 1".to_owned());
                None
            }
        }
    }

    /// A replacement may come to stand in JSON, quoted or not, and in a line of a log.
    fn replacement(&mut self, node: &Node) -> Option<String> {
        let text = self.text(node, "replacement")?;
        if text.contains(|c: char| matches!(c, '"' | '\\') || c.is_control()) {
            self.error(
                node.place.line,
                "`replacement` must hold no `\"`, no `\\` and no control character: they would break JSON"
                    .to_owned(),
            );
        }
        Some(text)
    }

    fn validators(&mut self, node: &Node) -> Vec<Validator> {
        self.sequence(node, "validate").iter().filter_map(|item| self.validator(item)).collect()
    }

    fn validator(&mut self, node: &Node) -> Option<Validator> {
        let line = node.place.line;
        if matches!(node.value, Value::Map(_)) {
            let entries = self.mapping(node, "validate", &["entropy"]);
            let (_, bits) = entries.first()?;
            let least =
                scalar(bits).and_then(|text| text.parse().ok()).filter(|bits| (0.0..=8.0).contains(bits));
            if least.is_none() {
                self.error(line, "`entropy` takes bits a byte, from 0 to 8".to_owned());
            }
            return least.map(Validator::Entropy);
        }
        match Validator::from_str(&self.text(node, "validate")?) {
            Ok(validator) => Some(validator),
            Err(unknown) => {
                self.error(line, unknown.to_string());
                None
            }
        }
    }

    fn examples(&mut self, node: &Node, what: &str, id: &str) -> Vec<Example> {
        let mut examples = Vec::new();
        for (at, (text, line)) in self.texts(node, what).into_iter().enumerate() {
            match template::expand(&text, &format!("{id}/{what}/{at}")) {
                Ok(expanded) => {
                    examples.push(Example { text: expanded.text, secrets: expanded.marked, line })
                }
                Err(why) => self.error(line, why),
            }
        }
        examples
    }

    fn refuse_same_ids(&mut self, rules: &[Rule]) {
        for (at, rule) in rules.iter().enumerate() {
            if let Some(first) = rules.iter().take(at).find(|other| other.id == rule.id) {
                let message = format!(
                    "a second rule `{}` (the first is on line {}): give one an `id`",
                    rule.id, first.origin.line
                );
                self.error(rule.origin.line, message);
            }
        }
    }

    fn error(&mut self, line: usize, message: String) {
        self.errors.push(RuleError { origin: Origin { file: Arc::clone(&self.file), line }, message });
    }

    fn mapping<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> Entries<'n> {
        let Value::Map(mapping) = &node.value else {
            self.error(node.place.line, format!("expected {what} to be a mapping"));
            return Vec::new();
        };
        let mut entries = Vec::new();
        for entry in mapping {
            let name = entry.key.as_str();
            if known.contains(&name) {
                entries.push((name, &entry.node));
            } else {
                let message = format!("unknown key `{name}` in {what}; expected one of {}", known.join(", "));
                self.error(entry.place.line, message);
            }
        }
        entries
    }

    fn sequence<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        match &node.value {
            Value::List(items) => items,
            _ => {
                self.error(node.place.line, format!("expected `{what}` to be a list"));
                &[]
            }
        }
    }

    fn texts(&mut self, node: &Node, what: &str) -> Vec<(String, usize)> {
        let items = self.sequence(node, what).iter();
        items.filter_map(|item| self.text(item, what).map(|text| (text, item.place.line))).collect()
    }

    fn text(&mut self, node: &Node, what: &str) -> Option<String> {
        let text = text_of(node).map(str::to_owned);
        if text.is_none() {
            self.error(
                node.place.line,
                format!("expected text in `{what}`; quote it if it looks like a number"),
            );
        }
        text
    }

    fn required(&mut self, node: Option<&Node>, what: &str, line: usize) -> String {
        match node {
            Some(node) => self.text(node, what).unwrap_or_default(),
            None => {
                self.error(line, format!("`{what}` is missing"));
                String::new()
            }
        }
    }

    fn one_of<T: Copy>(&mut self, node: &Node, what: &str, choices: &[(&str, T)]) -> Option<T> {
        let written = scalar(node).unwrap_or_default();
        let chosen = choices.iter().find(|(name, _)| *name == written).map(|(_, value)| *value);
        if chosen.is_none() {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.error(node.place.line, format!("`{what}` must be {}", names.join(" or ")));
        }
        chosen
    }
}

fn scalar(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar { text, .. } => Some(text),
        _ => None,
    }
}

/// Text that every reader of YAML takes for text: other tools read these files too.
fn text_of(node: &Node) -> Option<&str> {
    let Value::Scalar { text, plain } = &node.value else { return None };
    let boolean = ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word));
    let number = text.contains(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_ok();
    (!plain || !(boolean || number)).then_some(text)
}

/// See [`Specificity`].
fn specificity(kind: &str, confidence: Option<Confidence>) -> Specificity {
    match (kind, confidence) {
        ("jwt", _) => Specificity::Jwt,
        ("bearer-token" | "basic-auth", _) => Specificity::Scheme,
        (_, Some(Confidence::Contextual)) => Specificity::Contextual,
        _ => Specificity::KnownFormat,
    }
}

/// Compiles a pattern the way the scanner does.
///
/// # Errors
///
/// The reason on one line.
pub(super) fn bytes_regex(pattern: &str) -> Result<regex::bytes::Regex, String> {
    shape::parse(pattern)?;
    regex::bytes::RegexBuilder::new(pattern)
        .unicode(false)
        .build()
        .map_err(|error| error.to_string().lines().last().unwrap_or_default().to_owned())
}

fn hex_digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(digest)
}
