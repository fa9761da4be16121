const RAW =
  'the bytes as received, before anything parses them: express.raw({ type: "*/*" }), request.get_data(), io.ReadAll(r.Body), request.raw_post, file_get_contents("php://input"), @RequestBody byte[]';

/** The advice for a receiver that verifies bytes other than those it received. */
export const RAW_BYTES = `Verify ${RAW}`;

/**
 * The advice for reasons that can lie with the sender (it signs one text and sends another) or with the receiver (it
 * re-encodes the body).
 */
export const SAME_BYTES = `Sign and verify the same bytes: a sender signs the very string that it sends; a receiver verifies ${RAW}`;

/** Explains the code `lossy-json`. The text completes "it would match …". */
export function overLossyBody(loss: string): string {
  return `over the JSON-stringified body, which does not count, since parsing loses something: ${loss}`;
}

/** Fixes that describe X-Signature. For another scheme, a description of how it signs takes their place. */
export const X_SIGNATURE_FIXES = {
  sha256: 'Use HMAC-SHA1: X-Signature has 40 hex digits, SHA-256 gives 64',
  'other-hash':
    "Use HMAC-SHA1, which gives 40 hex digits: createHmac('sha1', secret), hmac.new(secret, body, hashlib.sha1)",
  'plain-hash':
    "Use an HMAC, keyed with the secret: createHmac('sha1', secret).update(body), hmac.new(secret, body, hashlib.sha1), hash_hmac('sha1', $body, $secret)",
  'hashed-twice':
    'Hash once: the HMAC of the bytes of the body, in hex, is the signature. Do not hash the body before it, or its digest again',
  base64: 'Write the digest as hex: digest("hex"), hexdigest()',
  'other-encoding':
    'Sign the UTF-8 bytes of the body, keyed with the UTF-8 bytes of the secret, and write the digest as 40 hex digits',
  'truncated-signature':
    'Give all 40 hex digits: look for a column, variable or log that is too short for them, or a big integer that drops zeros',
  'other-template':
    'Use HMAC-SHA1 over the bytes of the body alone, or name the scheme that both sides use: --scheme',
  'other-id': 'Sign the id that is sent',
} as const;

/** Fixes of mismatches with schemes that sign more than the body, or have another form of signature or secret. */
export const SCHEME_FIXES = {
  'other-timestamp': 'Read the clock once, and sign the time that is sent',
  'old-timestamp': 'Sign each attempt at the time when it is sent, and keep the clocks of both sides right',
  'timestamp-unit': 'Send and sign the Unix time in seconds: Math.floor(Date.now() / 1000)',
  'missing-prefix': 'Write the prefix of the scheme before the signature',
  'missing-header': 'Send all headers of the scheme, and let proxies pass them on',
  'malformed-header': 'Send the headers in the form of the scheme',
  'unusable-secret': 'Give the secret in the form of the scheme',
} as const;

/**
 * How to fix a mismatch, by the reason why other bytes were signed or the signature is wrong: the closed set of codes
 * (cli.md, "sign · verify"; later codes are in the README). The fixes speak to the person who runs the command, mostly the
 * author of a receiver.
 */
export const FIXES = {
  'trailing-newline':
    'Verify exactly the bytes received: a shell, `echo` and most editors add a newline to a copy (`printf %s` does not). If the sender is yours, send exactly what it signs: curl --data-binary, not -d',
  crlf: 'Keep the body as bytes, and do not open its file as text: something between the two sides rewrites line ends',
  bom: 'Write the body as UTF-8 without a byte order mark, and sign exactly what is sent',
  'pretty-printed': `${SAME_BYTES}. Write the JSON once, without indentation; curl -d removes line breaks, --data-binary keeps them`,
  'python-json': `${SAME_BYTES}. In Python: json.dumps with separators=(",", ":") and ensure_ascii=False, sent with data=, not json=`,
  'escaped-unicode': `${SAME_BYTES}. Write it without escapes (Python ensure_ascii=False, PHP JSON_UNESCAPED_UNICODE, Go SetEscapeHTML(false))`,
  'escaped-slash': `${SAME_BYTES}. In PHP: json_encode with JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE`,
  'reordered-keys': `${SAME_BYTES}. Keep the order of the keys: do not sort them, and avoid stores that do (jsonb, a map of Go)`,
  'lossy-json':
    'Reject the request: it may be forged. If the sender is yours, sign the bytes that it sends, in UTF-8, with each key once and large numbers as strings',
  'trimmed-secret':
    'Use the secret without white space or a newline around it on both sides: `printf %s` writes a file without one',
  'quoted-secret': 'Remove the quotes from the secret: docker --env-file and many .env readers keep them',
  'misread-secret':
    'Give both sides the same text as the secret, character by character: compare its length, its case, and what .env files, URLs and shells change',
  'unexpanded-secret':
    'Give the value of the variable: single quotes, .env files and YAML do not expand $NAME, and a program reads it with process.env or os.environ',
  'first-of-array':
    'Sign the whole body that is sent, not one message of it. Batched Webhooks (Actions) of Segment sign only the first event: --scheme segment-batch accepts that, but anyone can then append other events',
  gzip: 'Sign and verify the same bytes: the uncompressed ones on both sides, or the compressed ones on both',
  'url-encoded':
    'Verify the body as it came, before a form in it is parsed; if the sender is yours, it can send the JSON itself, with Content-Type: application/json',
  'object-text': `${SAME_BYTES}. Sign the JSON text, not what the language prints for the object (json.dumps(message), not str(message))`,
  'wrapped-body': RAW_BYTES,
  'encoded-body':
    'Decode it first: Buffer.from(body, "base64") or "hex", base64.b64decode(body) or bytes.fromhex(body); a gateway says so with isBase64Encoded',
  'utf-16':
    'Keep the body as the bytes that came: PowerShell writes UTF-16 with >, Out-File without -Encoding utf8 and Set-Content do too',
  'latin-1':
    'Read and send the body as UTF-8, or better as bytes: requests.text, a text given to http.client, latin1 or windows-1252 of a database connection, and an old editor use Latin-1',
  'other-secret': 'Give both sides the same secret',
  ...X_SIGNATURE_FIXES,
  ...SCHEME_FIXES,
  'no-signature':
    'Give the sender the secret (--secret, HOOKS_SECRET, sharedSecret), and let proxies pass X-Signature on',
  'no-match':
    'Compare the secrets without showing them: `printf %s "$HOOKS_SECRET" | sha256sum` on both sides. If they are equal, compare what each side signs in the same way, byte by byte: the body, and what a scheme signs around it; then the hash and its encoding',
} as const satisfies Readonly<Record<string, string>>;

/**
 * The advice for a request without a signature. `header` is the header that the signature belongs in; `schemes` are the
 * accepted schemes.
 */
export function missingSignatureFix(header: string, schemes: string): string {
  const fix = FIXES['no-signature'];
  if (header === 'X-Signature') return fix;
  return fix.replace(', and', `, and the scheme (--scheme ${schemes}), and`).replace('X-Signature', header);
}

export type ReasonCode = keyof typeof FIXES;

/** Why a body differs from its JSON-stringified form, over which the signature is valid; follows "the bytes differ:". */
export const NOTES = {
  'trailing-newline': 'they end with a newline',
  bom: 'they start with a byte order mark',
  'pretty-printed': 'they are indented or have extra spaces',
  'python-json': 'they have the spaces that json.dumps of Python puts after commas and colons',
  'escaped-unicode': 'characters are written as \\u escapes',
  'escaped-slash': 'slashes are written as \\/',
  'reordered-keys': 'their keys are in another order',
  'other-encoding': 'the same JSON is written differently (numbers, escapes)',
} as const satisfies Partial<Record<ReasonCode, string>>;

export type NoteCode = keyof typeof NOTES;
