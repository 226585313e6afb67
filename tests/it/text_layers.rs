//! Tokens in the encodings and in the pieces that agents' telemetry has them in: dumps, streams, strings, lines, markup.
//!
//! A row holds the token or its halves; nothing of it may be left, what was valid JSON is valid JSON, and once is enough.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blackbar::redact::Report;
use serde_json::json;

use crate::text::builtin;

/// Tokens of different make: long and short, with a checksum, with signs, of several parts.
fn tokens() -> Vec<String> {
    let alnum = "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2g3H4i5J";
    let url = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    vec![
        format!("gh{}_{}", "p", &alnum[..36]),
        format!("sk-{}-api03-{}-{}AA", "ant", &alnum[..50], &alnum[4..46]),
        format!("AK{}7Q3MZ5PLXW2VNB4K", "IA"),
        format!("glp{}-{}", "at", "Zx9_kT2bQw7Lm4Rs8-Vp"),
        format!("xox{}-{}-{}-{}", "b", "2345678901234", "3456789012345", &alnum[..24]),
        format!(
            "{}.{}.{}",
            url.encode(r#"{"alg":"HS256","typ":"JWT"}"#),
            url.encode(r#"{"sub":"1234567890","name":"Jo"}"#),
            &alnum[..43]
        ),
    ]
}

fn scrubbed(text: &str, what: &str) -> String {
    let mut report = Report::default();
    let out = builtin().scrub(None, text.as_bytes(), &mut report);
    let out = out.unwrap_or_else(|| panic!("{what}: not found in {text}"));
    assert!(report.unscanned.is_empty(), "{what}");
    let out = String::from_utf8(out).unwrap();
    if serde_json::from_str::<serde_json::Value>(text).is_ok() {
        assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{what}: {out}");
    }
    assert_eq!(builtin().scrub(None, out.as_bytes(), &mut Report::default()), None, "{what}: changed twice");
    out
}

fn assert_gone(text: &str, parts: &[&str], what: &str) {
    let out = scrubbed(text, what);
    for part in parts {
        assert!(!out.contains(part), "{what}: {part} is left in {out} of {text}");
    }
}

/// Pieces of so many characters.
fn pieces(token: &str, len: usize) -> Vec<&str> {
    (0..token.len()).step_by(len).map(|at| &token[at..token.len().min(at + len)]).collect()
}

/// Where a token stands in one piece: one line of `golden/contexts.txt` each, as it stands and with its escapes taken off.
#[test]
fn contexts_of_a_token() {
    let unescaped = |line: &str| {
        let escapes = [("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ("\\x1b", "\u{1b}"), ("\\x00", "\0")];
        escapes.iter().fold(line.to_owned(), |line, (escape, byte)| line.replace(escape, byte))
    };
    for line in include_str!("../golden/contexts.txt").lines() {
        for context in [line.to_owned(), unescaped(line)] {
            for token in tokens() {
                let text = context.replace("{}", &token);
                let nested = json!({ "a": json!({ "o": text }).to_string() }).to_string();
                for text in [text, nested] {
                    assert_gone(&text, &[&token], line);
                }
            }
        }
    }
}

#[test]
fn halves_of_a_token() {
    let rows = [
        // Strings of many languages.
        r#"k = "{A}" + "{B}""#,
        "k = '{A}' '{B}'",
        "k = (\n    \"{A}\"\n    \"{B}\"\n)",
        r#"k = f"{A}" f"{B}""#,
        "k = (b'{A}'\n     b'{B}')",
        r#"local k = "{A}" .. "{B}""#,
        "$k = '{A}' . '{B}';",
        "my $k = \"{A}\".\"{B}\";",
        "const k = `{A}` + `{B}`",
        "const k = \"{A}\"\n  + \"{B}\";",
        "k = \"{A}\" +  # the first half\n    \"{B}\"",
        r#"k = "{A}" & "{B}""#,
        "k = \"{A}\" & _\n    \"{B}\"",
        "select '{A}' || '{B}'",
        r#"k = "{A}" <> "{B}""#,
        r#"k = "{A}" ++ "{B}""#,
        r#"let k = "{A}" ^ "{B}""#,
        r#"["{A}", "{B}"].join("")"#,
        "k = ''.join(['{A}', '{B}'])",
        r#"join("", ["{A}", "{B}"])"#,
        "CONCAT('{A}', '{B}')",
        r#"concat!("{A}", "{B}")"#,
        r#"paste0("{A}", "{B}")"#,
        r#"sb.append("{A}").append("{B}")"#,
        "k = \"{A}\"\nk += \"{B}\"",
        "$k = '{A}';\n$k .= '{B}';",
        "    KEY = \"{A}\" \\\n          \"{B}\"",
        "K='{A}'\"{B}\"",
        "K={A}\\\n{B}",
        "curl -H x:{A}\\\n   {B}",
        "$k = \"{A}`\n{B}\"",
        "key: \"{A}\\\n    {B}\"",
        // Lines.
        "the key is {A}\n{B} and so on",
        "the key is {A}\r\n        {B} and so on",
        "the key is\n{A}\n{B} and so on",
        "key {A}\n\n{B} ok",
        "key {A}    \n{B} end",
        "key {A}\r{B} end",
        "key {A}\u{1b}[K\r\n{B}",
        "a,\"KEY={A}\n{B}\",c",
        "+KEY={A}\n+{B}\n",
        "+k = \"{A}\" +\n+    \"{B}\"\n",
        "    12\tKEY={A}\n    13\t{B}\n",
        "     9→KEY={A}\n    10→{B}\n",
        "12:KEY={A}\n13:{B}\n",
        "src/a.py:12:KEY={A}\nsrc/a.py:13:{B}\n",
        "     1  KEY={A}\n     2  {B}\n",
        "12 |     let k = \"{A}\\\n13 |         {B}\";\n",
        "  12   │ KEY={A}\n  13   │ {B}\n",
        "> KEY={A}\n> {B}\n",
        "// KEY={A}\n// {B}\n",
        " * KEY={A}\n * {B}\n",
        "│ KEY={A}     │\n│ {B}          │\n",
        "| KEY={A} |\n| {B} |\n",
        "[12:00:01] KEY={A}\n[12:00:02] {B}\n",
        "2024-11-30T10:00:00Z INFO KEY={A}\n2024-11-30T10:00:01Z INFO {B}\n",
        "web-1  | KEY={A}\nweb-1  | {B}\n",
        "2024-11-30T10:00:00.123456789Z stdout P KEY={A}\n2024-11-30T10:00:00.223456789Z stdout F {B}\n",
        "Nov 30 10:00:00 host app[123]: KEY={A}\nNov 30 10:00:00 host app[123]: {B}\n",
        "^1a2b3c4 (Bob 2024-01-01 10:00:00 +0100  1) KEY={A}\n^1a2b3c4 (Bob 2024-01-01 10:00:00 +0100  2) {B}\n",
        r#"{"text":"KEY={A}\n{B} and"}"#,
        r#"{"a":"{\"text\":\"KEY={A}\\n    {B} and\"}"}"#,
        "k8s:\n  data: >-\n    {A}\n    {B}\nx: 1\n",
        // Markup and characters.
        "<p>key {A}<wbr>{B}</p>",
        "<p>key {A}<br/>\n{B}</p>",
        "<code><span class=\"s\">{A}</span><span class=\"s\">{B}</span></code>",
        "key {A}^[[0m{B}",
        "key {A}\u{9b}31m{B}",
        "key {A}\u{1b}]8;;http://x.example\u{1b}\\{B}",
        "key {A}\u{2060}{B}",
        "key {A}\u{fe0f}{B}",
        "key {A}\u{e0100}{B}",
        "key {A}\u{202e}{B}",
        "key {A}\u{3164}{B}",
        "key {A}\u{336}{B}",
        "key {A}\u{7f}{B}",
        "key {A}=\n{B} end=3D",
    ];
    for token in tokens() {
        let (a, b) = token.split_at(token.len() / 2);
        for row in rows {
            assert_gone(&row.replace("{A}", a).replace("{B}", b), &[a, b], row);
        }
    }
}

#[test]
fn streams_of_deltas() {
    type Frame = fn(&str) -> String;
    let frames: [(&str, Frame); 14] = [
        ("chat completions", |p| {
            format!(
                "data: {}\n\n",
                json!({"id": "c-9xYz", "created": 1_732_980_000, "choices": [{"index": 0, "delta": {"content": p}, "finish_reason": null}]})
            )
        }),
        ("tool calls", |p| {
            format!(
                "data: {}\n\n",
                json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": p}}]}}]})
            )
        }),
        ("messages", |p| {
            format!(
                "event: content_block_delta\ndata: {}\n\n",
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": p}})
            )
        }),
        ("tool input", |p| {
            format!(
                "event: content_block_delta\ndata: {}\n\n",
                json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": p}})
            )
        }),
        ("responses", |p| {
            format!(
                "event: response.output_text.delta\ndata: {}\n\n",
                json!({"type": "response.output_text.delta", "item_id": "msg_67c9fdcf37", "delta": p, "logprobs": [], "obfuscation": "abcdEF12"})
            )
        }),
        ("parts", |p| {
            format!(
                "data: {}\r\n\r\n",
                json!({"candidates": [{"content": {"parts": [{"text": p}], "role": "model"}}]})
            )
        }),
        ("JSON lines", |p| {
            format!(
                "{}\n",
                json!({"model": "m", "created_at": "2024-01-01T00:00:00Z", "response": p, "done": false})
            )
        }),
        ("container log", |p| {
            format!("{}\n", json!({"log": p, "stream": "stdout", "time": "2024-01-01T00:00:00Z"}))
        }),
        ("numbered parts", |p| format!("0:{}\n", json!(p))),
        ("recorded terminal", |p| format!("[0.25, \"o\", {}]\n", json!(p))),
        ("printed objects", |p| {
            format!(
                "ChatCompletionChunk(id='c-9', choices=[Choice(delta=ChoiceDelta(content='{p}', role=None), index=0)], created=1)\n"
            )
        }),
        ("printed messages", |p| {
            format!("content='{p}' additional_kwargs={{}} response_metadata={{}} id='run-7'\n")
        }),
        ("data lines", |p| format!("data: {p}\n\n")),
        ("list", |p| format!("{},\n", json!({"delta": {"content": p}}))),
    ];
    for token in tokens() {
        let (a, b) = token.split_at(token.len() / 2);
        for (name, frame) in frames {
            let two = [frame(&format!("the key {a}")), frame(&format!("{b} ok"))].concat();
            assert_gone(&two, &[a, b], name);
            assert_gone(&json!({ "body": two }).to_string(), &[a, b], name);
            let deltas = pieces(&token, 5);
            let many: String = deltas.iter().map(|delta| frame(delta)).collect();
            let many = [frame("the key "), many, frame(" ok")].concat();
            let left: Vec<String> = deltas.iter().map(|delta| frame(delta)).collect();
            assert_gone(&many, &left.iter().map(String::as_str).collect::<Vec<_>>(), name);
        }
        let list = json!({ "chunks": pieces(&token, 5).iter().map(|p| json!({"delta": {"content": p}})).collect::<Vec<_>>() });
        assert_gone(&list.to_string(), &[&json!(pieces(&token, 5)[1]).to_string()], "list in JSON");
    }
}

#[test]
fn of_a_stream_only_the_pieces_go() {
    let frame = |text: &str| format!("data: {}\n\n", json!({"id": "c-1", "delta": {"content": text}}));
    let token = &tokens()[0];
    let text = [frame("my key is gh"), frame(&token[2..20]), frame(&token[20..]), frame(" indeed")].concat();
    let expected =
        [frame("my key is [REDACTED:github-token]"), frame(""), frame(""), frame(" indeed")].concat();
    assert_eq!(scrubbed(&text, "stream"), expected);
    let mut report = Report::default();
    builtin().scrub(None, text.as_bytes(), &mut report);
    assert_eq!(report.total(), 1);
    let text = [frame("The password"), frame(": hun"), frame("ter2!Zq9x and")].concat();
    let out = scrubbed(&text, "password");
    assert!(!out.contains("hun") && !out.contains("ter2"), "{out}");
}

#[test]
fn dumps_and_arrays_of_bytes() {
    for token in tokens() {
        let text = format!("KEY={token}\n");
        let (bytes, inner) = (text.as_bytes(), token.as_bytes());
        let hex =
            |bytes: &[u8], sep: &str| bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(sep);
        let list = |form: fn(&u8) -> String, sep: &str| inner.iter().map(form).collect::<Vec<_>>().join(sep);
        let shown = |line: &[u8]| -> String {
            line.iter().map(|b| if b.is_ascii_graphic() { char::from(*b) } else { '.' }).collect()
        };
        let lines = |form: &dyn Fn(usize, &[u8]) -> String| -> String {
            bytes.chunks(16).enumerate().map(|(n, line)| form(n * 16, line) + "\n").collect()
        };
        let words = |line: &[u8], swap: bool| {
            let word = |pair: &[u8]| match (pair, swap) {
                ([a, b], true) => format!("{b:02x}{a:02x}"),
                (pair, _) => hex(pair, ""),
            };
            line.chunks(2).map(word).collect::<Vec<_>>().join(" ")
        };
        let second = &bytes[16..bytes.len().min(32) & !1];
        let dumps = [
            ("xxd", lines(&|at, l| format!("{at:08x}: {:<39}  {}", words(l, false), shown(l)))),
            (
                "hexdump -C",
                lines(&|at, l| {
                    let (a, b) = l.split_at(l.len().min(8));
                    format!("{at:08x}  {:<23}  {:<23}  |{}|", hex(a, " "), hex(b, " "), shown(l))
                }),
            ),
            ("hexdump", lines(&|at, l| format!("{at:07x} {}", words(l, true)))),
            ("od -t x1", lines(&|at, l| format!("{at:07o} {}", hex(l, " ")))),
            (
                "od",
                lines(&|at, l| {
                    let word = |pair: &[u8]| {
                        format!("{:06o}", u16::from(pair[0]) | u16::from(*pair.get(1).unwrap_or(&0)) << 8)
                    };
                    format!("{at:07o} {}", l.chunks(2).map(word).collect::<Vec<_>>().join(" "))
                }),
            ),
            (
                "od -c",
                lines(&|at, l| {
                    let cell = |b: &u8| {
                        if b.is_ascii_graphic() {
                            format!("   {}", char::from(*b))
                        } else {
                            "  \\n".to_owned()
                        }
                    };
                    format!("{at:07o}{}", l.iter().map(cell).collect::<String>())
                }),
            ),
            (
                "debugger",
                lines(&|at, l| {
                    format!(
                        "0x7ffe{at:04x}:\t{}",
                        l.iter().map(|b| format!("0x{b:02x}")).collect::<Vec<_>>().join("\t")
                    )
                }),
            ),
        ];
        let left = [shown(second), hex(second, " "), words(second, false), words(second, true)];
        for (name, dump) in &dumps {
            let parts: Vec<&str> = left.iter().map(String::as_str).collect();
            assert_gone(dump, &parts, name);
            assert_gone(&json!({ "out": format!("$ dump f\n{dump}") }).to_string(), &parts, name);
        }
        let arrays = [
            ("spaced hex", hex(inner, " ")),
            ("colons", hex(inner, ":")),
            ("dashes", hex(inner, "-").to_uppercase()),
            ("C", format!("char k[] = {{{}}};", list(|b| format!("0x{b:02x}"), ", "))),
            ("lines of C", format!("char k[] = {{\n  {}\n}};", list(|b| format!("0x{b:02x},"), "\n  "))),
            ("Go", format!("[{}]", list(|b| b.to_string(), " "))),
            ("Python", format!("bytes([{}])", list(|b| b.to_string(), ", "))),
            ("Node", format!("<Buffer {}>", hex(inner, " "))),
            ("JSON", json!(inner).to_string()),
            ("JSON of Node", json!({"type": "Buffer", "data": inner}).to_string()),
            ("JSON in JSON", json!({"a": json!({"type": "Buffer", "data": inner}).to_string()}).to_string()),
            ("binary", list(|b| format!("{b:08b}"), " ")),
            ("characters", format!("[{}]", list(|b| format!("'{}'", char::from(*b)), ", "))),
        ];
        let middle = &inner[8..14];
        let left = [
            hex(middle, " "),
            hex(middle, ":"),
            hex(middle, "-").to_uppercase(),
            middle.iter().map(|b| b.to_string()).collect::<Vec<_>>().join(","),
            middle.iter().map(|b| b.to_string()).collect::<Vec<_>>().join(", "),
            middle.iter().map(|b| b.to_string()).collect::<Vec<_>>().join(" "),
            middle.iter().map(|b| format!("0x{b:02x}")).collect::<Vec<_>>().join(", "),
            middle.iter().map(|b| format!("0x{b:02x},")).collect::<Vec<_>>().join("\n  "),
            middle.iter().map(|b| format!("{b:08b}")).collect::<Vec<_>>().join(" "),
            middle.iter().map(|b| format!("'{}'", char::from(*b))).collect::<Vec<_>>().join(", "),
        ];
        for (name, array) in &arrays {
            assert_gone(array, &left.iter().map(String::as_str).collect::<Vec<_>>(), name);
        }
    }
}

#[test]
fn further_encodings() {
    for token in tokens() {
        let text = format!("x: 1\nKEY={token}\nlonger text that is wrapped over a line or two");
        let utf16 = |before: &str, swap: bool| {
            let units = format!("{before}{token}");
            let bytes: Vec<u8> = units
                .encode_utf16()
                .flat_map(|u| if swap { u.to_be_bytes() } else { u.to_le_bytes() })
                .collect();
            STANDARD.encode(bytes)
        };
        let encoded = STANDARD.encode(&text);
        let wrapped = |width: usize, glue: &str| pieces(&encoded, width).join(glue);
        let gzip = || {
            use std::io::Write as _;
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            writer.write_all(text.as_bytes()).unwrap();
            STANDARD.encode(writer.finish().unwrap())
        };
        let entities = |form: fn(&u8) -> String| token.as_bytes().iter().map(form).collect::<String>();
        let wide: String =
            token.chars().map(|c| char::from_u32(u32::from(c) - 0x21 + 0xff01).unwrap()).collect();
        let rows = [
            ("UTF-16", utf16("$x = \"é€漢字\" ; key ", false)),
            ("UTF-16, big endian", utf16("key ", true)),
            (
                "UTF-16 after CJK",
                utf16("日本語テキスト日本語テキスト日本語テキスト日本語テキスト漢字漢字漢字漢字 key ", false),
            ),
            ("base64 in 64 columns", wrapped(64, "\n")),
            ("base64 in 76 columns of YAML", format!("data:\n  x: |\n    {}", wrapped(76, "\n    "))),
            ("base64 in strings", format!("\"{}\"", wrapped(32, "\" +\n  \""))),
            ("base64 twice", STANDARD.encode(&encoded)),
            ("gzip", gzip()),
            ("gzip in base64 twice", STANDARD.encode(gzip())),
            ("entities", entities(|b| format!("&#{b};"))),
            ("entities without their end", entities(|b| format!("&#x{b:x}")) + " "),
            ("quoted-printable throughout", entities(|b| format!("={b:02X}"))),
            ("percent-u", entities(|b| format!("%u{b:04x}"))),
            ("full width", format!("key {wide} end")),
        ];
        for (name, row) in &rows {
            let middle = row.char_indices().nth(row.chars().count() / 2 - 6).unwrap().0;
            let end = row[middle..].char_indices().nth(12).unwrap().0;
            assert_gone(row, &[&row[middle..middle + end]], name);
            assert_gone(&json!({ "out": row }).to_string(), &[&row[middle..middle + end]], name);
        }
    }
}

/// Neighbours are no pieces of a token that is whole by itself.
#[test]
fn what_stands_beside_a_token_stays() {
    let token = &tokens()[0];
    for (text, expected) in [
        (format!(r#"["{token}", "node2x", "b3"]"#), r#"["[REDACTED:github-token]", "node2x", "b3"]"#),
        (format!(r#"{{"a":"{token}","key2":"v2"}}"#), r#"{"a":"[REDACTED:github-token]","key2":"v2"}"#),
        (format!("run '{token}' 'arg2'"), "run '[REDACTED:github-token]' 'arg2'"),
        (format!("<a>{token}</a><b2>x1</b2>"), "<a>[REDACTED:github-token]</a><b2>x1</b2>"),
        (format!("key {token}\nand more"), "key [REDACTED:github-token]\nand more"),
    ] {
        assert_eq!(scrubbed(&text, "neighbours"), expected);
    }
}
