//! A model of names: is a key, variable, header, flag or attribute name that of a secret?
//!
//! A name is split into words at signs, digits and camelCase humps. What counts is its *last* word, once words that
//! only qualify it (`value`, `prod`) are off: `db_password` is a password, `password_reset_url` is a URL. `key`, `token` and
//! other words that name harmless things too depend on the word before them. Knows nothing of values.

use super::vendors;
use super::wordlist::{List, one_of, strip_end};

/// What a name says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameClass {
    /// Nothing.
    No,
    /// Its value is a secret.
    Secret,
    /// What is nested in it are secrets, whatever their own names (`credentials: {a: .., b: ..}`), but for labels: see
    /// [`inherits`]. A text of its own is a secret only where it looks like one (`GOOGLE_APPLICATION_CREDENTIALS` is a path).
    Container,
}

/// Classifies a name. Allocates nothing; a name without the beginning of a secret word costs one look at its bytes.
pub fn secret_name(name: &[u8]) -> NameClass {
    // A path of an API is no name (`/api/v1/secrets`).
    if !may_be_secret(name) || name.starts_with(b"/") {
        return NameClass::No;
    }
    let words = Words::split(name);
    classify(&words)
}

/// Whether the name is that of a password, which people choose: any word may be one.
pub fn is_password(name: &[u8]) -> bool {
    let words = Words::split(name);
    words.stem().is_some_and(|stem| is_password_word(stem) || (is(stem, PASS) && words.len() > 1))
}

/// Whether the name also names harmless things (`token` on its own, `jira_key`), so that even a structured value must look like
/// a secret.
pub fn is_weak(name: &[u8]) -> bool {
    let words = Words::split(name);
    let Some(stem) = words.stem() else { return false };
    (is(stem, b"token") && words.stem_qualifier().is_none())
        || (!is_secret(&words, stem) && is_vendors(&words, stem))
}

/// Whether the name is that of a key of nobody knows what: a value under it is a secret where nothing but a machine-made token
/// looks like it.
pub fn may_be_key(name: &[u8]) -> bool {
    if !may_be_secret(name) {
        return false;
    }
    let words = Words::split(name);
    // `Sec-WebSocket-Key` holds a nonce.
    let asks = words.first().is_some_and(|first| QUESTIONS.has(first))
        || words.any(|word| one_of(word, "socket websocket"));
    words.stem().is_some_and(|stem| is(stem, b"key"))
        && words.stem_qualifier().is_some_and(|q| !HARMLESS_KEYS.has(q))
        && !asks
        && !words.any(|word| PUBLIC.has(word))
}

/// Whether the name ends in `pass`: it counts what passed, unless the value is what only a password is.
pub fn is_bare_pass(name: &[u8]) -> bool {
    Words::split(name).stem().is_some_and(|stem| is(stem, PASS))
}

/// Whether a pair of this name is worth reading, whatever its value is.
pub(super) fn may_name_secret(name: &[u8]) -> bool {
    secret_name(name) != NameClass::No || may_be_key(name) || is_bare_pass(name)
}

/// Whether the name is that of a connection string: a secret for what it holds, the rest of which is worth reading.
pub fn is_connection(name: &[u8]) -> bool {
    let words = Words::split(name);
    is_connection_string(&words, words.stem())
}

/// How many words a name has.
pub(super) fn words(name: &[u8]) -> usize {
    Words::split(name).len()
}

/// Whether a machine makes the secret of this name: a key or token, which holds no blank.
pub(super) fn is_machine_made(name: &[u8]) -> bool {
    let words = Words::split(name);
    words.stem().is_some_and(|stem| {
        is(stem, b"token")
            || is(stem, b"key")
            || strip_end(stem, b"token").or(strip_end(stem, b"key")).is_some()
    })
}

/// Whether the name is that of words: a passphrase or mnemonic.
pub(super) fn is_phrase_name(name: &[u8]) -> bool {
    let words = Words::split(name);
    words.stem().is_some_and(|stem| strip_end(stem, b"phrase").or(strip_end(stem, b"mnemonic")).is_some())
}

/// Whether the first word is `password` or the like.
pub(super) fn begins_with_password(name: &[u8]) -> bool {
    Words::split(name).first().is_some_and(is_password_word)
}

/// Whether a word of the name is that of a secret, wherever it stands.
pub(super) fn mentions_secret(name: &[u8]) -> bool {
    Words::split(name)
        .any(|word| is_password_word(word) || SECRETS.has(word) || is(word, b"token") || is_glued(word))
}

/// Whether a member of a [`NameClass::Container`] takes over its secrecy: all but labels (`name`, `id`, `type`, `created_at`).
pub fn inherits(member: &[u8]) -> bool {
    let words = Words::split(member);
    !words.last().is_some_and(|last| LABELS.has(last)) && !is_meta(member)
}

/// `$ref`, `x-kubernetes-action`: a schema's own members.
fn is_meta(member: &[u8]) -> bool {
    member.starts_with(b"$") || member.starts_with(b"x-")
}

const PASS: &[u8] = b"pass";

/// Words that are the secret, whatever stands before them.
static SECRETS: List = List::new(
    "
    secret jwt bearer authorization cookie credential creds",
);
/// Passwords, and what ends in such a word (`pgpassword`).
const PASSWORDS: &str = "
    password passwd passphrase passcode pwd passwort contrasena pswd psw";
/// Whose `pass`: alone it counts what passed.
static PASS_OWNERS: List = List::new(
    "
    db database user usr admin root smtp mail email imap ftp sftp ssh mysql pg postgres pgsql redis
    mongo mongodb rabbitmq rabbit amqp mq proxy login basic auth http ldap account svc service sudo
    keystore truststore vault api app client server key cert wifi vpn jenkins registry docker nexus sql
    oracle mssql default my test",
);
/// What makes a key secret. A key without one of these opens a map, sorts a table, or is on the keyboard.
static KEY_OWNERS: List = List::new(
    "
    api apikey secret private priv access signing sign signature encryption encrypt encrypting
    decryption decrypt crypto cipher account shared auth authentication master service license licence
    subscription subscriptions admin ssh deploy webhook hmac aes rsa session symmetric function
    functions app application security integration ingest ingestion write hec bot oauth consumer jwt
    cookie token vault unseal recovery ssl tls gpg pgp age wireguard psk preshared",
);
/// Services whose keys are nothing but credentials, as in `OPENAI_KEY`; see [`vendors`] for the others.
static SERVICES: List = List::new(
    "
    openai anthropic claude gemini groq mistral cohere huggingface replicate deepseek xai openrouter
    perplexity tavily serpapi pinecone weaviate qdrant stripe twilio sendgrid mailgun mailchimp postmark
    resend datadog newrelic sentry honeycomb grafana slack discord telegram aws heroku vercel netlify
    supabase algolia mapbox alchemy infura etherscan shodan virustotal hubspot amplitude mixpanel langsmith
    langfuse wandb elevenlabs deepgram assemblyai",
);
/// What makes a key one of a map, a table, a cache, the keyboard, a file.
static HARMLESS_KEYS: List = List::new(
    "
    action active alt any argument array arrow artifact asset attr attribute avatar blob board body branch
    bucket build bundle by cache category cell checksum child class column commit component composite
    config configuration constant content context control css ctrl cursor custom data db dedup dedupe
    deduplication default delete dependency dict dictionary digest doc document domain down dom edge element
    encoded end enter entity entry enum env environment epic error escape etag event field file filename filter
    fingerprint first fn folder foreign form function game global graph grid group grouping hash hashed hash
    header host hot i idempotency idempotent image index input instance issue item job join json k keyboard kv label
    language last layer layout left list locale lock log lookup map match media memo menu merge message meta
    metadata method metric model module mutex name namespace natural new next node num numeric object offset
    old option order org page param parameter parent partition path peer pipeline pivot pixel plugin position
    prefix press prev previous primary product project prop properties property query queue r race range read
    record redis reference reg register registry render report request resource response result right
    root route router routing row s schema search section seed segment select selected selection server
    setting settings shard sheet shift shortcut sort span sprint sql start state step storage store str string style
    sub suffix super surrogate symbol system tab table tag target task template tenant test text theme
    thread ticket tile time topic trace translation tree type ui unique up upload uri url user value variable
    vector version view widget window workflow write xml xpath yaml zone",
);
/// What makes a key public or a label after all, wherever it stands in the name.
static PUBLIC: List = List::new(
    "
    public pub publishable pubkey",
);
/// What makes a token no secret: language models, parsers, pages, themes, locks.
static TOKEN_KINDS: List = List::new("
    change creation action max maximum min minimum num n total input output prompt completion reasoning cached eos bos pad
    padding unk unknown sep separator cls mask stop start end begin special next prev previous page
    pagination paging continuation cursor sync resume time per budget thinking audio image text used
    usage remaining limit count first last current each avg average lookahead identifier keyword
    punctuation operator syntax lexer lex parser design css color colour theme cancellation cancel
    idempotency fencing lock added new generated predicted accepted rejected word sub byte char vocab
    eot eod fim suffix prefix infix string comment whitespace newline indent decoder encoder visual
    video draft target source top chunk skip marker control matched expected unexpected delimiter lparen
    rparen semicolon colon comma literal number peek proc macro");
/// What makes tokens, in the plural, a container: they are counted far more often than held.
static TOKEN_OWNERS: List = List::new(
    "
    access refresh auth api bearer session oauth secret personal bot id device registration",
);
/// The same for keys.
static KEYS_OWNERS: List = List::new("api access private signing encryption account secret ssh");
/// A question or a command about a secret instead of the secret, as the first word.
static QUESTIONS: List = List::new(
    "
    is has have use uses using need needs require requires required show hide no can should allow allows
    allowed enable enabled disable disabled forgot forget invalid missing wrong incorrect bad ask prompt
    contains support supports with without skip ignore include exclude expired get list describe generate change",
);
/// Words after a secret that leave it one: `api_key_prod`, `secret_value`, `password_confirmation`.
static QUALIFIERS: List = List::new(
    "
    value val string str raw plain plaintext cleartext data pem der material bytes binary base b encoded
    decoded default current old new prod prd dev stg stage staging test testing sandbox production
    development live primary secondary main backup global local confirmation confirm repeat ro rw
    readonly admin root x v",
);
/// Members of a container that say what it holds, and those of a JSON schema of one.
static LABELS: List = List::new(
    "
    name id type kind description label labels username user email url uri host hostname port region at
    date time expires expiry expiration ttl scope scopes status version path file enabled arn ref count
    length algorithm provider issuer domain namespace key created updated format source
    title required items",
);

fn classify(words: &Words<'_>) -> NameClass {
    let Some(last) = words.last() else { return NameClass::No };
    // The working directory of a shell, in capitals as nobody writes a password's name.
    if words.len() == 1 && (last == b"PWD" || last == b"OLDPWD") {
        return NameClass::No;
    }
    if words.len() > 1 && words.first().is_some_and(|first| QUESTIONS.has(first)) {
        return NameClass::No;
    }
    // The code of an error, and who is known from a token.
    if words.len() > 2 && words.any(|word| one_of(word, "err error errcode from invalid")) {
        return NameClass::No;
    }
    if let Some(class) = container(words, last) {
        return class;
    }
    let Some(stem) = words.stem() else { return NameClass::No };
    if is_secret(words, stem) || is_vendors(words, stem) { NameClass::Secret } else { NameClass::No }
}

fn is_secret(words: &Words<'_>, stem: &[u8]) -> bool {
    let qualifier = words.stem_qualifier();
    is_password_word(stem)
        || SECRETS.has(stem)
        || (is(stem, PASS) && qualifier.is_some_and(|q| PASS_OWNERS.has(q)))
        || (is(stem, b"token") && !qualifier.is_some_and(|q| TOKEN_KINDS.has(q)) && !is_table(words))
        || (is(stem, b"key") && is_secret_key(words, qualifier))
        || is_glued(stem)
        || is_phrase(words, stem, qualifier)
}

/// A key or personal access token of a service: `mapbox_search_key`, `asana_pat`, `auddkey`.
fn is_vendors(words: &Words<'_>, stem: &[u8]) -> bool {
    let keeps =
        is(stem, b"pat") || ["key", "token"].iter().any(|end| strip_end(stem, end.as_bytes()).is_some());
    keeps && vendors::is_in(words.name) && !words.any(|word| PUBLIC.has(word))
}

/// Plurals, and `cookies`. Only the last word counts, unqualified.
fn container(words: &Words<'_>, last: &[u8]) -> Option<NameClass> {
    let qualifier = words.before(1);
    let holds =
        |word: &str, owners: &List| is(last, word.as_bytes()) && qualifier.is_some_and(|q| owners.has(q));
    let plural = one_of(last, "secrets credentials passwords passphrases cookies apikeys creds");
    // Kubernetes lists the *names* of pull secrets.
    let named = qualifier.is_some_and(|q| is(q, b"pull"));
    if (plural && !named) || holds("tokens", &TOKEN_OWNERS) || holds("keys", &KEYS_OWNERS) {
        return Some(NameClass::Container);
    }
    None
}

/// `tokenData`: the tables of a parser.
fn is_table(words: &Words<'_>) -> bool {
    words.len() == 2 && words.last().is_some_and(|last| is(last, b"data"))
}

fn is_secret_key(words: &Words<'_>, qualifier: Option<&[u8]>) -> bool {
    let owned = qualifier.is_some_and(|q| KEY_OWNERS.has(q) || SERVICES.has(q) || is_glued(q));
    // kubeconfig: the key itself, not the path to it.
    let client_data =
        qualifier.is_some_and(|q| is(q, b"client")) && words.last().is_some_and(|last| is(last, b"data"));
    (owned || client_data) && !words.any(|word| PUBLIC.has(word))
}

/// Two words that are one: lower-case names without humps (`dbpassword`, `authtoken`, `secretkey`).
fn is_glued(word: &[u8]) -> bool {
    let before = |end: &[u8]| strip_end(word, end).filter(|rest| !rest.is_empty());
    before(b"key").is_some_and(|rest| GLUED_KEYS.has(rest))
        || before(b"token").is_some_and(|rest| GLUED_TOKENS.has(rest))
        || before(b"secret").is_some_and(|rest| !QUESTIONS.has(rest))
        || before(b"pass").is_some_and(|rest| GLUED_PASS.has(rest))
        || one_of(word, CONNECTION_STRINGS)
}

const CONNECTION_STRINGS: &str = "connectionstring connstring connstr";

/// `connection_string`, in two words or one.
fn is_connection_string(words: &Words<'_>, stem: Option<&[u8]>) -> bool {
    let last_is_string = words.last().is_some_and(|last| one_of(last, "string str"));
    stem.is_some_and(|stem| {
        one_of(stem, CONNECTION_STRINGS) || (last_is_string && one_of(stem, "connection conn"))
    })
}

static GLUED_KEYS: List = List::new(
    "
    api secret private access auth account master signing encryption session license sharedaccess
    secretaccess awssecretaccess openaiapi myapi xapi shared ssh service",
);
static GLUED_TOKENS: List = List::new(
    "
    auth access refresh session api bearer id csrf xsrf bot user oauth jwt app device secret github
    gitlab gh slack npm hf security login private personal my deploy registry sas",
);
static GLUED_PASS: List = List::new(
    "
    db user my mysql pg smtp redis ftp ssh key store admin root mail",
);

/// Secrets whose last word alone says nothing.
fn is_phrase(words: &Words<'_>, stem: &[u8], qualifier: Option<&[u8]>) -> bool {
    let after = |list: &str| qualifier.is_some_and(|q| one_of(q, list));
    is_connection_string(words, Some(stem))
        || (is(stem, b"phrase") && after("seed recovery pass mnemonic backup secret"))
        || (is(stem, b"auth") && after("basic"))
        || (is(stem, b"pat") && after("github gh gitlab gl azure devops ado git docker jira"))
        || (is(stem, b"hash") && qualifier.is_some_and(is_password_word))
        || (is(stem, b"digest") && qualifier.is_some_and(is_password_word))
        // npm's `_auth`: base64 of user and password.
        || (is(stem, b"auth") && words.len() == 1 && words.name == b"_auth")
}

fn is_password_word(word: &[u8]) -> bool {
    PASSWORDS
        .split_ascii_whitespace()
        .any(|password| strip_end(word, password.as_bytes()).is_some_and(|before| !QUESTIONS.has(before)))
}

/// Words of a name that are looked at; a longer name counts by its end.
const MAX_WORDS: usize = 10;
/// Bytes of a name that are looked at, from its end.
const MAX_NAME: usize = 160;

/// The words of a name, last word first.
struct Words<'a> {
    name: &'a [u8],
    reversed: [&'a [u8]; MAX_WORDS],
    count: usize,
}

impl<'a> Words<'a> {
    fn split(name: &'a [u8]) -> Self {
        let name = name.get(name.len().saturating_sub(MAX_NAME)..).unwrap_or(name);
        let mut words = Self { name, reversed: [&[]; MAX_WORDS], count: 0 };
        let mut rest = name;
        while words.count < MAX_WORDS {
            // The name may end in what is no letter: quotes, digits, brackets.
            let Some(end) = rest.iter().rposition(|b| is_letter(*b)) else { break };
            rest = rest.get(..=end).unwrap_or_default();
            let start = word_start(rest);
            let (before, word) = rest.split_at_checked(start).unwrap_or((&[], rest));
            if let Some(slot) = words.reversed.get_mut(words.count) {
                *slot = word;
            }
            words.count += 1;
            rest = before;
        }
        words
    }

    fn len(&self) -> usize {
        self.count
    }

    /// The word `back` places before the last.
    fn before(&self, back: usize) -> Option<&'a [u8]> {
        if back < self.count { self.reversed.get(back).copied() } else { None }
    }

    fn last(&self) -> Option<&'a [u8]> {
        self.before(0)
    }

    fn first(&self) -> Option<&'a [u8]> {
        self.count.checked_sub(1).and_then(|at| self.before(at))
    }

    /// Places of the words that only qualify, at the end.
    fn qualifiers(&self) -> usize {
        let trailing =
            (0..self.count).take_while(|at| self.before(*at).is_some_and(|w| QUALIFIERS.has(w))).count();
        if trailing == self.count { 0 } else { trailing }
    }

    /// The last word that is no qualifier. `base` of Rails' `secret_key_base` is one too.
    fn stem(&self) -> Option<&'a [u8]> {
        self.before(self.qualifiers())
    }

    fn stem_qualifier(&self) -> Option<&'a [u8]> {
        self.before(self.qualifiers() + 1)
    }

    fn any(&self, test: impl Fn(&[u8]) -> bool) -> bool {
        (0..self.count).any(|at| self.before(at).is_some_and(&test))
    }
}

/// Where the last word of `text`, which ends in a letter, begins.
fn word_start(text: &[u8]) -> usize {
    let at = |i: usize| text.get(i).copied().unwrap_or_default();
    let mut start = text.len() - 1;
    while let Some(before) = start.checked_sub(1) {
        let (left, right) = (at(before), at(start));
        if !is_letter(left) {
            break;
        }
        // `apiKey`: between lower and upper. `APIKey`: before the last capital of a run that a lower-case letter follows.
        let hump = left.is_ascii_lowercase() && right.is_ascii_uppercase();
        let acronym =
            left.is_ascii_uppercase() && right.is_ascii_uppercase() && at(start + 1).is_ascii_lowercase();
        if hump || acronym {
            break;
        }
        start = before;
    }
    start
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

fn is(word: &[u8], lower: &[u8]) -> bool {
    word.eq_ignore_ascii_case(lower)
}

/// Every secret word holds one of these, or ends the name as `pat`.
const PIECES: [&[u8]; 14] = [
    b"pass", b"pwd", b"psw", b"phra", b"secr", b"toke", b"key", b"auth", b"cook", b"conn", b"cred", b"bear",
    b"jwt", b"rase",
];

/// The end of names without such a piece.
pub(super) const LAST_PIECE: &[u8] = b"pat";

/// Pieces of which every secret's name holds one, in lower case, and whether it must stand at the name's end.
pub(super) fn pieces() -> impl Iterator<Item = (&'static [u8], bool)> {
    PIECES.iter().map(|piece| (*piece, false)).chain([(LAST_PIECE, true)])
}

/// For each letter, a bit for each letter that follows it at the beginning of a piece.
const SECOND_LETTERS: [u32; 32] = second_letters();

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler: out of bounds would not build")]
const fn second_letters() -> [u32; 32] {
    let mut table = [0; 32];
    let mut at = 0;
    while at < PIECES.len() {
        let piece = PIECES[at];
        table[(piece[0] & 31) as usize] |= 1 << (piece[1] & 31);
        at += 1;
    }
    table
}

/// The cheap no. One look at each pair of bytes; the low five bits of a letter are its number in either case.
fn may_be_secret(name: &[u8]) -> bool {
    let mut previous = 0_u8;
    let begins = name.iter().enumerate().any(|(at, byte)| {
        let follows =
            SECOND_LETTERS.get(usize::from(previous & 31)).is_some_and(|bits| bits >> (byte & 31) & 1 == 1);
        previous = *byte;
        follows && at > 0 && PIECES.iter().any(|piece| continues(name, at - 1, piece))
    });
    begins || strip_end(name, LAST_PIECE).is_some()
}

fn continues(name: &[u8], at: usize, piece: &[u8]) -> bool {
    name.get(at..at + piece.len()).is_some_and(|text| text.eq_ignore_ascii_case(piece))
}
