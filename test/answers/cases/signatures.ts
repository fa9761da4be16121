import { createHash, createHmac } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import type { AnswerCase, AnswerTheme, Given } from '../answer-case.ts';

const SECRET = 'answers-secret-1';
const MESSAGE = {
  version: 1,
  type: 'track',
  userId: 'u-1',
  event: 'Größe <a/b> & Co',
  properties: { total: 39.5, city: '東京', ok: true, none: null },
  timestamp: '2026-11-20T21:10:05.123Z',
};
const JSON_TEXT = JSON.stringify(MESSAGE);
const INDENTED = JSON.stringify(MESSAGE, null, 2);
const SHORT_KEYS_FIRST =
  '{"type":"track","event":"S","userId":"u1","messageId":"m-1","properties":{"total":27.5,"plan":"pro","id":1}}';
const NO_MATCH = 'probably the two sides hold different secrets';
const RAW =
  'the bytes as received, before anything parses them: express.raw({ type: "*/*" }), request.get_data(), io.ReadAll(r.Body), request.raw_post';

const COMPARE_BODIES = 'compare what each side signs in the same way, byte by byte: the body';

const BODY: Given = { files: { 'body.json': JSON_TEXT } };

type Bytes = string | Uint8Array;

function hmac(body: Bytes, key: Bytes = SECRET, algorithm = 'sha1'): string {
  return createHmac(algorithm, key).update(body).digest('hex');
}

function sha1(...parts: readonly string[]): string {
  return createHash('sha1').update(parts.join('')).digest('hex');
}

interface Mismatch {
  readonly id: string;
  readonly title: string;
  /** @default the JSON of the message */
  readonly body?: Bytes;
  /** @default of the JSON of the message */
  readonly signature?: string;
  readonly secret?: string;
  readonly flags?: readonly string[];
  readonly cause: string;
  readonly fix: string;
  readonly given?: Given;
}

/** `hooks verify` of a body with a signature that does not match. Neither secret may be shown, nor another cause be named. */
function mismatch({
  id,
  title,
  body = JSON_TEXT,
  signature = hmac(JSON_TEXT),
  secret = SECRET,
  flags = [],
  given = {},
  ...rest
}: Mismatch): AnswerCase {
  return {
    id: `verify-${id}`,
    title,
    given: { ...given, files: { ...given.files, 'body.json': body, 'secret.txt': secret } },
    argv: [
      'verify',
      '--secret-file',
      'secret.txt',
      '--signature',
      signature,
      '--exact',
      ...flags,
      'body.json',
    ],
    never: [NO_MATCH, secret.trim()],
    ...rest,
  };
}

/** The signature is over another text than the body. */
function signed(
  id: string,
  title: string,
  text: Bytes,
  [cause, fix]: readonly [string, string],
  body?: Bytes,
): AnswerCase {
  return mismatch({ id, title, signature: hmac(text), cause, fix, ...(body !== undefined && { body }) });
}

/** The signature is not an HMAC-SHA1 in hex with our secret. */
function withSignature(
  id: string,
  title: string,
  signature: string,
  [cause, fix]: readonly [string, string],
): AnswerCase {
  return mismatch({ id, title, signature, cause, fix });
}

/** The signature is keyed with another secret than ours. */
function keyed(
  id: string,
  title: string,
  key: Bytes,
  [cause, fix]: readonly [string, string],
  secret?: string,
): AnswerCase {
  return mismatch({
    id,
    title,
    signature: hmac(JSON_TEXT, key),
    cause,
    fix,
    ...(secret !== undefined && { secret }),
  });
}

/** The body is not what was signed. If nothing of that can be restored, how it looks is a note beside the secrets. */
function received(
  id: string,
  title: string,
  body: Bytes,
  [cause, fix]: readonly [string, string],
): AnswerCase {
  return { ...mismatch({ id, title, body, cause, fix }), never: [SECRET] };
}

const ascii = (text: string): string =>
  text.replaceAll(/[\u0080-\uffff]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
const python = (text: string): string => text.replaceAll('":', '": ').replaceAll(',"', ', "');

const OTHER_BYTES: readonly AnswerCase[] = [
  mismatch({
    id: 'empty-post',
    title: 'a PHP program signs json_encode($_POST), which is empty for JSON',
    signature: hmac('[]'),
    cause: 'it would match over [], as PHP writes the empty $_POST of a JSON request',
    fix: 'Compute over the bytes of the body',
  }),
  ...(
    [
      ['plus', 'text=a+b&user=u', 'text=a%20b&user=u', 'over the form with %20 for each +'],
      ['percent-20', 'text=a%20b&user=u', 'text=a+b&user=u', 'over the form with + for each %20'],
    ] as const
  ).map(([id, body, original, cause]) =>
    mismatch({
      id: `form-${id}`,
      title: `a form is parsed and written again: ${cause}`,
      body,
      signature: hmac(original),
      cause: `it would match ${cause}`,
      fix: RAW,
    }),
  ),
  signed(
    'newline-added',
    'an editor or a shell added a newline to the body',
    JSON_TEXT,
    ['it would match without the trailing newline', 'Verify exactly the bytes received'],
    `${JSON_TEXT}\n`,
  ),
  signed('newline-signed', 'the sender signed the output of echo', `${JSON_TEXT}\n`, [
    'it would match with a newline at the end of the body',
    'send exactly what it signs: curl --data-binary, not -d',
  ]),
  signed(
    'crlf',
    'something rewrote the line ends',
    INDENTED.replaceAll('\n', '\r\n'),
    ['it would match with CRLF for LF', 'Keep the body as bytes'],
    INDENTED,
  ),
  signed(
    'bom',
    'the body begins with a byte order mark',
    JSON_TEXT,
    ['it would match without the byte order mark', 'Write the body as UTF-8 without a byte order mark'],
    `\ufeff${JSON_TEXT}`,
  ),
  signed('reserialised', 'the receiver verifies JSON that it parsed and wrote again', INDENTED, [
    'it would match indented by 2 spaces',
    RAW,
  ]),
  signed(
    'indented',
    'the body was indented on its way',
    JSON_TEXT,
    ['it would match over the JSON-stringified body', RAW],
    INDENTED,
  ),
  signed(
    'lossy',
    'a forger added a key to a body that was signed',
    '{"userId":"victim"}',
    [
      'which does not count, since parsing loses something: Expected each key once, got `userId` twice',
      'Reject the request: it may be forged',
    ],
    '{"userId":"attacker","userId":"victim"}',
  ),
  signed('indented-crlf', 'the sender indents on Windows', INDENTED.replaceAll('\n', '\r\n'), [
    'it would match indented by 2 spaces and with CRLF for LF',
    RAW,
  ]),
  signed('python-spaces', 'a sender in Python signs json.dumps and sends json=', ascii(python(JSON_TEXT)), [
    'it would match as json.dumps of Python writes it',
    'separators=(",", ":")',
  ]),
  signed('unicode-escapes', 'one side writes \\u escapes', ascii(JSON_TEXT), [
    'it would match with non-ASCII characters as \\u escapes',
    'JSON_UNESCAPED_UNICODE',
  ]),
  signed(
    'html-escapes',
    'a sender in Go escapes HTML',
    JSON_TEXT.replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('&', '\\u0026'),
    ['with <, > and & as \\u escapes, as Go and Rails write them', 'SetEscapeHTML(false)'],
  ),
  signed('slash-escapes', 'a sender in PHP escapes slashes', JSON_TEXT.replaceAll('/', '\\/'), [
    'it would match with slashes as \\/',
    'JSON_UNESCAPED_SLASHES',
  ]),
  signed(
    'sorted-keys',
    'a sender signs sorted keys',
    JSON.stringify(
      Object.fromEntries(
        Object.entries({
          ...MESSAGE,
          properties: Object.fromEntries(
            Object.entries(MESSAGE.properties).toSorted(([a], [b]) => (a < b ? -1 : 1)),
          ),
        }).toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ),
    ),
    ['it would match with sorted keys', 'Keep the order of the keys'],
  ),
  signed('utf-16-signed', 'a sender in C# signs Encoding.Unicode', Buffer.from(JSON_TEXT, 'utf16le'), [
    'it would match over the body encoded as UTF-16',
    'Read, sign and write the body as UTF-8 on both sides, or better as bytes',
  ]),
  signed(
    'latin-1-signed',
    'the sender signs Latin-1',
    Buffer.from('{"a":"é"}', 'latin1'),
    [
      'it would match over the body encoded as Latin-1',
      'Read, sign and write the body as UTF-8 on both sides, or better as bytes',
    ],
    '{"a":"é"}',
  ),
  signed(
    'ascii-signed',
    'the sender signs ASCII with question marks',
    JSON_TEXT.replaceAll(/[^\0-\x7f]/g, '?'),
    [
      'it would match over the body encoded as ASCII, with ? for other characters',
      'Read, sign and write the body as UTF-8 on both sides, or better as bytes',
    ],
  ),
  signed('object-signed', 'the sender signs an object instead of its text', '[object Object]', [
    'it would match over "[object Object]", the text of an object',
    'Sign the JSON text of the message, not the object',
  ]),
  signed('nothing-signed', 'the sender signs before it has the body', '', [
    'it would match over no bytes at all',
    'Compute over the bytes of the body: one side did not have them',
  ]),
  signed(
    'base64-signed',
    'the sender signs the base64 of the body',
    Buffer.from(JSON_TEXT).toString('base64'),
    [
      'it would match over the body encoded as base64',
      'Sign and verify the same bytes: a sender signs the very string that it sends',
    ],
  ),
  signed(
    'gzip-sent',
    'the body is compressed after it was signed',
    JSON_TEXT,
    ['it would match over the body decoded from gzip or zlib', 'Sign and verify the same bytes'],
    gzipSync(JSON_TEXT),
  ),
  signed(
    'zlib-sent',
    'the body is deflated after it was signed',
    JSON_TEXT,
    ['it would match over the body decoded from gzip or zlib', 'Sign and verify the same bytes'],
    deflateSync(JSON_TEXT),
  ),
  signed(
    'form-sent',
    'the JSON is sent as a field of a form',
    JSON_TEXT,
    [
      'it would match over the value of the form field alone',
      'Verify the body as it came, before a form in it is parsed',
    ],
    new URLSearchParams({ payload: JSON_TEXT }).toString(),
  ),
  signed(
    'first-of-list',
    'the sender signs a message and sends a list',
    JSON_TEXT,
    ['it would match over the first message of the list alone', 'Sign the whole body that is sent'],
    `[${JSON_TEXT},${JSON_TEXT}]`,
  ),
  signed(
    'stringified-twice',
    'the body was stringified twice',
    JSON_TEXT,
    [
      'it would match over the body decoded from a JSON string',
      'Stringify the message once: a client that gets a text to send as JSON (axios, requests json=) stringifies it again',
    ],
    JSON.stringify(JSON_TEXT),
  ),
  signed(
    'python-repr-signed',
    'a sender in Python signs str(message)',
    "{'a': 1, 'b': True, 'c': None}",
    ['it would match over the body encoded as the text that Python prints for it', RAW],
    '{"a":1,"b":true,"c":null}',
  ),
];

/** A body whose digests have bytes below 16. */
const ZEROS = '{"n":2}';

const OTHER_HASHES: readonly AnswerCase[] = [
  ...(['sha1', 'sha256'] as const).map((algorithm) => {
    const digest = createHmac(algorithm, SECRET).update(ZEROS).digest();
    return mismatch({
      id: `no-zeros-${algorithm}`,
      title: `the sender writes each byte of the digest (${algorithm}) without its leading zero`,
      body: ZEROS,
      signature: Array.from(digest, (byte) => byte.toString(16)).join(''),
      cause: `it is the HMAC-${algorithm.toUpperCase()} in hex without the leading zeros of its bytes`,
      fix: 'Write each byte as two digits: in Java, HexFormat.of().formatHex(digest)',
    });
  }),
  withSignature('plain-sha1', 'the signature is a plain SHA-1 of the body', sha1(JSON_TEXT), [
    'it would match as SHA-1(body), a plain hash in place of an HMAC',
    "createHmac('sha1', secret).update(body)",
  ]),
  withSignature('sha1-secret-body', 'the signature is SHA-1 of secret and body', sha1(SECRET, JSON_TEXT), [
    'it would match as SHA-1(secret + body)',
    'Use an HMAC, keyed with the secret',
  ]),
  withSignature('sha1-body-secret', 'the signature is SHA-1 of body and secret', sha1(JSON_TEXT, SECRET), [
    'it would match as SHA-1(body + secret)',
    'Use an HMAC, keyed with the secret',
  ]),
  withSignature(
    'swapped',
    'key and body are swapped in the call that makes the HMAC',
    hmac(SECRET, JSON_TEXT),
    [
      'it would match with the body as the key and the secret as the message',
      'hmac.new(secret, body, hashlib.sha1)',
    ],
  ),
  withSignature('sha256', 'the sender uses HMAC-SHA256', hmac(JSON_TEXT, SECRET, 'sha256'), [
    'it is the HMAC-SHA256 of this body',
    'Use HMAC-SHA1: X-Signature has 40 hex digits, SHA-256 gives 64',
  ]),
  withSignature(
    'sha256-cut',
    'HMAC-SHA256 cut to 40 digits by a column',
    hmac(JSON_TEXT, SECRET, 'sha256').slice(0, 40),
    ['the signature is 40 of the 64 digits of an HMAC-SHA256 in hex', 'Use HMAC-SHA1'],
  ),
  withSignature('sha512', 'the sender uses HMAC-SHA512', hmac(JSON_TEXT, SECRET, 'sha512'), [
    'it is the HMAC-SHA512 of this body',
    'Use HMAC-SHA1, which gives 40 hex digits',
  ]),
  withSignature('sha384', 'the sender uses HMAC-SHA384', hmac(JSON_TEXT, SECRET, 'sha384'), [
    'it is the HMAC-SHA384 of this body',
    'Use HMAC-SHA1, which gives 40 hex digits',
  ]),
  withSignature('md5', 'the sender uses HMAC-MD5', hmac(JSON_TEXT, SECRET, 'md5'), [
    'it is the HMAC-MD5 of this body',
    'Use HMAC-SHA1, which gives 40 hex digits',
  ]),
  withSignature(
    'base64-digest',
    'the digest is written in base64',
    createHmac('sha1', SECRET).update(JSON_TEXT).digest('base64'),
    ['it is the HMAC-SHA1 in base64 of this body', 'Write the digest as hex'],
  ),
  withSignature('cut-signature', 'the signature lost its last digits', hmac(JSON_TEXT).slice(0, 32), [
    'the signature is 32 of the 40 digits of the right one',
    'look for a column, variable or log that is too short',
  ]),
  withSignature('two-signatures', 'a proxy adds a second signature', `${hmac('x')}, ${hmac(JSON_TEXT)}`, [
    'it is the HMAC-SHA1 of this body, but it has other text around its digits',
    'give the digits of the digest alone, without other characters or a second signature',
  ]),
  withSignature('undefined-signature', 'the sender sends the word undefined as the signature', 'undefined', [
    'the signature is no digest, but what a program prints for nothing',
    'Compute the digest before the header is written',
  ]),
  withSignature('promise-signature', 'the sender does not await the digest', '[object Promise]', [
    'a Promise that was not awaited',
    'await the function that signs',
  ]),
  withSignature('unexpanded-signature', 'the shell does not expand $SIG in single quotes', '$SIG', [
    'the signature is the name of a variable that was not expanded',
    'in double quotes',
  ]),
  withSignature(
    'openssl-output',
    'the whole output of openssl dgst is given as the signature',
    `SHA1(stdin)= ${hmac(JSON_TEXT)}`,
    [
      'it is the HMAC-SHA1 of this body, but it has other text around its digits: `SHA1(stdin)= ',
      'give the digits of the digest alone',
    ],
  ),
];

const BOTH_SAME = 'Give both sides the same text as the secret';

const OTHER_SECRETS: readonly AnswerCase[] = [
  ...(
    [
      ['no-break-space', 'a no-break space', '\u00a0'],
      ['zero-width-space', 'a zero-width space', '\u200b'],
    ] as const
  ).map(([id, what, text]) =>
    mismatch({
      id: `their-secret-${id}`,
      title: `the secret of the sender ends in ${what}`,
      signature: hmac(JSON_TEXT, SECRET + text),
      cause: `it would match with ${what} at the end of the secret`,
      fix: BOTH_SAME,
    }),
  ),
  keyed('secret-newline', 'the secret of the other side ends with a newline', `${SECRET}\n`, [
    'it would match with a newline at the end of the secret',
    'Use the secret without white space',
  ]),
  keyed(
    'secret-spaces',
    'our secret has white space on both sides',
    'plain-secret',
    ['it would match without the white space around the secret', 'Use the secret without white space'],
    '  plain-secret ',
  ),
  keyed('secret-spaces-there', 'the secret of the other side has white space on both sides', ` ${SECRET} `, [
    'it would match with a space around the secret',
    'Use the secret without white space',
  ]),
  keyed('secret-quotes', 'docker --env-file keeps the quotes of the secret', `"${SECRET}"`, [
    'it would match with double quotes around the secret',
    'Remove the quotes from the secret',
  ]),
  keyed(
    'secret-own-quotes',
    'our secret is in quotes',
    'plain-secret',
    ['it would match without single quotes around the secret', 'Remove the quotes from the secret'],
    "'plain-secret'",
  ),
  keyed(
    'secret-whsec',
    'the other side takes whsec_ off the secret',
    'MfKQ9r8GKYqrTwjU',
    ['it would match without whsec_ before the secret', BOTH_SAME],
    'whsec_MfKQ9r8GKYqrTwjU',
  ),
  keyed(
    'secret-whsec-bytes',
    'the other side decodes what follows whsec_',
    Buffer.from('MfKQ9r8GKYqrTwjU', 'base64'),
    [
      'it would match without whsec_ before the secret and with the secret decoded from base64',
      'Key the HMAC with the same bytes on both sides: agree whether the secret is text, or is decoded from hex or base64 first',
    ],
    'whsec_MfKQ9r8GKYqrTwjU',
  ),
  keyed(
    'secret-name',
    'the secret file holds a line of .env',
    'plain-secret',
    ['it would match without the name and the equals sign before the secret', BOTH_SAME],
    'WEBHOOK_KEY=plain-secret',
  ),
  keyed(
    'secret-name-there',
    'the other side uses a whole line of .env as the secret',
    `HOOKS_SECRET=${SECRET}`,
    ['it would match with HOOKS_SECRET= before the secret', BOTH_SAME],
  ),
  keyed(
    'secret-percent',
    'the other side took the secret from a URL',
    encodeURIComponent('a/b+c=='),
    ['it would match with the secret encoded as a URL component', BOTH_SAME],
    'a/b+c==',
  ),
  keyed(
    'secret-percent-here',
    'our secret is still percent-encoded',
    'a/b+c==',
    ['it would match with the secret decoded from a URL component', BOTH_SAME],
    'a%2Fb%2Bc%3D%3D',
  ),
  keyed('secret-case', 'a form wrote the secret in capitals', SECRET.toUpperCase(), [
    'it would match with the secret in upper case',
    BOTH_SAME,
  ]),
  keyed(
    'secret-lower-case',
    'the other side has the secret in small letters',
    'answers-secret-1',
    ['it would match with the secret in lower case', BOTH_SAME],
    'Answers-Secret-1',
  ),
  keyed(
    'secret-hex',
    'the other side decodes the secret from hex',
    Buffer.from('00ff10aa', 'hex'),
    [
      'it would match with the secret decoded from hex',
      'Key the HMAC with the same bytes on both sides: agree whether the secret is text, or is decoded from hex or base64 first',
    ],
    '00ff10aa',
  ),
  keyed(
    'secret-dollar',
    'a shell expanded a part of the secret in double quotes',
    'pa-word',
    ['what follows $ in the secret replaced by nothing, as a shell does in double quotes', BOTH_SAME],
    'pa$s3cr3t-word',
  ),
  keyed(
    'secret-hash',
    'a .env reader takes # for a comment',
    'abcdef',
    ['it would match with the secret cut off at #', BOTH_SAME],
    'abcdef#ghi',
  ),
  keyed(
    'secret-compose',
    'docker compose reads $$ as $',
    'pa$word',
    ['it would match with $$ in the secret read as $, as docker compose does', BOTH_SAME],
    'pa$$word',
  ),
  keyed('secret-undefined', 'the sender has no secret and signs with the word undefined', 'undefined', [
    'it would match with the word "undefined" as the secret',
    'Set the variable of the secret on the other side, where it is not set',
  ]),
  keyed('secret-empty', 'the sender has an empty secret', '', [
    'it would match with an empty secret',
    'Set the variable of the secret on the other side, where it is not set',
  ]),
  keyed('secret-not-hex', 'the sender decodes from hex a secret that is no hex', Buffer.from(SECRET, 'hex'), [
    'it would match with an empty secret',
    'of a text that is not hex, Buffer.from(secret, "hex") gives an empty key',
  ]),
  keyed(
    'secret-starts-as-hex',
    'the sender decodes from hex a secret that only starts as hex',
    Buffer.from('c0ffee-and-tea', 'hex'),
    [
      'with the secret decoded from hex up to its first character that is not a hex digit',
      'Key the HMAC with the same bytes on both sides',
    ],
    'c0ffee-and-tea',
  ),
  {
    ...keyed('secret-example', 'the other side still uses the secret of the docs', 's3cret', [
      'it would match with "s3cret" as the secret, as examples have it',
      'Give both sides the same secret',
    ]),
    never: ['is not set', NO_MATCH, SECRET],
  },
  keyed('secret-unexpanded-there', 'the other side did not expand $HOOKS_SECRET', '$HOOKS_SECRET', [
    'it would match with the text "$HOOKS_SECRET" as the secret, which the other side did not expand',
    'Give the value of the variable',
  ]),
  keyed(
    'secret-unexpanded',
    'our secret is the text of a variable',
    'quite-another',
    [
      'our secret is the text of the variable WEBHOOK_KEY, which was not expanded',
      'Give the value of the variable',
    ],
    '${WEBHOOK_KEY}',
  ),
  mismatch({
    id: 'secret-other-variable',
    title: 'the flag gives another secret than HOOKS_SECRET',
    signature: hmac(JSON_TEXT, 'from-the-variable'),
    given: { env: { HOOKS_SECRET: 'from-the-variable' } },
    cause: 'it would match with the secret from HOOKS_SECRET',
    fix: 'Give both sides the same secret',
  }),
  mismatch({
    id: 'secret-of-config',
    title: 'the flag gives another secret than the config',
    signature: hmac(JSON_TEXT, 'from-the-config'),
    given: { files: { '.hooksrc.yaml': 'sharedSecret: from-the-config\n' } },
    cause: 'it would match with the secret from sharedSecret of .hooksrc.yaml',
    fix: 'Give both sides the same secret',
  }),
  {
    id: 'verify-secret-hides',
    title: 'HOOKS_SECRET hides the secret of the config, and neither is that of the sender',
    given: {
      files: { 'body.json': JSON_TEXT, '.hooksrc.yaml': 'sharedSecret: from-the-config\n' },
      env: { HOOKS_SECRET: 'fourteen-chars' },
    },
    argv: ['verify', '--signature', hmac(JSON_TEXT, 'quite another'), 'body.json'],
    cause:
      'probably the two sides hold different secrets (ours: 14 characters, from HOOKS_SECRET, which hides sharedSecret of .hooksrc.yaml)',
    fix: 'Compare the secrets without showing them: `printf %s "$HOOKS_SECRET" | sha256sum` on both sides',
    never: ['fourteen-chars', 'from-the-config', 'is not set'],
  },
  {
    id: 'verify-secret-reference',
    title: 'the secret is a reference to one',
    given: BODY,
    argv: [
      'verify',
      '--secret',
      'op://vault/item',
      '--signature',
      hmac(JSON_TEXT, 'quite another'),
      'body.json',
    ],
    cause: 'ours: 15 characters, which look like a placeholder or a reference rather than a secret',
    fix: 'Compare the secrets without showing them',
    never: ['op://'],
  },
  {
    id: 'verify-short-keys-first',
    title: 'the two sides have different secrets, and the body has short keys before long ones',
    given: { files: { 'body.json': SHORT_KEYS_FIRST } },
    argv: ['verify', '--secret', SECRET, '--signature', hmac(SHORT_KEYS_FIRST, 'quite another'), 'body.json'],
    cause: NO_MATCH,
    fix: 'Compare the secrets without showing them',
    never: ['jsonb of PostgreSQL stores them'],
  },
  {
    id: 'verify-other-secret',
    title: 'the two sides have different secrets',
    given: BODY,
    argv: ['verify', '--secret', SECRET, '--signature', hmac(JSON_TEXT, 'quite another'), 'body.json'],
    cause: 'probably the two sides hold different secrets (ours: 16 characters, from --secret)',
    fix: 'Compare the secrets without showing them',
    never: [SECRET, 'is not set', 'the body was changed:', '$HOOKS_SECRET'],
  },
];

const chunked = `${Buffer.byteLength(JSON_TEXT).toString(16)}\r\n${JSON_TEXT}\r\n0\r\n\r\n`;
const har = { log: { entries: [{ request: { postData: { text: JSON_TEXT } } }] } };

const BODIES: readonly AnswerCase[] = [
  received('empty', 'a body parser has read the body before', '', [
    'The body is empty: something has read it before, or it was not sent',
    RAW,
  ]),
  received('cut-off', 'a column cut the body off', JSON_TEXT.slice(0, 100), [
    'The body is JSON that is cut off after 102 bytes',
    'Verify the whole body: look for a limit on the way',
  ]),
  received(
    'cut-off-varchar',
    'a VARCHAR(255) cut the body off',
    JSON.stringify({ a: 'x'.repeat(400) }).slice(0, 255),
    ['cut off after 255 bytes', 'Verify the whole body'],
  ),
  received('utf-16', 'PowerShell wrote the body as UTF-16', Buffer.from(`\ufeff${JSON_TEXT}`, 'utf16le'), [
    'it would match over the body decoded from UTF-16',
    'Keep the body as the bytes that came',
  ]),
  received('base64-body', 'a gateway gives the body in base64', Buffer.from(JSON_TEXT).toString('base64'), [
    'it would match over the body decoded from base64',
    'Decode it first: Buffer.from(body, "base64")',
  ]),
  received('hex-body', 'a database shows the body as hex', `\\x${Buffer.from(JSON_TEXT).toString('hex')}`, [
    'it would match over the body decoded from hex',
    'Decode it first',
  ]),
  received('object-object', 'the receiver verifies String(req.body)', '[object Object]', [
    'The body is a value as a program prints it: it begins with "[object Object]"',
    'express.raw({ type: "*/*" })',
  ]),
  received(
    'python-repr',
    'the receiver verifies str(request.json)',
    "{'type': 'track', 'userId': 'u-1', 'ok': True}",
    ["The body is a value as a program prints it: it begins with \"{'type': 'track',", 'request.get_data()'],
  ),
  received('python-bytes', 'the receiver verifies str(bytes)', `b'${JSON_TEXT}'`, [
    'the body has other text around its JSON',
    RAW,
  ]),
  received('ruby-hash', 'the receiver verifies params.to_s', '{"type"=>"track", "userId"=>"u-1"}', [
    'The body is a value as a program prints it: it begins with "{"type"=>"track"',
    'request.raw_post',
  ]),
  received('php-array', 'the receiver makes a string of an array', 'Array', [
    'The body is a value as a program prints it: it begins with "Array"',
    'file_get_contents("php://input")',
  ]),
  received('go-map', 'the receiver prints a map', 'map[type:track userId:u-1]', [
    'The body is a value as a program prints it: it begins with "map[type:track',
    'io.ReadAll(r.Body)',
  ]),
  received('java-map', 'the receiver verifies map.toString()', '{type=track, userId=u-1}', [
    'The body is a value as a program prints it: it begins with "{type=track',
    '@RequestBody byte[]',
  ]),
  received('node-buffer', 'the body is copied from a log of Node', '<Buffer 7b 22 74 79 70 65 22 3a>', [
    'The body is a value as a program prints it: it begins with "<Buffer 7b 22',
    RAW,
  ]),
  received('dotnet-class', 'the receiver verifies ToString()', 'System.Text.Json.JsonElement', [
    'The body is a value as a program prints it: it begins with "System.Text.Json.JsonElement"',
    RAW,
  ]),
  received('chunk-headers', 'the body is read from the socket', chunked, [
    'the body has other text around its JSON',
    'a socket and a program that prints bytes have other text around it',
  ]),
  received(
    'api-gateway',
    'the whole API Gateway event is verified',
    JSON.stringify({ httpMethod: 'POST', headers: {}, body: JSON_TEXT }),
    ['the body is an API Gateway or Lambda event', 'Verify the body in it: event.body'],
  ),
  received(
    'lambda-base64',
    'the event of a Lambda URL has the body in base64',
    JSON.stringify({
      requestContext: {},
      isBase64Encoded: true,
      body: Buffer.from(JSON_TEXT).toString('base64'),
    }),
    [
      'the body is an API Gateway or Lambda event',
      'Buffer.from(event.body, "base64") where event.isBase64Encoded is true',
    ],
  ),
  received(
    'sqs',
    'the whole SQS event is verified',
    JSON.stringify({ Records: [{ messageId: '1', body: JSON_TEXT }] }),
    ['the body is an SQS event', 'Verify the body of each record: record.body'],
  ),
  received(
    'sns',
    'the body came through SNS',
    JSON.stringify({ Type: 'Notification', TopicArn: 'x', Message: JSON_TEXT }),
    ['the body is an SNS notification', 'turn raw message delivery on'],
  ),
  received(
    'pub-sub',
    'the body came through Pub/Sub',
    JSON.stringify({ subscription: 's', message: { data: Buffer.from(JSON_TEXT).toString('base64') } }),
    ['the body is a Pub/Sub push message', 'base64 -d'],
  ),
  received('har', 'the file is a HAR of a browser', JSON.stringify(har), [
    'the body is a HAR file of a browser',
    "jq -j '[.log.entries[].request | select(.postData)][0] | .postData.text'",
  ]),
  received('buffer-json', 'the body is JSON of a Buffer', JSON.stringify(Buffer.from(JSON_TEXT)), [
    'the body is the JSON of a Buffer of Node',
    'Verify the Buffer itself',
  ]),
  received(
    'curl-output',
    'the body is the output of curl -v',
    `* Connected to localhost\n> POST / HTTP/1.1\n> X-Signature: x\n`,
    ['The body is not JSON: it begins with "* Connected to localhost', COMPARE_BODIES],
  ),
  received('html', 'the body is a page', '<!doctype html><title>502</title>', [
    'The body is not JSON: it begins with "<!doctype html><title>502</title>"',
    COMPARE_BODIES,
  ]),
  received(
    'multipart',
    'the sender posts a multipart form',
    `--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n${JSON_TEXT}\r\n--x--`,
    ['the body has other text around its JSON', 'Give the JSON alone: a log, a terminal, a form'],
  ),
  received('two-bodies', 'two bodies are in one file', `${JSON_TEXT}\n${JSON_TEXT}`, [
    'the body has other text around its JSON',
    'Give the JSON alone',
  ]),
  received('zsh-percent', 'the % that zsh prints was copied with the body', `${JSON_TEXT}%`, [
    'the body has other text around its JSON',
    'Give the JSON alone: a log, a terminal',
  ]),
  received('latin-1', 'the body was read as Latin-1', Buffer.from('{"city":"Zürich"}', 'latin1'), [
    'The body is JSON encoded as Latin-1',
    COMPARE_BODIES,
  ]),
  received(
    'mojibake',
    'the body was taken for Latin-1 and encoded again',
    Buffer.from(JSON_TEXT).toString('latin1'),
    [
      'it would match over the body decoded from UTF-8 twice, because it was taken for Latin-1',
      'Read and send the body as UTF-8, or better as bytes',
    ],
  ),
  received('lost-characters', 'the body was decoded chunk by chunk', JSON_TEXT.replace('ö', '\ufffd'), [
    'The body has U+FFFD in it, which mostly stands where characters were lost',
    'Keep the body as bytes',
  ]),
  received('gzip-body', 'the body is still packed', gzipSync('{}'), [
    'The body is compressed (gzip, zlib or zstd)',
    COMPARE_BODIES,
  ]),
  received(
    'jsonb',
    'the body comes from a jsonb column',
    '{"type": "track", "event": "x", "userId": "u", "timestamp": "t", "properties": {"id": 1, "plan": "pro"}}',
    ['or what they sign differs', 'Compare the secrets without showing them'],
  ),
  received(
    'go-sorted',
    'the body went through a map of Go',
    '{"event":"x","timestamp":"t","type":"track","userId":"u"}',
    ['or what they sign differs', COMPARE_BODIES],
  ),
];

/** Bodies other than JSON, as people copy them. No answer blames the secrets alone. */
const COPIED: readonly AnswerCase[] = [
  received('log-line', 'a line of a log is given', `2026-11-23T09:00:00Z INFO body: ${JSON_TEXT}`, [
    'the body has other text around its JSON',
    'Give the JSON alone',
  ]),
  received('log-label', 'a line of a log with a label is given', `webhook received: ${JSON_TEXT}`, [
    'the body has other text around its JSON',
    'Give the JSON alone',
  ]),
  received('inspected', 'the output of console.log is given', "{ type: 'track', event: 'A', userId: 'u' }", [
    'The body is a value as a program prints it: it begins with "{ type: ',
    RAW,
  ]),
  received('print-r', 'the output of print_r is given', 'Array\n(\n    [type] => track\n)\n', [
    'The body is a value as a program prints it: it begins with "Array',
    'file_get_contents("php://input")',
  ]),
  received(
    'curl-command',
    'a command of curl is given',
    `curl --location 'http://a/' --data '${JSON_TEXT}'`,
    ['the body has other text around its JSON', 'Give the JSON alone'],
  ),
  received('typographic', 'a chat replaced the quotes', JSON_TEXT.replaceAll('"', '\u201d'), [
    'over the body decoded from text with typographic quotes',
    'Give the body as it came',
  ]),
  received('yaml', 'YAML is given', 'type: track\nevent: A\nuserId: u\n', [
    'The body is not JSON: it begins with "type: track',
    COMPARE_BODIES,
  ]),
  received('http-request', 'a whole request is given', `POST / HTTP/1.1\r\nHost: a\r\n\r\n${JSON_TEXT}`, [
    'the body has other text around its JSON',
    '--format http reads a whole request',
  ]),
  received('xml', 'XML is given', '<event><type>track</type></event>', [
    'The body is not JSON: it begins with "<event><type>track</type></event>"',
    '"$(cat secret.txt)" | sha256sum',
  ]),
  received('form', 'a form is given', 'type=track&event=A&userId=u', [
    'The body is not JSON: it begins with "type=track&event=A&userId=u"',
    COMPARE_BODIES,
  ]),
  received('binary', 'a binary body is given', Buffer.from([0x0a, 5, 1, 2, 3, 0x12, 1, 0x41]), [
    String.raw`The body is not JSON: it begins with "\n\u0005\u0001`,
    COMPARE_BODIES,
  ]),
  received('one-object', 'the body is put into an object', `{"body":${JSON_TEXT}}`, [
    'it would match over the member `body` of the body alone',
    RAW,
  ]),
];

const OUR_SECRET: readonly AnswerCase[] = [
  ...(
    [
      ['two-lines', 'the file has two lines', `${SECRET}\nother`, 'with one line of the secret alone'],
      ['comment', 'the file has a comment', `# ours\n${SECRET}`, 'with one line of the secret alone'],
      [
        'json',
        'the file is JSON',
        `{"secret":"${SECRET}"}`,
        'with the value in the JSON of the secret alone',
      ],
      [
        'comma',
        'two secrets are given in one',
        `old,${SECRET}`,
        'with what is after the comma in the secret',
      ],
      ['newline-text', 'it ends in \\n', `${SECRET}\\n`, 'without the \\n at the end of the secret'],
      ['invisible', 'it has a zero-width space', `${SECRET}\u200b`, 'without the invisible characters'],
      [
        'en-dash',
        'it has an en dash',
        SECRET.replace('-', '\u2013'),
        'with the secret decoded from text with typographic quotes or dashes',
      ],
      ['bearer', 'it begins with Bearer', `Bearer ${SECRET}`, 'without Bearer before the secret'],
    ] as const
  ).map(([id, title, secret, cause]) =>
    mismatch({
      id: `our-secret-${id}`,
      title: `our secret: ${title}`,
      secret,
      cause,
      fix: 'Give both sides the same text',
    }),
  ),
  ...(
    [
      ['masked', 'it is masked', 'kJ8s********', 'some of them masked: it is not the secret'],
      [
        'file',
        'it is the name of a file',
        'body.json',
        '--secret (it is the name of a file: --secret-file FILE reads it)',
      ],
    ] as const
  ).map(([id, title, secret, cause]): AnswerCase => ({
    id: `verify-our-secret-${id}`,
    title: `our secret: ${title}`,
    given: BODY,
    argv: ['verify', '--secret', secret, '--signature', hmac(JSON_TEXT), 'body.json'],
    cause,
    fix: "`printf %s 'SECRET' | sha256sum`",
    never: ['$HOOKS_SECRET'],
  })),
];

const CAPTURE = JSON.stringify({
  capture: 1,
  method: 'POST',
  url: '/',
  headers: [['X-Signature', hmac(JSON_TEXT)]],
  body: JSON_TEXT,
});

function request(headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return ['POST /hook HTTP/1.1', ...lines, '', JSON_TEXT].join('\r\n');
}

const HINT_HEADER =
  "give --signature HEX or HOOKS_SIGNATURE, the headers (-H 'X-Signature: …'), or a capture or raw HTTP request that has an X-Signature header";

/** A request in which another header came. */
function missing(id: string, title: string, header: string, came: string): AnswerCase {
  return {
    id: `verify-${id}`,
    title,
    given: { files: { 'request.http': request({ Host: 'a', [header]: 'abc' }) } },
    argv: ['verify', '--secret', SECRET, 'request.http'],
    cause: `X-Signature is missing; ${came} came`,
    fix: HINT_HEADER,
    exitCode: 2,
    never: [NO_MATCH],
  };
}

/** Signed by a scheme that is told by its header, and judged by it. */
function ofAnotherScheme(
  id: string,
  title: string,
  { headers, cause, fix }: { headers: Record<string, string>; cause: string; fix: string },
): AnswerCase {
  return {
    id: `verify-${id}`,
    title,
    given: { files: { 'request.http': request({ Host: 'a', ...headers }) } },
    argv: ['verify', '--secret', SECRET, 'request.http'],
    cause,
    fix,
    never: ['X-Signature is missing'],
  };
}

const MISSING: readonly AnswerCase[] = [
  ofAnotherScheme('header-github', 'the signature of GitHub lacks its prefix', {
    headers: { 'X-Hub-Signature-256': 'abc' },
    cause: 'a part of X-Hub-Signature-256 is not in the form of github: it begins with none of `sha256=`',
    fix: 'Send it in this form: X-Hub-Signature-256: sha256={signature}',
  }),
  ofAnotherScheme('header-stripe', 'the signature of Stripe is not in its form', {
    headers: { 'Stripe-Signature': 'abc' },
    cause: 'there is no timestamp',
    fix: 'Send the headers of stripe in its form: Stripe-Signature: t={timestamp},v1={signature}',
  }),
  ofAnotherScheme('header-standard', 'the signature of Standard Webhooks came without its other headers', {
    headers: { 'webhook-signature': 'abc' },
    cause: 'webhook-id is missing',
    fix: 'Send webhook-id with each request',
  }),
  missing(
    'header-jitsu',
    'the request has the signature of Jitsu',
    'Jitsu-Signature',
    'Jitsu-Signature (Jitsu)',
  ),
  missing('header-misspelled', 'the header is misspelled', 'X-Signatur', 'X-Signatur'),
  missing('header-own', 'the header has a name of its own', 'X-Acme-Signature', 'X-Acme-Signature'),
  {
    id: 'verify-no-signature',
    title: 'there is neither a signature nor a request that has one',
    given: BODY,
    argv: ['verify', '--secret', SECRET, 'body.json'],
    cause: 'There is no signature to compare with',
    fix: HINT_HEADER,
    exitCode: 2,
  },
  ...(
    [
      ['', [], `expected: ${hmac(JSON_TEXT)}`, `got: …${'0'.repeat(40)}`],
      ['-verbose', ['-v'], `expected: ${hmac(JSON_TEXT)}`, `got: …${'0'.repeat(40)}`],
      ['-json', ['-o', 'json'], `"expected":"${hmac(JSON_TEXT)}"`, `"got":"${'0'.repeat(40)}"`],
    ] as const
  ).map(([id, flags, cause, fix]) => ({
    id: `verify-both-signatures${id}`,
    title: 'a signature does not match: the right one stands beside it',
    given: BODY,
    argv: ['verify', ...flags, '--secret', SECRET, '--signature', '0'.repeat(40), 'body.json'],
    cause,
    fix,
  })),
  {
    id: 'verify-nothing-given',
    title: 'neither a body nor a signature',
    argv: ['verify', '--secret', SECRET],
    cause: 'There is no signature to compare with',
    fix: 'give --signature HEX',
    exitCode: 2,
  },
  {
    id: 'verify-nothing-at-all',
    title: 'hooks verify < /dev/null',
    argv: ['verify'],
    cause: 'There is no secret',
    fix: 'give --secret, --secret-file FILE or HOOKS_SECRET',
    exitCode: 2,
  },
];

const UNSIGNED: readonly AnswerCase[] = [
  ...[[], ['--format', 'capture']].map((format): AnswerCase => ({
    id: `verify-stale-variable${format.length === 0 ? '' : '-format'}`,
    title: 'HOOKS_SIGNATURE is left from an earlier check, beside a capture',
    given: { files: { 'capture.json': CAPTURE }, env: { HOOKS_SIGNATURE: '0'.repeat(40) } },
    argv: ['verify', '--secret', SECRET, ...format, 'capture.json'],
    cause: 'HOOKS_SIGNATURE hides the X-Signature of the capture',
    fix: 'unset HOOKS_SIGNATURE',
    never: ['--format', NO_MATCH],
  })),
  {
    id: 'verify-lambda-signed',
    title: 'an event of Lambda is given, without --signature',
    given: {
      files: {
        'event.json': JSON.stringify({
          requestContext: {},
          headers: { 'x-signature': hmac(JSON_TEXT) },
          body: JSON_TEXT,
        }),
      },
    },
    argv: ['verify', '--secret', SECRET, 'event.json'],
    cause: 'the input is an API Gateway or Lambda event, which holds the body',
    fix: 'take both out of it: jq -j',
    exitCode: 2,
  },
  {
    id: 'verify-har-signed',
    title: 'a HAR file is given that begins with a GET, without --signature',
    given: {
      files: {
        'a.har': JSON.stringify({
          log: { entries: [{ request: { method: 'GET' } }, ...har.log.entries] },
        }),
      },
    },
    argv: ['verify', '--secret', SECRET, 'a.har'],
    cause: 'the input is a HAR file of a browser',
    fix: 'take both out of it: jq -j …select(.postData)',
    exitCode: 2,
  },
  ...['X-Sig', 'Authorization'].map((name): AnswerCase => ({
    id: `verify-header-${name.toLowerCase()}`,
    title: `the signature came in ${name}`,
    given: BODY,
    argv: ['verify', '--secret', SECRET, '-H', `${name}: ${hmac(JSON_TEXT)}`, 'body.json'],
    cause: `X-Signature is missing; ${name} came`,
    fix: HINT_HEADER,
    exitCode: 2,
  })),
];

/** What `hooks verify` says of a signature that does not match. */
export const SIGNATURES: AnswerTheme = {
  title: 'A signature does not match',
  cases: [
    ...OTHER_BYTES,
    ...OTHER_HASHES,
    ...OTHER_SECRETS,
    ...BODIES,
    ...MISSING,
    ...COPIED,
    ...OUR_SECRET,
    ...UNSIGNED,
  ],
};
