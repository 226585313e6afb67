//! Names and values as agents, tools and SDKs write them: what must go, and what must stay byte for byte.

use blackbar::redact::text::KeyPath;
use blackbar::redact::{Report, TextScrubber};

const PASSWORD: &str = concat!("hunt", "er2!Zq9");
const TOKEN: &str = concat!("9aF3kQ7z", "X2mB8vL4");

fn scrubbed(key: Option<&str>, text: &[u8]) -> Vec<u8> {
    let builtin = TextScrubber::builtin().unwrap();
    let keys = key.map(|key| KeyPath { key: key.as_bytes(), parent: None });
    let scrub = |text: &[u8]| builtin.scrub(keys.as_ref(), text, &mut Report::default());
    let Some(out) = scrub(text) else { return text.to_vec() };
    assert_eq!(scrub(&out), None, "not idempotent: {}", String::from_utf8_lossy(&out));
    out
}

fn assert_kept(text: &str) {
    assert_eq!(String::from_utf8(scrubbed(None, text.as_bytes())).unwrap(), text);
}

/// Each line holds `{}` where the secret stands; the rest of it stays.
fn assert_only_the_secret_goes(templates: &[&str], secret: &str, kind: &str) {
    for template in templates {
        let text = template.replace("{}", secret);
        let out = String::from_utf8(scrubbed(None, text.as_bytes())).unwrap();
        assert_eq!(out, template.replace("{}", &format!("[REDACTED:{kind}]")), "{text}");
    }
}

#[test]
fn names_and_values_in_lists() {
    let templates = [
        r#"[["X-Api-Key", "{}"], ["Accept", "*/*"]]"#,
        r#"{"rawHeaders": ["Accept", "*/*", "Authorization", "{}"]}"#,
        "[(b'X-Api-Key', b'{}')]",
        "('Authorization', '{}')",
        r#"req.setHeader("X-Api-Key", "{}")"#,
        "os.getenv('API_KEY', '{}')",
        "map[X-Api-Key:[{}] Accept:[*/*]]",
        "Authorization: {}\r\nAccept: */*",
        r#"{"key": "API_KEY", "value": {"stringValue": "{}"}}"#,
        r#"{"ParameterKey": "ApiKey", "ParameterValue": "{}"}"#,
        r#"{"name": "X-Api-Key", "meta": {"a": [1]}, "value": "{}"}"#,
    ];
    assert_only_the_secret_goes(&templates, TOKEN, "secret");
}

#[test]
fn assignments_of_every_language() {
    let templates = [
        "API_TOKEN ?= \"{}\"",
        "API_TOKEN ::= \"{}\"",
        "API_TOKEN :::= {}",
        "$apiToken .= \"{}\";",
        "var apiToken string = \"{}\"",
        "const apiToken: &'static str = \"{}\";",
        "let apiToken: Option<&str> = Some(\"{}\");",
        "api_token = String::from(\"{}\");",
        "api_token: SecretStr('{}')",
        "apiToken: str | None = \"{}\"",
        "buildConfigField 'String' , 'API_TOKEN' , '\"{}\"'",
        "char api_token[] = \"{}\";",
        "static const char api_token[64] = \"{}\";",
        "if x: api_token = \"{}\"",
    ];
    assert_only_the_secret_goes(&templates, TOKEN, "secret");
    for text in [
        "if (api_token[0] == 'aB3dE5gH7jK9mN1p')",
        "a::token = Kind::One",
        "x: i32 = 17; y: token = 5",
        "api_token = std::getenv(\"API_TOKEN\")",
        "token: t(\"auth.sign_in_2\")",
    ] {
        assert_kept(text);
    }
}

#[test]
fn keys_of_services_and_of_nobody_knows_what() {
    const HEX: &str = concat!("0f4b5c9dd1a24e8f", "9b3c7a6e5d4f3c2b");
    const UUID: &str = concat!("3fa85f64-5717-4562", "-b3fc-2c963f66afa6");
    for key in
        ["adobeKey", "corp_algolia_search_key", "html2pdf_key", "IP2LOCATION_KEY", "newrelic.key", "auddkey"]
    {
        for (secret, form) in [(HEX, " = "), (UUID, "="), (HEX, ": "), (TOKEN, " = ")] {
            assert_only_the_secret_goes(&[&format!("{key}{form}{{}}")], secret, "secret");
        }
        let attribute = String::from_utf8(scrubbed(Some(key), HEX.as_bytes())).unwrap();
        assert_eq!(attribute, "[REDACTED:secret]", "{key}");
    }
    // Nobody knows `zorblax`, but this is no hash and no word.
    let opaque = format!("{TOKEN}{}", concat!("Rt5wQ", "z8"));
    assert_only_the_secret_goes(&["zorblax_key = \"{}\"", "ZORBLAX_KEY={}"], &opaque, "secret");
    for text in [
        format!("zorblax_key = \"{HEX}\""),
        format!("cache_key = \"{opaque}\""),
        format!("primaryKey: \"{opaque}\""),
        format!("stripe_public_key = \"{opaque}\""),
        format!("{{\"cacheKey\": \"{UUID}\"}}"),
    ] {
        assert_kept(&text);
    }
    // The key of an issue is none.
    assert_eq!(scrubbed(Some("jira_key"), b"PROJ-123"), b"PROJ-123");
}

#[test]
fn every_value_of_a_kubernetes_secret() {
    let templates = [
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  # of the build\n  extra: {}\n  other: \"{}\"\n",
        "apiVersion: v1\ndata:\n  .dockercfg: |\n    {}\nkind: 'Secret'\nmetadata:\n  name: a\n",
        "items:\n- apiVersion: v1\n  kind: Secret\n  stringData:\n    extra: {}\n  type: Opaque\n",
        "{\"apiVersion\": \"v1\", \"data\": {\"extra\": \"{}\", \"b\": \"{}\"}, \"kind\": \"Secret\", \"metadata\": {\"name\": \"a\"}}",
        "{\"kind\":\"Secret\",\"stringData\":{\"extra\":\"{}\"}}",
    ];
    assert_only_the_secret_goes(&templates, "c3dvcmRmaXNo", "secret");
    for text in [
        "kind: ConfigMap\ndata:\n  extra: c3dvcmRmaXNo\n",
        "kind: Secret\ndata:\n  extra: {{ .Values.extra }}\n  csrf: \"\"\n---\nkind: ConfigMap\ndata:\n  a: c3dvcmRmaXNo\n",
        "```yaml\napiVersion: v1\ndata:\n  a: c3dvcmRmaXNo\n```\n\nOutput:\n\n```yaml\nkind: Secret\nmetadata:\n  name: a\n```\n",
        "apiVersion: v1\ndata:\n  a: c3dvcmRmaXNo\nkind: ConfigMap\n\nand then:\n\nkind: Secret\n",
        "kind: ExternalSecret\nspec:\n  data:\n    extra: c3dvcmRmaXNo\n",
        "{\"kind\":\"List\",\"items\":[{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"c3dvcmRmaXNo\"}},{\"kind\":\"Secret\"}]}",
    ] {
        assert_kept(text);
    }
}

#[test]
fn a_scheme_of_nobodys_list() {
    let text = format!("-H 'Authorization: Custom {TOKEN}' -v");
    assert_eq!(scrubbed(None, text.as_bytes()), b"-H 'Authorization: [REDACTED:secret]' -v");
}

#[test]
fn entries_of_manifests() {
    let templates = [
        "- name: DB_PASSWORD\n  value: {}\n- name: PATH\n  value: /bin\n",
        "- name: DB_PASSWORD\n  value: \"{}\"\n",
        "{'name': 'DB_PASSWORD', 'value': '{}'}",
        "<add key=\"DB_PASSWORD\" value=\"{}\"/>",
        "DB_PASSWORD: |\n  {}\nx: 1",
        "password: >-\n  {}\n",
        "password:\n  {}\n",
        "password:\n  - {}\n  - \"{}\"\nx: 1",
        "x {\n  \"password\":\n  \"{}\",\n",
    ];
    assert_only_the_secret_goes(&templates, PASSWORD, "secret");
}

#[test]
fn passwords_of_tools() {
    let templates = ["curl -u bob:{} https://x.example", "mysql -u root -p{} shop", "sshpass -p '{}' ssh x"];
    assert_only_the_secret_goes(&templates, PASSWORD, "cli-password");
    let templates =
        ["machine x login bob password {} machine y", "machine x\r\n  login bob\r\n  password {}\r\n"];
    assert_only_the_secret_goes(&templates, PASSWORD, "netrc-password");
    let templates = ["CREATE USER bob IDENTIFIED BY '{}';", "alter user bob with password '{}'"];
    assert_only_the_secret_goes(&templates, PASSWORD, "sql-password");
}

#[test]
fn utf_16_is_read() {
    let text = format!("DB_PASSWORD={PASSWORD}");
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [little, big] {
        let out: Vec<u8> = scrubbed(None, &bytes).into_iter().filter(|b| *b != 0).collect();
        assert_eq!(String::from_utf8(out).unwrap(), "DB_PASSWORD=[REDACTED:secret]");
    }
}

#[test]
fn of_a_connection_string_only_the_credentials_go() {
    let cases = [
        ("postgres://shop:{}@db.example:5432/orders", "db-uri-password"),
        ("redis://:{}@cache:6379/0", "db-uri-password"),
        ("Server=tcp:db;Password={};Encrypt=True", "connection-string-password"),
    ];
    for (template, kind) in cases {
        let text = template.replace("{}", PASSWORD);
        let expected = template.replace("{}", &format!("[REDACTED:{kind}]"));
        for key in ["db.connection_string", "ConnectionString"] {
            assert_eq!(String::from_utf8(scrubbed(Some(key), text.as_bytes())).unwrap(), expected);
        }
        let json = |value: &str| format!(r#"{{"connection_string": "{value}", "n": 1}}"#);
        assert_eq!(scrubbed(None, json(&text).as_bytes()), json(&expected).as_bytes());
    }
    let harmless = "postgres://localhost:5432/app";
    assert_eq!(scrubbed(Some("db.connection_string"), harmless.as_bytes()), harmless.as_bytes());
    for opaque in ["q7", "x://h/t0k3n?key=1", "a;b=c", "Server=db", "s://u:a/b?c@h?token=d@e"] {
        assert_eq!(
            scrubbed(Some("db.connection_string"), opaque.as_bytes()),
            b"[REDACTED:secret]",
            "{opaque}"
        );
    }
}

#[test]
fn schemas_of_tools_stay() {
    for name in
        ["password", "token", "api_key", "credentials", "cookies", "secrets", "access_tokens", "api_keys"]
    {
        for schema in [
            r#"{"type":"string","description":"the user's value","minLength":8}"#,
            r#"{"type":"object","title":"What to use","properties":{"access":{"type":"string","description":"the access part","maxLength":20}},"required":["access"],"additionalProperties":false}"#,
            r#"{"type":"array","items":{"type":"string"},"description":"names of them","minItems":1,"maxItems":9}"#,
            r#"{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"Value"}"#,
        ] {
            let tool = format!(
                r#"{{"type":"function","function":{{"name":"login","parameters":{{"type":"object","properties":{{"{name}":{schema}}},"required":["{name}"]}}}}}}"#
            );
            assert_kept(&tool);
            assert_kept(&serde_json::json!({ "tools": [tool] }).to_string());
        }
    }
}

#[test]
fn lists_of_names_and_prose_stay() {
    for text in [
        r#"{"required": ["password", "username", "confirm_password", "token", "email"]}"#,
        r#"["authorization", "x-request-id", "content-type"]"#,
        "getattr(settings, 'api_key', 'default')",
        "req.headers.get('authorization', '')",
        "os.getenv('API_KEY', 'your-api-key-here')",
        "Password:\n    The password of the user, at least 8 characters\n",
        "token:\n  type: string\n  description: the token\n",
        "valueFrom:\n  secretKeyRef:\n    name: db-credentials\n    key: password\n",
        "- name: PATH\n  value: /usr/local/bin2\n",
        "- name: DB_PASSWORD\n  value: $(DB_PASSWORD)\n",
        "curl -u \"$USER:$PASS\" https://x.example",
        "mysql -u root -p shop",
        "IDENTIFIED BY '<password>'",
        "the login page password reset",
        "Authorization: required for all endpoints",
    ] {
        assert_kept(text);
    }
}
