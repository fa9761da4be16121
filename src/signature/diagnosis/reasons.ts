/**
 * The reasons why other bytes were signed, or the signature is wrong: the closed set of codes (cli.md, "sign · verify").
 * `means` follows "the bytes differ:" in a note; `fix` says to the person who runs the command how to fix a mismatch. Only the codes of `NOTE_CODES` can be the note of a valid verdict.
 */
export const REASONS = {
  'trailing-newline': {
    means: 'they end with a newline',
    fix: 'Sign exactly the bytes that are sent: a shell, `echo` and most editors add a newline (`printf %s` does not)',
  },
  crlf: {
    means: 'their lines end with CRLF',
    fix: 'Keep the body as bytes, and out of files opened as text: something between the two sides rewrites line ends',
  },
  bom: {
    means: 'they start with a byte order mark',
    fix: 'Write the body as UTF-8 without a byte order mark, and sign what is sent',
  },
  'pretty-printed': {
    means: 'they are indented, or spaced for reading',
    fix: 'Sign and send one string: stringify the body once, without indentation, and use that for both',
  },
  'python-json': {
    means: 'they have the spaces that json.dumps of Python puts after commas and colons',
    fix: 'Give json.dumps separators=(",", ":") and ensure_ascii=False, and send exactly the string that was signed (data=, not json=)',
  },
  'escaped-unicode': {
    means: 'characters are written as \\u escapes',
    fix: 'Sign and send one string: switch the escaping off on both sides (Python ensure_ascii=False, PHP JSON_UNESCAPED_UNICODE, Go SetEscapeHTML(false))',
  },
  'escaped-slash': {
    means: 'slashes are written as \\/',
    fix: 'Give json_encode JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE, and send exactly the string that was signed',
  },
  'reordered-keys': {
    means: 'their keys are in another order',
    fix: 'Keep the order of the keys: do not sort them, and avoid stores that do (jsonb, a map of Go)',
  },
  'trimmed-secret': {
    means: 'the secret has white space around it',
    fix: 'Use the secret without white space or a newline around it on both sides: `printf %s` writes a file without one',
  },
  'quoted-secret': {
    means: 'the secret is in quotes',
    fix: 'Remove the quotes from the secret: docker --env-file and many .env readers keep them',
  },
  sha256: {
    means: 'the signature was made with SHA-256',
    fix: 'Use HMAC-SHA1: X-Signature has 40 hex digits, SHA-256 gives 64',
  },
  base64: {
    means: 'the signature is written in base64',
    fix: 'Write the digest as hex: digest("hex"), hexdigest()',
  },
  'other-encoding': {
    means: 'the same JSON is written in another way (numbers, repeated keys, escapes)',
    fix: 'Sign the UTF-8 bytes of the body, keyed with the UTF-8 bytes of the secret, and write the digest as 40 hex digits',
  },
  'first-of-array': {
    means: 'one is a message, the other a list of messages',
    fix: 'Sign the whole body that is sent, not one message of it',
  },
  gzip: {
    means: 'one of the two is compressed',
    fix: 'Sign and verify the same bytes: the uncompressed ones on both sides, or the compressed ones on both',
  },
  'url-encoded': {
    means: 'the body is sent as a form field',
    fix: 'Send the JSON itself as the body, with Content-Type: application/json',
  },
  'truncated-signature': {
    means: 'the signature is cut off',
    fix: 'Give all 40 hex digits: look for a column, variable or log that is too short for them',
  },
  'other-secret': {
    means: 'another secret was used',
    fix: 'Give both sides the same secret',
  },
  'no-match': {
    means: 'no common mistake explains it',
    fix: 'Check that both sides have the same secret, and that this body is exactly as received: not parsed and written again, not from another request',
  },
} as const satisfies Readonly<Record<string, { readonly means: string; readonly fix: string }>>;

export type ReasonCode = keyof typeof REASONS;

/** The reasons why a body differs from its JSON-stringified form, which was signed. */
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
