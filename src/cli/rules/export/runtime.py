

class Rule:
    """One pattern. `approximate`: Blackbar tests more than the pattern here, so it finds more than Blackbar does."""

    def __init__(self, kind, pattern, anchors, group, word_start, word_end, checks, approximate, rank,
                 replacement):
        self.kind = kind
        self.source = pattern
        self.anchors = anchors
        self.group = group
        self.word_start = word_start
        self.word_end = word_end
        self.checks = [_CHECKS[name] if isinstance(name, str) else _entropy_of(name) for name in checks]
        self.approximate = approximate
        self.rank = rank
        self.replacement = replacement or "[REDACTED:%s]" % kind

    @functools.cached_property
    def pattern(self):
        return re.compile(self.source, re.ASCII)

    def find(self, text):
        """Start and end of each secret."""
        markers = [marker.span() for marker in _MARKER.finditer(text)]
        at = 0
        while at <= len(text):
            match = self.pattern.search(text, at)
            if match is None:
                return
            group = self.group
            if group is None:
                group = next((at for at, text in enumerate(match.groups(), 1) if text), 0)
            start, end = match.span(group)
            marked = any(begin < end and start < stop for begin, stop in markers)
            if start < end and not marked and self._accepts(text, match, text[start:end]):
                yield start, end
                at = max(end, match.start() + 1)
            else:
                at = match.start() + 1

    def _accepts(self, text, match, secret):
        if self.word_start and not _is_word_start(text, match.start()):
            return False
        if self.word_end and _CONTINUES.match(text, match.end()):
            return False
        if secret == self.replacement:
            return False
        return all(check(secret) for check in self.checks)


def scrub(text, approximate=True):
    """The text with a marker in place of each secret. `approximate=False` leaves out the rules of that name."""
    for _ in range(4):
        scrubbed = _scrub_once(text, approximate)
        if scrubbed == text:
            break
        text = scrubbed
    return text


def find(text, approximate=True):
    """(start, end, rule) of each secret, in order and disjoint."""
    lower = text.lower()
    found = []
    for order, rule in enumerate(RULES):
        if (approximate or not rule.approximate) and (
            not rule.anchors or any(anchor in lower for anchor in rule.anchors)
        ):
            found.extend((start, end, (-rule.rank, order)) for start, end in rule.find(text))
    merged = []
    for start, end, rank in sorted(found):
        if merged and start < merged[-1][1]:
            begun, ended, best = merged[-1]
            merged[-1] = (begun, max(ended, end), min(best, rank))
        else:
            merged.append((start, end, rank))
    return [(start, end, RULES[order]) for start, end, (_, order) in merged]


def _scrub_once(text, approximate):
    parts, copied = [], 0
    for start, end, rule in find(text, approximate):
        parts += [text[copied:start], rule.replacement]
        copied = end
    return "".join(parts) + text[copied:]


_MARKER = re.compile(r"\[REDACTED(?::[a-z0-9-]{1,48}(?::(?:[0-9a-f]{24}|\.\.\.[0-9A-Za-z_-]{4}))?)?\]")
_CONTINUES = re.compile("[-.]?[0-9A-Za-z_]")
_ESCAPE = re.compile(
    r"(?:\\[ntrbfv0]|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\[[0-9;]{0,7}m)\Z", re.ASCII
)


def _is_word_start(text, at):
    before = text[max(0, at - 10):at]
    return not before or not (before[-1].isascii() and before[-1].isalnum()) or bool(_ESCAPE.search(before))


def _decoded(text):
    text = text[:4096].replace("-", "+").replace("_", "/").rstrip("=")
    text = text[:-1] if len(text) % 4 == 1 else text
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        return b""


def _is_jwt(text):
    parts = [_decoded(part) for part in text.split(".")[:2]]
    header = parts[0]
    both = len(parts) == 2 and all(part.startswith(b'{"') for part in parts)
    return header.startswith(b"{") and (b'"alg"' in header or b'"enc"' in header or both)


def _is_basic(text):
    try:
        pair = _decoded(text).decode("utf-8")
    except UnicodeDecodeError:
        return False
    return len(pair) > 2 and ":" in pair and not any(unicodedata.category(c) == "Cc" for c in pair)


def _satisfies_luhn(text):
    digits = [int(c) for c in reversed(text) if c in "0123456789"]
    doubled = (d if at % 2 == 0 else d * 2 - 9 * (d > 4) for at, d in enumerate(digits))
    return len(digits) > 1 and sum(doubled) % 10 == 0


def _entropy(text):
    data = text.encode("utf-8", "replace")
    counts = collections.Counter(data)
    return -sum(n / len(data) * math.log2(n / len(data)) for n in counts.values())


def _entropy_of(least):
    return lambda text: _entropy(text) >= least


_CHECKS = {
    "jwt": _is_jwt,
    "basic": _is_basic,
    "has-digit": lambda text: re.search("[0-9]", text) is not None,
    "mixed-case": lambda text: re.search("[a-z]", text) is not None and re.search("[A-Z]", text) is not None,
    "not-hex": lambda text: re.search("[^0-9A-Fa-f]", text) is not None,
    "luhn": _satisfies_luhn,
}

