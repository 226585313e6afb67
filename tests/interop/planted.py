"""What the SDKs are told to send: texts with a fake secret in them, and what must arrive instead.

The secrets are put together here, at run time, so that no file holds one. Both SDKs get the same texts by name.
"""

import base64
import json


def letters(length):
    """A deterministic run of mixed letters and digits."""
    alphabet = "k7Qm2ZxV9bRt4LwN8cHy3DfS6gJp5TaE"
    return "".join(alphabet[(i * 7 + i // 5) % len(alphabet)] for i in range(length))


def base64url(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


GITHUB = "gh" + "p_" + letters(36)
ANTHROPIC = "sk-" + "ant-api03-" + letters(95)
AWS = "AK" + "IA" + "Q7Z2M4X6V8B3R5T9"
JWT = ".".join((base64url({"alg": "HS256", "typ": "JWT"}), base64url({"sub": "1234567890"}), letters(43)))
BEARER = letters(40)
WRAPPED = base64.b64encode(f"ANTHROPIC_API_KEY={ANTHROPIC}".encode()).decode()
PASSWORD = "correct-" + "horse-battery-9"
NESTED = json.dumps({"log": json.dumps({"GITHUB_TOKEN": GITHUB, "rows": 42})})

# name -> (what is sent, what must arrive)
TEXTS = {
    "github": (f"token: {GITHUB}", "token: [REDACTED:github-token]"),
    "anthropic": (f"ANTHROPIC_API_KEY={ANTHROPIC}", "ANTHROPIC_API_KEY=[REDACTED:anthropic-key]"),
    "aws": (f"aws_access_key_id = {AWS}", "aws_access_key_id = [REDACTED:aws-access-key]"),
    "jwt": (f"jwt: {JWT}", "jwt: [REDACTED:jwt]"),
    "bearer": (f"Authorization: Bearer {BEARER}", "Authorization: Bearer [REDACTED:bearer-token]"),
    "wrapped": (f"cache entry: {WRAPPED}", "cache entry: [REDACTED:anthropic-key]"),
    "nested": (NESTED, NESTED.replace(GITHUB, "[REDACTED:github-token]")),
    # Sent as the value of an attribute that is named `db.password`.
    "password": (PASSWORD, "[REDACTED:secret]"),
    # Nothing to find: must arrive as they are.
    "plain": ("Retrieved 42 rows from table customers", None),
    "unicode": ("naïve — 東京 \U0001f680 \t\n\"quoted\" \\ ", None),
    "query": ("GET /search?token=page2&sort=asc 200", None),
    "uuid": ("7f2c1a9e-0b54-4a3e-9d11-3c5f8e2b6a70", None),
    "empty": ("", None),
}

SECRETS = (GITHUB, ANTHROPIC, AWS, JWT, BEARER, WRAPPED, PASSWORD)


def texts():
    """Name -> text to send."""
    return {name: sent for name, (sent, _) in TEXTS.items()}


def scrubbed(text):
    """What must arrive where `text` was sent; a planted text may stand inside a longer one (a stack trace)."""
    for sent, arrives in TEXTS.values():
        if arrives is not None:
            text = text.replace(sent, arrives)
    return text
