//! Passwords as configurations, command lines, code, records and people write them: one line of
//! `golden/passwords.txt` each, plain and in JSON; and what is written like one and is none.

use blackbar::redact::Report;

use crate::text::{builtin, scrubbed};

/// Lines with `{}` where the password stands; `\n` is a line end.
const CONTEXTS: &str = include_str!("../golden/passwords.txt");

fn passwords() -> [String; 3] {
    [concat!("hunt", "3r2!Zq9"), concat!("Tr0ub", "4dor&3x"), concat!("s3cr", "3tPw7zz")].map(str::to_owned)
}

#[test]
fn in_every_context() {
    let mut left = Vec::new();
    for line in CONTEXTS.lines() {
        let context: Vec<String> = line.split("\\\\").map(|part| part.replace("\\n", "\n")).collect();
        let context = context.join("\\");
        for password in passwords() {
            let text = context.replace("{}", &password);
            let nested = serde_json::json!({ "output": format!("$ x\n{text}\nok") }).to_string();
            let twice = serde_json::json!({ "result": nested }).to_string();
            let at_the_end =
                serde_json::json!({ "a": serde_json::json!({ "o": text }).to_string() }).to_string();
            for text in [text, nested, twice, at_the_end] {
                let out = builtin().scrub(None, text.as_bytes(), &mut Report::default());
                let out = out.map_or(text.clone(), |out| String::from_utf8(out).unwrap());
                if out.contains(&password) {
                    left.push(format!("{text} -> {out}"));
                }
                if serde_json::from_str::<serde_json::Value>(&text).is_ok() {
                    assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{text} -> {out}");
                }
                assert_eq!(
                    builtin().scrub(None, out.as_bytes(), &mut Report::default()),
                    None,
                    "{text} -> {out}"
                );
            }
        }
    }
    assert!(left.is_empty(), "{} left:\n{}", left.len(), left.join("\n"));
}

#[test]
fn words_about_passwords_stay() {
    for text in [
        r#"{"token":["string","null"]}"#,
        r#"{"credentials":{"type":"object","x":"string"}}"#,
        "Authorization: AWS4-HMAC-SHA256",
        "password: passwordSchema,",
        "sed 's/password=.*/password=/'",
        "grep -E 'password=[^ ]+' f",
        r"re.compile(r'password=(\S+)')",
        "password: { type: String, required: true }",
        "password is required and must be 8+ characters",
        "password is SHA256 hashed",
        "Password is base64-encoded",
        "the password for MySQL8 is stored in Vault",
        "password to login is in 1Password",
        "Password: min 8 chars",
        "password reset to default",
        "self.password = password1",
        "password = input(\"Password1: \")",
        "<input type=\"password\" name=\"password1\" id=\"pw2\">",
        "password(\"Enter password 2x\")",
        "| password | string | Required |",
        "| `password` | `string` | the password2 |",
        "password | varchar(255) | NOT NULL",
        "password varchar(255) not null",
        "password VARCHAR2(64)",
        "password are $auth1 and $auth2",
        "pass: 12/12",
        "pass: test_foo2",
        "pass=true&x=1",
        "{\"pass\": 3, \"fail\": \"0\"}",
        "$pass = $_POST[\"pass\"];",
        "first-pass: O(n2)",
        "login page: https://x2.example",
        "Pre-login imap/pop3-login process",
        "zstyle ':completion:*:*:kill:*:processes2' verbose no",
        "identified by FEAT_LS64 implements",
        "gzip -9 -P",
    ] {
        assert_eq!(scrubbed(builtin(), text), text);
    }
}
