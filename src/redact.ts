/** The text that replaces a secret. */
export const MASK = '***';

/** A write key for output: its last four characters, but at most half of the key. */
export function shownWriteKey(key: string): string {
  return `…${key.slice(key.length - Math.min(4, Math.floor(key.length / 2)))}`;
}

/**
 * Shortens the write keys in JSON (even if cut off or inside a string), in a form and in a filter to their last characters.
 */
export function withoutWriteKeys(text: string): string {
  return [WRITE_KEY_IN_JSON, WRITE_KEY_IN_FORM].reduce(
    (shown, pattern) => shown.replace(pattern, (_, start: string, key: string) => start + shownWriteKey(key)),
    text,
  );
}

/** Matches the name of the key even if letters are escaped, as JSON allows, or if the JSON is inside a JSON string. */
const WRITE_KEY_NAME = Array.from('writeKey', (letter) => {
  const digits = letter.charCodeAt(0).toString(16).replace('b', '[bB]');
  return `(?:${letter}|\\\\+u00${digits})`;
}).join('');
const WRITE_KEY_IN_JSON = new RegExp(`("${WRITE_KEY_NAME}\\\\*"\\s*:\\s*\\\\*")((?:[^"\\\\]|\\\\.)*)`, 'gs');
const WRITE_KEY_IN_FORM = /(writeKey\s*[=!~<>]+\s*)(?!\?(?:,|$))((?:\\.|[^,&\s\\])+)/gs;

/**
 * Returns a URL for output, without its userinfo and the values of parameters with secret names. Masks too much rather than
 * too little of a text that is not a URL, because a / in a password can be the reason why the text cannot be parsed.
 */
export function redactUrl(url: string): string {
  return maskUserinfo(url).replace(EMBEDDED_USERINFO, `://${MASK}@`).replace(PARAMETER, maskParameter);
}

// Follows the WHATWG parser, which determines the target of a request: the parser skips leading white space, accepts any
// number of / and \ after the scheme, and allows white space and @ in userinfo. Without a scheme, `user:` looks like one.
const BEFORE_AUTHORITY = /^[^!-~]*(?:(?=[!-~])[^ :/\\?#@]*:[\\/\s]*|[\\/]{2,})/;
const END_OF_AUTHORITY = /[/\\?#]|$/;
const EMBEDDED_USERINFO = /:\/\/[^/?#\s]*@/g;

function maskUserinfo(url: string): string {
  const before = BEFORE_AUTHORITY.exec(url)?.[0];
  if (before === undefined) return url;
  const rest = url.slice(before.length);
  const isClear = hasClearAuthority(url) && !isServerUrl(before);
  const authority = isClear ? rest.slice(0, rest.search(END_OF_AUTHORITY)) : rest;
  const hasPassword = authority.lastIndexOf('@') > authority.indexOf(':') && authority.includes(':');
  const at = hasPassword ? endOfPassword(rest, authority) : authority.lastIndexOf('@');
  return at === -1 ? url : before + MASK + rest.slice(at);
}

/**
 * Returns the position of the last @ that may end an unescaped password: the parser accepts `http://me:p@ss/w:rd@host`, but
 * with the host `ss`. Ignores an @ at the beginning of a path segment (`/@me`) or in a parameter's value.
 */
function endOfPassword(rest: string, authority: string): number {
  const path = rest.slice(authority.length).replace(/[?&][^=?&#@]*=.*$/s, '');
  const inPath = /^.*[^/]@/s.exec(path)?.[0].length ?? 0;
  return inPath === 0 ? authority.lastIndexOf('@') : authority.length + inPath - 1;
}

/**
 * Whether the authority certainly ends at the first / ? or #. False if an @ follows a #: webhook URLs have no fragment, so
 * the # may be a part of the password.
 */
function hasClearAuthority(url: string): boolean {
  const fragmentAt = url.indexOf('#');
  return URL.canParse(url) && (fragmentAt === -1 || !url.includes('@', fragmentAt));
}

/**
 * Whether a URL is of a server such as a database, where an @ in the path probably belongs to the password: the parser
 * accepts `redis://:p@ss/w:rd@host`, but with the host `ss`. In web URLs, an @ in a path is more frequent.
 */
function isServerUrl(before: string): boolean {
  return /[^\\/][\\/]{2}$/.test(before) && !/https?:[\\/]+$/i.test(before);
}

const SECRET_NAME =
  /secret|token|passw|credential|(?:api|access|write|private|functions|subscription)[-_]?key/i;
const SECRET_PARAMETER = /signature|^(?:key|sig|code|auth|pass|pwd)$/i;
const SECRET_HEADER = /^(?:set-)?cookie$|(?:^|[-_])auth(?:orization)?(?:[-_]|$)|key$/i;
/** Matches header names that end in `key` or contain `auth`, but whose values are not secret. */
const PLAIN_KEY =
  /(?:idempotency|partition|routing|order|ordering|sort|cache|surrogate|message|event)[-_]?key$|auth[-_]algo$/i;

// A parameter's name excludes the characters that begin a name: otherwise a text of a sender could take quadratic time.
const PARAMETER = /([?&#]([^=?&#]*)=)[^&#]*/g;

function maskParameter(whole: string, start: string, name: string): string {
  return isSecretParameter(name) ? start + MASK : whole;
}

/** Whether the value of a query parameter must be masked wherever it is shown or saved. */
export function isSecretParameter(name: string): boolean {
  return SECRET_NAME.test(name) || SECRET_PARAMETER.test(name);
}

/** Whether the value of a header must be masked wherever it is shown or saved. */
export function isSecretHeader(name: string): boolean {
  return SECRET_NAME.test(name) || (SECRET_HEADER.test(name) && !PLAIN_KEY.test(name));
}

/** Shortest secret that is masked. A shorter text occurs in many other places, and the gaps would reveal it. */
const MIN_SECRET_LENGTH = 4;

/** Masks secrets in an untrusted text, such as a response: the longest first, because one can contain another. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter(({ length }) => length >= MIN_SECRET_LENGTH)
    .toSorted((one, other) => other.length - one.length)
    .reduce((shown, secret) => shown.replaceAll(secret, MASK), text);
}

/**
 * Masks secrets in a receiver's response, even if they are cut off at its end or encoded as in URLs, JSON, HTML or base64.
 */
export function withoutRepeated(response: string, secrets: readonly string[]): string {
  const spelled = secrets.flatMap(spellingsOf);
  return withoutCutOffSecret(withoutSecrets(response, spelled), spelled);
}

/** The encodings in which a receiver may repeat a secret. */
export function spellingsOf(secret: string): readonly string[] {
  if (/\p{Surrogate}/u.test(secret)) return [secret];
  const json = [...new Set([secret, ...inJson(secret)])];
  // A JSON dump of the headers may itself be inside a JSON string, which escapes it again, or inside base64.
  const nested = json.slice(1).flatMap(inJson);
  const inText = [...json, ...nested].flatMap((text) => [text, ...inHtml(text)]);
  return [...new Set([...inText, ...inUrl(secret), ...json.flatMap(inBytes)])];
}

/** Encodings of encodeURIComponent, URLSearchParams (forms) and Python's `quote`, with hex digits in either case. */
function inUrl(secret: string): readonly string[] {
  const [component, form] = [
    encodeURIComponent(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
  ];
  const spelled = [component, form, component.replaceAll('%2F', '/'), form.replaceAll('+', '%20')];
  return [...spelled, ...spelled.map((text) => text.replace(/%../g, (digits) => digits.toLowerCase()))];
}

/** The parts that a secret has in the base64 or hex of a longer text, such as a dump of headers. */
function inBytes(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const cores = [0, 1, 2].flatMap((bytesBefore) => {
    const length = bytesBefore + bytes.length;
    const encoded = Buffer.concat([Buffer.alloc(bytesBefore), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // Bytes before the secret fill two or four bits of its first base64 character; bytes after it may fill some of its last.
    const start = Math.ceil((bytesBefore * 8) / 6);
    return [encoded.slice(start), encoded.slice(start, Math.floor((length * 8) / 6))];
  });
  const urlSafe = cores.map((core) => core.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  return [...cores, ...urlSafe, hex, hex.toUpperCase()];
}

/** JSON encodings of JavaScript, Python (ASCII only), Go (escapes &, < and >) and PHP (also escapes /). */
function inJson(text: string): readonly string[] {
  const plain = JSON.stringify(text).slice(1, -1);
  const ascii = inHex(plain, /[^ -~]/g);
  const bySlash = [plain, ascii].map((json) => json.replaceAll('/', String.raw`\/`));
  return [plain, ascii, inHex(plain, /[&<>]/g), ...bySlash];
}

function inHex(text: string, which: RegExp): string {
  return text.replace(
    which,
    (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The encodings of double and single quotes in HTML libraries. */
const HTML_QUOTES = [
  ['&quot;', '&#39;'],
  ['&quot;', '&#039;'],
  ['&quot;', '&#x27;'],
  ['&quot;', '&apos;'],
  ['&#34;', '&#39;'],
  ['"', "'"],
] as const;

function inHtml(text: string): readonly string[] {
  const tags = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return HTML_QUOTES.map(([double, single]) => tags.replaceAll('"', double).replaceAll("'", single));
}

function withoutCutOffSecret(text: string, secrets: readonly string[]): string {
  const length = Math.max(0, ...secrets.map((secret) => cutOffLength(text, secret)));
  return length === 0 ? text : text.slice(0, -length) + MASK;
}

function cutOffLength(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= MIN_SECRET_LENGTH; length--) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}

// C0, DEL, C1 and the bidirectional controls could move a terminal's cursor or reorder the text of a line.
// eslint-disable-next-line no-control-regex -- control characters are what this pattern is for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Makes untrusted text safe for a terminal and a log line: escapes control characters and limits the length. */
export function printable(text: string, maxLength = 500): string {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return shown.replace(UNPRINTABLE, escapeCharacter);
}

function escapeCharacter(character: string): string {
  const short = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
  return short ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

// Characters that JSON does not escape but that affect a terminal: DEL, C1, line separators, bidirectional controls.
const UNSAFE_IN_JSON = /[\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes JSON for a terminal. The data stay the same: matches are only inside strings, because JSON is ASCII elsewhere. */
export function escapeInJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, escapeCharacter);
}

/** Characters without width, which CI runners written in .NET skip when they search a line for a command. */
const UNSEEN = String.raw`[\p{Cf}\p{DI}]*`;
/** Characters that a line may have before a CI runner's command: white space, control characters and colors. */
const BLANK = String.raw`(?:\u001b\[[\d;]*m|[\s\p{C}\p{DI}])*`;

/**
 * Patterns for the first character of commands that a CI runner executes from a step's output, by the variable that the
 * runner sets.
 */
const RUNNER_COMMANDS: Readonly<Record<string, string>> = {
  GITHUB_ACTIONS: String.raw`:(?<=^${BLANK}:)(?=${UNSEEN}:)|#(?=${UNSEEN}#${UNSEEN}\[)`,
  GITLAB_CI: 's(?=ection_(?:start|end):)',
  TF_BUILD: String.raw`#(?=${UNSEEN}#${UNSEEN}(?:vso${UNSEEN})?\[)`,
  TEAMCITY_VERSION: String.raw`#(?=#teamcity\[)`,
};

/**
 * Creates a function that escapes the commands of the current CI runner in a text. In JSON the data stay the same, because
 * commands can only be inside strings, where an escape means the character.
 */
export function commandEscaper(env: Readonly<NodeJS.ProcessEnv>): (text: string) => string {
  const patterns = Object.entries(RUNNER_COMMANDS).flatMap(([name, pattern]) => (env[name] ? pattern : []));
  if (patterns.length === 0) return (text) => text;
  const command = new RegExp(patterns.join('|'), 'gimu');
  return (text) => text.replace(command, escapeCharacter);
}
