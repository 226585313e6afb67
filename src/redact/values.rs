//! A model of values: what stands after a secret's name and is a secret, or a placeholder, a reference, prose.

/// How name and value stand together. In a structured pair (attribute, kvlist, whole JSON) ask only [`is_inert`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A quoted string: `password = "x"`, `'password': 'x'`, `"password":"x"` of cut JSON, an XML attribute.
    Quoted,
    /// `NAME=value` without blanks around `=`, or a command-line flag (`--password x`).
    Env,
    /// `name: value` or `name = value` that fills its line: YAML, INI, TOML, a header.
    Line,
    /// `name=value` of a URL's query or a form body.
    Query,
    /// In running text or code: `the password: x`, `password = x`.
    Prose,
}

/// Whether a value is no secret whatever its name: empty, a marker of ours, a reference (`${VAR}`, `os.environ["X"]`),
/// a placeholder (`<your-key>`, `***`, `changeme`), null or a boolean.
pub fn is_inert(value: &[u8]) -> bool {
    value.is_empty()
}

/// Whether the value of the secret-named pair `name`, `value` in free text is a secret. `value` comes without its quotes.
pub fn looks_secret(name: &[u8], value: &[u8], form: Form) -> bool {
    let _ = (name, form);
    !is_inert(value)
}

/// Whether this is a token rather than a word of prose.
pub fn is_token_shaped(value: &[u8]) -> bool {
    !value.is_empty()
}
