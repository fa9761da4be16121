/**
 * The advice for most mismatches: receivers often do not verify the bytes that they received, but bytes made from a parsed
 * body.
 */
export const RAW_BYTES =
  'Verify the bytes as received, before anything parses them: express.raw(), request.get_data(), io.ReadAll(r.Body), request.raw_post';

/**
 * The advice for reasons that can lie with the receiver (it re-encodes the body) or with the sender (it signs one text and
 * sends another).
 */
const ONE_TEXT = `${RAW_BYTES}. If the sender is yours, sign and send one string`;

/** Explains the code `lossy-json`. The text completes "it would match …". */
export function overLossyBody(loss: string): string {
  return `over the JSON-stringified body, which does not count, since parsing loses something: ${loss}`;
}

/** Reasons for mismatches with schemes that sign more than the body, or have another form of signature or secret. */
export const SCHEME_REASONS = {
  'other-template': {
    means: 'something other than the body alone was signed',
    fix: 'Use HMAC-SHA1 over the bytes of the body alone, or name the scheme that both sides use: --scheme',
  },
  'other-id': {
    means: 'another id was signed',
    fix: 'Sign the id that is sent',
  },
  'other-timestamp': {
    means: 'another time was signed',
    fix: 'Read the clock once, and sign the time that is sent',
  },
  'old-timestamp': {
    means: 'the timestamp is too far from now',
    fix: 'Sign each attempt at the time when it is sent, and keep the clocks of both sides right',
  },
  'timestamp-unit': {
    means: 'the timestamp is in another unit',
    fix: 'Send and sign the Unix time in seconds: Math.floor(Date.now() / 1000)',
  },
  'missing-prefix': {
    means: 'the prefix of the signature is missing',
    fix: 'Write the prefix of the scheme before the signature',
  },
  'missing-header': {
    means: 'a header that the scheme needs is missing',
    fix: 'Send all headers of the scheme, and let proxies pass them on',
  },
  'malformed-header': {
    means: 'a header of the scheme is malformed',
    fix: 'Send the headers in the form of the scheme',
  },
  'unusable-secret': {
    means: 'no secret can be used with the scheme',
    fix: 'Give the secret in the form of the scheme',
  },
} as const;

/**
 * Reasons why other bytes were signed or the signature is wrong: the closed set of codes (cli.md, "sign · verify"; later
 * codes are in the README). `means` follows "the bytes differ:" in a note. `fix` tells the person who runs the command,
 * mostly the author of a receiver, how to fix a mismatch. Only the codes of `NOTE_CODES` can be the note of a valid verdict.
 */
export const REASONS = {
  'trailing-newline': {
    means: 'they end with a newline',
    fix: 'Verify exactly the bytes received: a shell, `echo` and most editors add a newline to a copy (`printf %s` does not). If the sender is yours, send exactly what it signs: curl --data-binary, not -d',
  },
  crlf: {
    means: 'their lines end with CRLF',
    fix: 'Keep the body as bytes, and do not open its file as text: something between the two sides rewrites line ends',
  },
  bom: {
    means: 'they start with a byte order mark',
    fix: 'Write the body as UTF-8 without a byte order mark, and sign exactly what is sent',
  },
  'pretty-printed': {
    means: 'they are indented or have extra spaces',
    fix: `${ONE_TEXT}: stringified once, without indentation`,
  },
  'python-json': {
    means: 'they have the spaces that json.dumps of Python puts after commas and colons',
    fix: `${ONE_TEXT}: json.dumps with separators=(",", ":") and ensure_ascii=False, sent with data=, not json=`,
  },
  'escaped-unicode': {
    means: 'characters are written as \\u escapes',
    fix: `${ONE_TEXT}: without escapes (Python ensure_ascii=False, PHP JSON_UNESCAPED_UNICODE, Go SetEscapeHTML(false))`,
  },
  'escaped-slash': {
    means: 'slashes are written as \\/',
    fix: `${ONE_TEXT}: json_encode with JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE`,
  },
  'reordered-keys': {
    means: 'their keys are in another order',
    fix: `${RAW_BYTES}. Keep the order of the keys: do not sort them, and avoid stores that do (jsonb, a map of Go)`,
  },
  'lossy-json': {
    means: 'parsing the body loses something, so JSON parsers disagree on it',
    fix: 'Reject the request: it may be forged. If the sender is yours, sign the bytes that it sends, in UTF-8, with each key once and large numbers as strings',
  },
  'trimmed-secret': {
    means: 'the secret has white space around it',
    fix: 'Use the secret without white space or a newline around it on both sides: `printf %s` writes a file without one',
  },
  'quoted-secret': {
    means: 'the secret is in quotes',
    fix: 'Remove the quotes from the secret: docker --env-file and many .env readers keep them',
  },
  'misread-secret': {
    means: 'the secret is read in another way',
    fix: 'Give both sides the same text as the secret, character by character: compare its length, its case, and what .env files, URLs and shells change',
  },
  'unexpanded-secret': {
    means: 'the secret is the name of a variable',
    fix: 'Give the value of the variable: single quotes, .env files and YAML do not expand $NAME, and a program reads it with process.env or os.environ',
  },
  sha256: {
    means: 'the signature was made with SHA-256',
    fix: 'Use HMAC-SHA1: X-Signature has 40 hex digits, SHA-256 gives 64',
  },
  'other-hash': {
    means: 'the signature was made with another hash',
    fix: "Use HMAC-SHA1, which gives 40 hex digits: createHmac('sha1', secret), hmac.new(secret, body, hashlib.sha1)",
  },
  'plain-hash': {
    means: 'the signature is a plain hash',
    fix: "Use an HMAC, keyed with the secret: createHmac('sha1', secret).update(body), hmac.new(secret, body, hashlib.sha1), hash_hmac('sha1', $body, $secret)",
  },
  base64: {
    means: 'the signature is written in base64',
    fix: 'Write the digest as hex: digest("hex"), hexdigest()',
  },
  'other-encoding': {
    means: 'the same JSON is written differently (numbers, escapes)',
    fix: 'Sign the UTF-8 bytes of the body, keyed with the UTF-8 bytes of the secret, and write the digest as 40 hex digits',
  },
  'first-of-array': {
    means: 'one is a message, the other a list of messages',
    fix: 'Sign the whole body that is sent, not one message of it. Batched Webhooks (Actions) of Segment sign only the first event: --scheme segment-batch accepts that, but anyone can then append other events',
  },
  gzip: {
    means: 'one of the two is compressed',
    fix: 'Sign and verify the same bytes: the uncompressed ones on both sides, or the compressed ones on both',
  },
  'url-encoded': {
    means: 'the body is sent as a form field',
    fix: 'Send the JSON itself as the body, with Content-Type: application/json',
  },
  'object-text': { means: 'the body is the text of an object', fix: RAW_BYTES },
  chunked: { means: 'the body has the lengths of its chunks in it', fix: RAW_BYTES },
  'wrapped-body': { means: 'the body is inside something else', fix: RAW_BYTES },
  'encoded-body': { means: 'the body is written in base64 or hex', fix: RAW_BYTES },
  'utf-16': { means: 'the body is UTF-16', fix: RAW_BYTES },
  'latin-1': { means: 'the body is not UTF-8', fix: RAW_BYTES },
  'truncated-signature': {
    means: 'the signature is cut off',
    fix: 'Give all 40 hex digits: look for a column, variable or log that is too short for them',
  },
  'other-secret': {
    means: 'another secret was used',
    fix: 'Give both sides the same secret',
  },
  ...SCHEME_REASONS,
  'no-signature': {
    means: 'there is no signature',
    fix: 'Give the sender the secret (--secret, HOOKS_SECRET, sharedSecret), and let proxies pass X-Signature on',
  },
  'no-match': {
    means: 'no common mistake explains it',
    fix: 'Compare the secrets without showing them: `printf %s "$HOOKS_SECRET" | sha256sum` on both sides. If they are equal, this body is not the one that was signed: it was parsed and written again, or is from another request',
  },
} as const satisfies Readonly<Record<string, { readonly means: string; readonly fix: string }>>;

/**
 * The advice for a request without a signature. `header` is the header that the signature belongs in; `schemes` are the
 * accepted schemes.
 */
export function missingSignatureFix(header: string, schemes: string): string {
  const { fix } = REASONS['no-signature'];
  if (header === 'X-Signature') return fix;
  return fix.replace(', and', `, and the scheme (--scheme ${schemes}), and`).replace('X-Signature', header);
}

export type ReasonCode = keyof typeof REASONS;

/** Reasons why a body differs from its JSON-stringified form, over which the signature is valid. */
export const NOTE_CODES = [
  'trailing-newline',
  'bom',
  'pretty-printed',
  'python-json',
  'escaped-unicode',
  'escaped-slash',
  'reordered-keys',
  'other-encoding',
] as const satisfies readonly ReasonCode[];

export type NoteCode = (typeof NOTE_CODES)[number];
