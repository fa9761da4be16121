"""Senders that sign wrongly in the ways that real ones do. Prints [{code, name, body, signature, secret?}] as JSON.

`code` is the diagnosis that hooks must come to; `body` is base64 of the bytes that arrive, `secret` is the receiver's.
"""

import base64
import gzip
import hashlib
import hmac
import json
import urllib.parse

SECRET = "hooks-fixture-secret-of-the-tests"
MESSAGE = {
    "version": 1,
    "type": "track",
    "userId": "u-1",
    "event": "Größe <a/b> & Co",
    "properties": {"total": 39.0, "items": [1, {}, []], "city": "東京"},
    "timestamp": "2026-11-20T21:10:05.123Z",
}
WIRE = json.dumps(MESSAGE, separators=(",", ":"), ensure_ascii=False)
ASCII_WIRE = json.dumps(MESSAGE, separators=(",", ":"))
CASES = []


def digest(body, secret=SECRET, algorithm=hashlib.sha1):
    to_bytes = lambda value: value.encode() if isinstance(value, str) else value
    return hmac.new(to_bytes(secret), to_bytes(body), algorithm)


def case(code, name, body, signature, secret=SECRET):
    raw = body.encode() if isinstance(body, str) else body
    signature = signature if isinstance(signature, str) else signature.hexdigest()
    encoded = base64.b64encode(raw).decode()
    CASES.append({"code": code, "name": name, "body": encoded, "signature": signature, "secret": secret})


text = "plain text\nof two lines"
case("trailing-newline", "echo adds a newline to what is sent", text + "\n", digest(text))
case("trailing-newline", "echo adds a newline to what is signed", WIRE, digest(WIRE + "\n"))
case("trailing-newline", "CRLF at the end of what is signed", WIRE, digest(WIRE + "\r\n"))
case("trailing-newline", "several newlines at the end", text + "\n\n\n", digest(text))
case("crlf", "a file opened as text on Windows", text.replace("\n", "\r\n"), digest(text))
case("crlf", "git changed the line ends to LF", text, digest(text.replace("\n", "\r\n")))
case("crlf", "and took the last one away", text.replace("\n", "\r\n") + "\r\n", digest(text))
case("bom", "PowerShell wrote UTF-8", b"\xef\xbb\xbf" + text.encode(), digest(text))
case("bom", "signed with utf-8-sig", WIRE, digest(WIRE.encode("utf-8-sig")))

case("lossy-json", "an id of 19 digits that JavaScript rounded before signing", '{"id":1234567890123456789}', digest('{"id":1234567890123456800}'))
case("lossy-json", "a forger adds a key", '{"userId":"attacker","userId":"victim"}', digest('{"userId":"victim"}'))

for indent in (2, 4, "\t"):
    pretty = json.dumps(MESSAGE, indent=indent, ensure_ascii=False)
    case("pretty-printed", f"signed with indent {indent!r}", WIRE, digest(pretty))
    case("pretty-printed", f"and a newline, {indent!r}", WIRE, digest(pretty + "\n"))
    case("pretty-printed", f"and escapes, {indent!r}", WIRE, digest(json.dumps(MESSAGE, indent=indent)))
case("pretty-printed", "sent with indent, signed without", json.dumps(MESSAGE, indent=2, ensure_ascii=False), digest(WIRE))
case("python-json", "json.dumps signed, compact sent (httpx)", WIRE, digest(json.dumps(MESSAGE)))
case("python-json", "the same with ensure_ascii=False", WIRE, digest(json.dumps(MESSAGE, ensure_ascii=False)))
case("python-json", "the same with a newline", WIRE, digest(json.dumps(MESSAGE) + "\n"))
case("escaped-unicode", "compact json.dumps signed, UTF-8 sent", WIRE, digest(ASCII_WIRE))
case("escaped-unicode", "Go escapes HTML", WIRE, digest(WIRE.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")))
case("escaped-slash", "PHP with JSON_UNESCAPED_UNICODE", WIRE, digest(WIRE.replace("/", "\\/")))
case("escaped-slash", "PHP without flags", WIRE, digest(ASCII_WIRE.replace("/", "\\/")))
case("reordered-keys", "sort_keys, compact", WIRE, digest(json.dumps(MESSAGE, sort_keys=True, separators=(",", ":"), ensure_ascii=False)))
case("reordered-keys", "sort_keys", WIRE, digest(json.dumps(MESSAGE, sort_keys=True)))

case("trimmed-secret", "the receiver's secret has a newline", WIRE, digest(WIRE, "s3cr3t-1"), "s3cr3t-1\n")
case("trimmed-secret", "the sender's secret has a newline", WIRE, digest(WIRE, SECRET + "\n"))
case("trimmed-secret", "the sender's secret has CRLF", WIRE, digest(WIRE, SECRET + "\r\n"))
case("quoted-secret", "the sender's secret has quotes", WIRE, digest(WIRE, f'"{SECRET}"'))
case("quoted-secret", "the sender's secret has single quotes", WIRE, digest(WIRE, f"'{SECRET}'"))
case("quoted-secret", "the receiver's secret has quotes", WIRE, digest(WIRE, SECRET), f'"{SECRET}"')
case("other-secret", "an empty secret", WIRE, digest(WIRE, ""))
case("other-secret", "a missing setting in Python", WIRE, digest(WIRE, str(None)))
case("other-secret", "a missing setting in JavaScript", WIRE, digest(WIRE, "undefined"))
case("other-secret", "a variable that was not expanded", WIRE, digest(WIRE, "${HOOKS_SECRET}"))

case("sha256", "SHA-256", WIRE, digest(WIRE, algorithm=hashlib.sha256))
case("sha256", "SHA-256 as GitHub writes it", WIRE, "sha256=" + digest(WIRE, algorithm=hashlib.sha256).hexdigest())
case("sha256", "SHA-256 in base64", WIRE, base64.b64encode(digest(WIRE, algorithm=hashlib.sha256).digest()).decode())
case("sha256", "SHA-256 of something else", WIRE, digest("else", algorithm=hashlib.sha256))
case("base64", "the digest in base64", WIRE, base64.b64encode(digest(WIRE).digest()).decode())
case("base64", "the digest in base64url", WIRE, base64.urlsafe_b64encode(digest(WIRE).digest()).decode().rstrip("="))
case("base64", "the hex in base64", WIRE, base64.b64encode(digest(WIRE).hexdigest().encode()).decode())
case("other-encoding", "colons between the bytes", WIRE, digest(WIRE).digest().hex(":"))
case("other-encoding", "0x in front", WIRE, "0x" + digest(WIRE).hexdigest())
case("other-encoding", "quotes around", WIRE, f'"{digest(WIRE).hexdigest()}"')
case("other-encoding", "signed as UTF-16", WIRE, digest(WIRE.encode("utf-16-le")))
latin = '{"name":"Zoë"}'
case("other-encoding", "signed as Latin-1", latin, digest(latin.encode("latin-1")))
case("other-encoding", "signed as Latin-1 read as UTF-8", latin, digest(latin.encode().decode("latin-1").encode()))
case("other-encoding", "stringified twice", WIRE, digest(json.dumps(WIRE, ensure_ascii=False)))
case("other-encoding", "sent stringified twice", json.dumps(WIRE, ensure_ascii=False), digest(WIRE))
case("other-encoding", "an object signed as a string", WIRE, digest("[object Object]"))
case("other-encoding", "nothing of the body signed", WIRE, digest(""))
case("other-encoding", "the secret decoded from hex", WIRE, digest(WIRE, bytes.fromhex("00ff10")), "00ff10")
case("other-encoding", "the secret decoded from base64", WIRE, digest(WIRE, b"\x00\xffkey"), base64.b64encode(b"\x00\xffkey").decode())

case("first-of-array", "signs a message, sends a list", f"[{WIRE},{WIRE}]", digest(WIRE))
case("first-of-array", "signs a message, sends a batch", f'{{"batch":[{WIRE}],"sentAt":"x"}}', digest(WIRE))
case("first-of-array", "signs a message as Python writes it, sends a list", f"[{WIRE}]", digest(json.dumps(MESSAGE)))
case("first-of-array", "signs a list, sends a message", WIRE, digest(f"[{WIRE}]"))
case("gzip", "signs, then compresses", gzip.compress(WIRE.encode(), mtime=0), digest(WIRE))
case("gzip", "compressed what is indented", gzip.compress(json.dumps(MESSAGE, indent=2, ensure_ascii=False).encode(), mtime=0), digest(WIRE.replace("39.0", "39")))
form = urllib.parse.urlencode({"payload": WIRE})
case("url-encoded", "signs the JSON, sends a form", form, digest(WIRE))
case("url-encoded", "signs the form, sends the JSON", WIRE, digest(form))
case("url-encoded", "signs the JSON percent-encoded", WIRE, digest(urllib.parse.quote(WIRE)))
case("url-encoded", "signs the JSON percent-encoded, slashes too", WIRE, digest(urllib.parse.quote(WIRE, safe="")))
case("url-encoded", "signs the JSON as a form value", WIRE, digest(urllib.parse.quote_plus(WIRE)))
case("url-encoded", "sends the JSON percent-encoded", urllib.parse.quote(WIRE), digest(WIRE))
case("truncated-signature", "a column of 32 characters", WIRE, digest(WIRE).hexdigest()[:32])
case("truncated-signature", "the first digit is missing", WIRE, digest(WIRE).hexdigest()[1:])
case("no-match", "quite another secret", WIRE, digest(WIRE, "quite another"))
case("no-match", "quite another body", WIRE, digest("quite another"))
case("no-match", "too short, and not of this body", WIRE, digest("else").hexdigest()[:32])
case("no-match", "an empty signature", WIRE, "")
case("other-encoding", "two signatures", WIRE, digest(WIRE).hexdigest() + ", " + digest(WIRE).hexdigest())
case("no-match", "no hex at all", WIRE, "not a signature")

def sha1(*parts):
    return hashlib.sha1(b"".join(part.encode() for part in parts)).hexdigest()


case("plain-hash", "SHA-1 of the body", WIRE, sha1(WIRE))
case("plain-hash", "SHA-1 of secret and body", WIRE, sha1(SECRET, WIRE))
case("plain-hash", "SHA-1 of body and secret", WIRE, sha1(WIRE, SECRET))
case("plain-hash", "SHA-1 of secret, colon and body", WIRE, sha1(SECRET, ":", WIRE))
case("plain-hash", "key and body swapped", WIRE, digest(SECRET, WIRE))
case("plain-hash", "SHA-1 of body and secret, sent indented", json.dumps(MESSAGE, indent=2), sha1(json.dumps(json.loads(json.dumps(MESSAGE)), separators=(",", ":"), ensure_ascii=False).replace("39.0", "39"), SECRET))
case("hashed-twice", "SHA-1 of the HMAC in hex", WIRE, sha1(digest(WIRE).hexdigest()))
case("other-hash", "SHA-512", WIRE, digest(WIRE, algorithm=hashlib.sha512))
case("other-hash", "SHA-512 with its name", WIRE, "sha512=" + digest(WIRE, algorithm=hashlib.sha512).hexdigest())
case("other-hash", "SHA-512 in base64", WIRE, base64.b64encode(digest(WIRE, algorithm=hashlib.sha512).digest()).decode())
case("other-hash", "SHA-384", WIRE, digest(WIRE, algorithm=hashlib.sha384))
case("other-hash", "MD5", WIRE, digest(WIRE, algorithm=hashlib.md5))
case("other-hash", "the first 40 digits of SHA-512", WIRE, digest(WIRE, algorithm=hashlib.sha512).hexdigest()[:40])
case("sha256", "the first 40 digits of SHA-256", WIRE, digest(WIRE, algorithm=hashlib.sha256).hexdigest()[:40])

case("other-encoding", "signed as ASCII with ?", WIRE, digest(WIRE.encode("ascii", "replace")))
case("pretty-printed", "indented on Windows", WIRE, digest(json.dumps(MESSAGE, indent=2, ensure_ascii=False).replace("\n", "\r\n")))

case("trimmed-secret", "white space on both sides of the receiver's", WIRE, digest(WIRE, "s3cr3t-1"), "  s3cr3t-1 \n")
case("trimmed-secret", "white space on both sides of the sender's", WIRE, digest(WIRE, f" {SECRET} "))
case("trimmed-secret", "a space before the sender's", WIRE, digest(WIRE, f" {SECRET}"))
case("trimmed-secret", "a byte order mark before the sender's", WIRE, digest(WIRE, "\ufeff" + SECRET))
case("misread-secret", "the sender takes whsec_ off", WIRE, digest(WIRE, "c2VjcmV0LXNlY3JldA"), "whsec_c2VjcmV0LXNlY3JldA")
case("misread-secret", "and decodes the rest", WIRE, digest(WIRE, base64.b64decode("c2VjcmV0LXNlY3JldA==")), "whsec_c2VjcmV0LXNlY3JldA")
case("misread-secret", "the sender has whsec_", WIRE, digest(WIRE, f"whsec_{SECRET}"))
case("misread-secret", "the receiver's is a line of .env", WIRE, digest(WIRE, "s3cr3t-1"), "HOOKS_SECRET=s3cr3t-1")
case("misread-secret", "with quotes", WIRE, digest(WIRE, "s3cr3t-1"), 'export API_KEY="s3cr3t-1"')
case("misread-secret", "the sender's is a line of .env", WIRE, digest(WIRE, f"HOOKS_SECRET={SECRET}"))
case("misread-secret", "the sender's is percent-encoded", WIRE, digest(WIRE, "a%2Fb%3D%3D"), "a/b==")
case("misread-secret", "the receiver's is percent-encoded", WIRE, digest(WIRE, "a/b=="), "a%2Fb%3D%3D")
case("misread-secret", "upper case", WIRE, digest(WIRE, SECRET.upper()))
case("misread-secret", "lower case", WIRE, digest(WIRE, "mysecretvalue"), "MySecretValue")
case("misread-secret", "a shell took $ and what follows", WIRE, digest(WIRE, "pa-word"), "pa$s3cr3t-word")
case("misread-secret", "docker compose takes $$ for $", WIRE, digest(WIRE, "pa$word"), "pa$$word")
case("misread-secret", "a .env reader cuts it off at #", WIRE, digest(WIRE, "abc"), "abc#def")
case("other-secret", "the text of the variable", WIRE, digest(WIRE, "$HOOKS_SECRET"))
case("unexpanded-secret", "ours is the text of a variable", WIRE, digest(WIRE, "quite another"), "${WEBHOOK_KEY}")
case("other-secret", "the example of the docs", WIRE, digest(WIRE, "s3cret"))

case("no-match", "a parser consumed the body", "", digest(WIRE))
case("no-match", "the first 100 bytes", WIRE[:100], digest(WIRE))
case("no-match", "in the middle of a character", WIRE.encode()[: WIRE.encode().index("京".encode()) + 2], digest(WIRE))
case("no-match", "JavaScript", "[object Object]", digest(WIRE))
case("no-match", "Python", str(MESSAGE), digest(WIRE))
case("no-match", "bytes of Python", str(b'{"a":1}'), digest(WIRE))
case("no-match", "Ruby", '{"type"=>"track", "userId"=>"u-1"}', digest(WIRE))
case("no-match", "PHP", "Array", digest(WIRE))
case("no-match", "Go", "map[type:track userId:u-1]", digest(WIRE))
case("no-match", "Java", "{type=track, userId=u-1}", digest(WIRE))
case("no-match", "Node", "<Buffer 7b 22 61 22>", digest(WIRE))
chunked = f"{len(WIRE.encode()):x}\r\n{WIRE}\r\n0\r\n\r\n"
case("wrapped-body", "read from the socket", chunked, digest(WIRE))
case("no-match", "and changed", chunked.replace("track", "trick"), digest(WIRE))
case("wrapped-body", "API Gateway", json.dumps({"httpMethod": "POST", "headers": {}, "body": WIRE}), digest(WIRE))
case("wrapped-body", "a Lambda URL", json.dumps({"requestContext": {}, "body": base64.b64encode(WIRE.encode()).decode(), "isBase64Encoded": True}), digest(WIRE))
case("no-match", "a Lambda event of another body", json.dumps({"requestContext": {}, "body": "{}"}), digest(WIRE))
case("wrapped-body", "SQS", json.dumps({"Records": [{"messageId": "1", "body": WIRE, "eventSource": "aws:sqs"}]}), digest(WIRE))
case("wrapped-body", "SNS", json.dumps({"Type": "Notification", "Message": WIRE}), digest(WIRE))
case("wrapped-body", "Pub/Sub", json.dumps({"subscription": "s", "message": {"data": base64.b64encode(WIRE.encode()).decode()}}), digest(WIRE))
case("wrapped-body", "a Buffer as JSON", json.dumps({"type": "Buffer", "data": list(WIRE.encode())}), digest(WIRE))
case("wrapped-body", "a HAR file", json.dumps({"log": {"entries": [{"request": {"postData": {"text": WIRE}}}]}}), digest(WIRE))
case("no-match", "the output of curl -v", "* Connected to x\n> POST / HTTP/1.1\n> Host: x\n", digest(WIRE))
case("no-match", "a page", "<!doctype html><title>x</title>", digest(WIRE))
case("wrapped-body", "two bodies", WIRE + "\n" + WIRE, digest(WIRE))
case("wrapped-body", "what zsh prints at the end", WIRE + "%", digest(WIRE))
case("encoded-body", "base64 of the JSON", base64.b64encode(WIRE.encode()).decode(), digest(WIRE))
case("no-match", "base64 of other JSON", base64.b64encode(b'{"a":1}').decode(), digest(WIRE))
case("encoded-body", "bytea of PostgreSQL", "\\x" + WIRE.encode().hex(), digest(WIRE))
case("utf-16", "PowerShell >", WIRE.encode("utf-16"), digest(WIRE))
case("latin-1", "sent as Latin-1", latin.encode("latin-1"), digest(latin))
case("no-match", "of another body", latin.encode("latin-1"), digest(WIRE))
case("latin-1", "encoded twice", latin.encode().decode("latin-1"), digest(latin))
case("no-match", "decoded chunk by chunk", WIRE.replace("ö", "\ufffd"), digest(WIRE))
case("no-match", "packed, of another body", gzip.compress(b"{}"), digest(WIRE))
case("object-text", "a Python dict that was signed", WIRE, digest(str(json.loads(WIRE.replace("39.0", "39")))))
case("other-encoding", "the bytes that Python prints", WIRE, digest(str(WIRE.encode())))
case("no-match", "a word for nothing", WIRE, "undefined")
case("no-match", "sorted keys, lost", '{"event":"x","timestamp":"t","type":"track","userId":"u"}', digest(WIRE))

print(json.dumps(CASES))
