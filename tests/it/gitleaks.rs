//! A gitleaks configuration loads as it is, finds what it finds there, and what of it doesn't count is told.

use std::fs;

use blackbar::config::Env;
use blackbar::redact::rules::{Confidence, RuleSet, Specificity};
use blackbar::redact::{Report, TextScrubber};

use crate::actions::config;
use crate::cli::{blackbar, code, err, out};
use crate::config::load_text;

const FILE: &str = r#"
title = "ours"
betterleaksMinVersion = "v1"

[extend]
useDefault = true
disabledRules = ["generic-api-key"]

[allowlist]
description = "of the file"
paths = ['''vendor/.*''']
regexes = ['''^EXAMPLE''', '''(?<=x)bad''']
stopwords = ["donotuse"]

[[allowlists]]
targetRules = ["acme-key"]
regexTarget = "line"
regexes = ['''# test$''']

[[rules]]
id = "acme-key"
description = "Key of Acme"
regex = '''\b(ACME_(?i)[a-z0-9]{20})(?:['"\x60\s;]|\\[nr]|$)'''
entropy = 2.5
keywords = ["acme_"]

[[rules]]
id = "1widget-internationalization"
regex = '''(?i)[\w.-]{0,20}?(?:widget)(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:)[\x60'"\s=]{0,5}([a-f0-9]{16})(?:[\x60'"\s;]|$)'''
keywords = ["Widget"]
tags = ["x"]

[[rules]]
id = "near"
description = "Its keyword stands elsewhere"
regex = '''[0-9]{6}-[0-9]{6}'''
keywords = ["payroll"]

[[rules]]
id = "no-keywords"
regex = '''nk\<([a-z]{8})\>'''

[[rules]]
id = "nothing-to-look-for"
regex = '''[0-9A-F]{4}:[0-9A-F]{8}:[0-9A-F]{4}'''

[[rules]]
id = "which-group"
regex = '''wg=(?:([a-z]{6})|([0-9]{6}))'''
keywords = ["wg="]

[[rules]]
id = "second"
regex = '''(sec)_([a-z]{6}){1}'''
secretGroup = 2
keywords = ["sec_"]
    [[rules.allowlists]]
    condition = "AND"
    regexes = ['''^a''']
    stopwords = ["zz"]
    [[rules.allowlists]]
    condition = "AND"
    paths = ['''x''']
    regexes = ['''.*''']
    [rules.allowlist]
    regexTarget = "match"
    regexes = ['''^sec_b''']

[[rules]]
id = "file-only"
path = '''\.p12$'''

[[rules]]
id = "file-too"
path = '''\.ya?ml$'''
regex = '''ft_[0-9]{6}'''
keywords = ["ft_"]

[[rules]]
id = "look-behind"
regex = '''(?<=x)lb_[0-9]{6}'''
keywords = ["lb_"]

[[rules]]
id = "helper"
regex = '''h_[0-9]{6}'''
keywords = ["h_"]
skipReport = true

[[rules]]
id = "near"
regex = '''nn_[0-9]{6}'''
keywords = ["nn_"]

[[rules]]
id = "no-such-group"
regex = '''g_[0-9]{6}'''
secretGroup = 1
keywords = ["g_"]
"#;

fn imported() -> (RuleSet, Vec<String>) {
    let (set, notes) = RuleSet::from_gitleaks("ours.toml", FILE).unwrap();
    (set, notes.iter().map(|note| format!("{}: {}", note.origin.line, note.message)).collect())
}

#[test]
fn rules_find_what_they_find_in_gitleaks() {
    let (set, _) = imported();
    let scrubber = TextScrubber::new(set).unwrap();
    let acme = "ACME_a1b2c3d4e5f6g7h8i9j0";
    for (text, expected) in [
        (format!("key '{acme}' x"), "key '[REDACTED:acme-key]' x"),
        (format!("a\\n{acme}\\n"), "a\\n[REDACTED:acme-key]\\n"),
        ("ACME_aaaaaaaaaaaaaaaaaaaa".to_owned(), "ACME_aaaaaaaaaaaaaaaaaaaa"),
        (
            "my_WIDGET_token = \"0123456789abcdef\"".to_owned(),
            "my_WIDGET_token = \"[REDACTED:1-widget-internationaliza-tion]\"",
        ),
        ("123456-123456 of nobody".to_owned(), "123456-123456 of nobody"),
        ("123456-123456 of Payroll, 654321-654321".to_owned(), "[REDACTED:near] of Payroll, [REDACTED:near]"),
        ("nk<abcdefgh>".to_owned(), "nk<[REDACTED:no-keywords]>"),
        ("at 12AB:12345678:34CD.".to_owned(), "at [REDACTED:nothing-to-look-for]."),
        ("wg=abcdef wg=123456".to_owned(), "wg=[REDACTED:which-group] wg=[REDACTED:which-group]"),
        ("sec_abcdef".to_owned(), "sec_[REDACTED:second]"),
        (
            "ft_123456 h_123456 nn_123456 xlb_123456".to_owned(),
            "[REDACTED:file-too] h_123456 nn_123456 xlb_123456",
        ),
        // Lists of the file, of a rule, of both forms.
        ("nk<donotuse>".to_owned(), "nk<donotuse>"),
        (format!("{acme} # test"), &format!("{acme} # test")),
        (format!("{acme} # test\n{acme}"), &format!("{acme} # test\n[REDACTED:acme-key]")),
        ("nk<abcdefgh> # test".to_owned(), "nk<[REDACTED:no-keywords]> # test"),
        ("sec_azzbcd sec_zzabcd sec_bbcdef".to_owned(), "sec_azzbcd sec_[REDACTED:second] sec_bbcdef"),
    ] {
        let scrubbed = scrubber.scrub(None, text.as_bytes(), &mut Report::default());
        let scrubbed = scrubbed.map_or(text.clone(), |scrubbed| String::from_utf8(scrubbed).unwrap());
        assert_eq!(scrubbed, expected, "{text}");
    }
}

#[test]
fn what_does_not_count_is_told_with_its_line() {
    let (set, notes) = imported();
    let line = |part: &str| 1 + FILE.lines().position(|line| line.contains(part)).unwrap();
    let last =
        |part: &str| FILE.lines().count() - FILE.lines().rev().position(|line| line.contains(part)).unwrap();
    let rule = |id: &str| line(&format!("id = \"{id}\"")) - 1;
    for (line, part) in [
        (line("[extend]"), "useDefault: gitleaks' own rules are not loaded"),
        (line("[extend]"), "disabledRules: there is nothing"),
        (line("[allowlist]"), "an allowlist of the file: no paths in telemetry"),
        (line("[allowlist]"), "a regex does not compile: look-around"),
        (rule("nothing-to-look-for"), "every text is searched: slow"),
        (rule("file-only"), "left out: rule `file-only`: it has no regex"),
        (rule("file-too"), "rule `file-too`: counts everywhere"),
        (rule("look-behind"), "left out: rule `look-behind`: its regex does not compile: look-around"),
        (rule("helper"), "left out: rule `helper`: it reports nothing"),
        (last("id = \"near\"") - 1, "left out: a second rule `near`"),
        (rule("no-such-group"), "left out: rule `no-such-group`: its regex has no group"),
    ] {
        let found = notes.iter().any(|note| note.starts_with(&format!("{line}: ")) && note.contains(part));
        assert!(found, "{line}: {part}\n{}", notes.join("\n"));
    }
    assert_eq!(notes.len(), 12, "{}", notes.join("\n"));
    let ids: Vec<&str> = set.rules().iter().map(|rule| &*rule.id).collect();
    let expected = [
        "acme-key",
        "1widget-internationalization",
        "near",
        "no-keywords",
        "nothing-to-look-for",
        "which-group",
        "second",
        "file-too",
    ];
    assert_eq!(ids, expected);
    // How far back a match may begin from its keyword is known, or the whole text is searched.
    let before: Vec<usize> = set.rules().iter().map(|rule| rule.before_anchor).collect();
    assert_eq!(before, [0, 20, usize::MAX, 0, 0, 0, 0, 0]);
    // A secret with a sign of its own names the marker before one that takes a name beside it.
    let ranks: Vec<_> = set.rules().iter().take(2).map(|rule| (rule.confidence, rule.specificity)).collect();
    assert_eq!(
        ranks,
        [
            (Confidence::Confident, Specificity::KnownFormat),
            (Confidence::Contextual, Specificity::Contextual)
        ]
    );
}

#[test]
fn a_configuration_names_the_file_and_the_commands_tell_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("gitleaks.toml");
    fs::write(&file, FILE).unwrap();
    let settings = |more: &str| config(&format!("{{ rules: {{ gitleaks: ['{}']{more} }} }}", file.display()));
    let yaml = format!("yaml:{}", settings(""));
    for (command, said) in [(&["check"][..], "the configuration is right"), (&["rules", "list"], "acme-key")]
    {
        let output = blackbar(&[command, &["--config", &yaml]].concat(), &[], b"");
        assert_eq!(code(&output), 0, "{}", err(&output));
        assert!(out(&output).contains(said), "{}", out(&output));
        let told = err(&output);
        let line = format!(
            "warning: {}:{}: left out: rule `file-only`",
            file.display(),
            1 + FILE.lines().take_while(|line| !line.contains("file-only")).count() - 1
        );
        assert!(told.contains(&line) && told.contains("note: "), "{line}\n{told}");
    }
    // Its rules are named like any other; what its lists spare is spared of its own rules only.
    let token = format!("{}{}", concat!("gh", "p_"), "donotuse".repeat(5));
    let yaml = format!("yaml:{}", settings(", disable: [file-too], actions: { no-keywords: mask }"));
    let output = blackbar(
        &["scrub", "--quiet", "--config", &yaml],
        &[],
        format!("ft_123456\n{token}\nnk<abcdefgh>").as_bytes(),
    );
    assert_eq!(out(&output), "ft_123456\n[REDACTED:github-token]\n[REDACTED:masked]");

    fs::write(&file, "[[rules]]\nid = 'a'\nregex = [\n\nx").unwrap();
    let problems = load_text(&settings(""), &Env::default()).unwrap_err().to_string();
    assert!(
        problems.contains("gitleaks.toml:") && problems.contains("rules.gitleaks: not valid TOML"),
        "{problems}"
    );
    fs::remove_file(&file).unwrap();
    let problems = load_text(&settings(""), &Env::default()).unwrap_err().to_string();
    assert!(
        problems.contains("rules.gitleaks: rule file") && problems.contains("cannot be read"),
        "{problems}"
    );
}
