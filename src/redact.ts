/** The text that replaces a secret. */
export const MASK = '***';

/** A write key as it is shown: its last four characters, and never more than half of it. */
export function shownWriteKey(key: string): string {
  return `…${key.slice(key.length - Math.min(4, Math.floor(key.length / 2)))}`;
}

/** Shows the write keys of JSON (also cut off, or inside a string), of a form and of a filter by their last characters. */
export function withoutWriteKeys(text: string): string {
  return [WRITE_KEY_IN_JSON, WRITE_KEY_IN_FORM].reduce(
    (shown, pattern) => shown.replace(pattern, (_, start: string, key: string) => start + shownWriteKey(key)),
    text,
  );
}

/** JSON may escape any letter of the key's name, and be a string within JSON. */
const WRITE_KEY_NAME = Array.from('writeKey', (letter) => {
  const digits = letter.charCodeAt(0).toString(16).replace('b', '[bB]');
  return `(?:${letter}|\\\\+u00${digits})`;
}).join('');
const WRITE_KEY_IN_JSON = new RegExp(`("${WRITE_KEY_NAME}\\\\*"\\s*:\\s*\\\\*")((?:[^"\\\\]|\\\\.)*)`, 'gs');
const WRITE_KEY_IN_FORM = /(writeKey\s*[=!~<>]+\s*)(?!\?(?:,|$))((?:\\.|[^,&\s\\])+)/gs;

/**
 * Returns a URL as it may be shown: without its userinfo, and without the values of parameters whose names say that they are secret.
 * Masks too much rather than too little of a text that is no URL: a password with a / in it is one reason why it cannot be parsed.
 */
export function redactUrl(url: string): string {
  return maskUserinfo(url).replace(EMBEDDED_USERINFO, `://${MASK}@`).replace(PARAMETER, maskParameter);
}

// Follows the WHATWG parser, which decides where a request goes: it skips leading white space, takes backslashes for slashes, too
// many or too few of them, and allows white space and an @ in userinfo. Without a scheme, `user:` looks like one.
const BEFORE_AUTHORITY = /^[^!-~]*(?:(?=[!-~])[^ :/\\?#@]*:[\\/\s]*|[\\/]{2,})/;
const END_OF_AUTHORITY = /[/\\?#]|$/;
const EMBEDDED_USERINFO = /:\/\/[^/?#\s]*@/g;

function maskUserinfo(url: string): string {
  const before = BEFORE_AUTHORITY.exec(url)?.[0];
  if (before === undefined) return url;
  const rest = url.slice(before.length);
  const isClear = hasClearAuthority(url) && !isOfServer(before);
  const authority = isClear ? rest.slice(0, rest.search(END_OF_AUTHORITY)) : rest;
  const hasPassword = authority.lastIndexOf('@') > authority.indexOf(':') && authority.includes(':');
  const at = hasPassword ? endOfPassword(rest, authority) : authority.lastIndexOf('@');
  return at === -1 ? url : before + MASK + rest.slice(at);
}

/**
 * The last @ that may end an unescaped password: `http://me:p@ss/w:rd@host` is valid to the parser, with the host `ss`. An @ that begins
 * a part of the path (`/@me`), or that stands in a parameter's value, is none.
 */
function endOfPassword(rest: string, authority: string): number {
  const path = rest.slice(authority.length).replace(/[?&][^=?&#@]*=.*$/s, '');
  const inPath = /^.*[^/]@/s.exec(path)?.[0].length ?? 0;
  return inPath === 0 ? authority.lastIndexOf('@') : authority.length + inPath - 1;
}

/** Whether the authority ends at the first / ? or #. An @ behind a # is not trusted: no request goes to a URL with a fragment. */
function hasClearAuthority(url: string): boolean {
  const fragmentAt = url.indexOf('#');
  return URL.canParse(url) && (fragmentAt === -1 || !url.includes('@', fragmentAt));
}

/**
 * Whether this begins a URL of a server such as a database. `redis://:p@ss/w:rd@host` is valid to the parser, with the host `ss`;
 * only in web URLs is an @ in a path more frequent than an @ in a password.
 */
function isOfServer(before: string): boolean {
  return /[^\\/][\\/]{2}$/.test(before) && !/https?:[\\/]+$/i.test(before);
}

const SECRET_NAME =
  /secret|token|passw|credential|(?:api|access|write|private|functions|subscription)[-_]?key/i;
const SECRET_PARAMETER = /signature|^(?:key|sig|code|auth|pass|pwd)$/i;
const SECRET_HEADER = /^(?:set-)?cookie$|(?:^|[-_])auth(?:orization)?(?:[-_]|$)|key$/i;
/** The names ending in `key` that a receiver goes by and that open nothing. */
const PLAIN_KEY = /(?:idempotency|partition|routing|order|ordering|sort|cache|surrogate|message)[-_]?key$/i;

// A name cannot contain the characters that begin one: the time stays linear in a length that a sender chooses.
const PARAMETER = /([?&#]([^=?&#]*)=)[^&#]*/g;

function maskParameter(whole: string, start: string, name: string): string {
  return isSecretParameter(name) ? start + MASK : whole;
}

/** Whether the value of a query's parameter is masked wherever it is shown or saved. */
export function isSecretParameter(name: string): boolean {
  return SECRET_NAME.test(name) || SECRET_PARAMETER.test(name);
}

/** Whether a header's value is masked wherever it is shown or saved. */
export function isSecretHeader(name: string): boolean {
  return SECRET_NAME.test(name) || (SECRET_HEADER.test(name) && !PLAIN_KEY.test(name));
}

/** The shortest text that is masked. A shorter one occurs in many places where it is no secret, and the gaps would reveal it. */
const MIN_SECRET_LENGTH = 4;

/** Masks these values in a text from outside, the longest first: a receiver's response may repeat what it was sent. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter(({ length }) => length >= MIN_SECRET_LENGTH)
    .toSorted((one, other) => other.length - one.length)
    .reduce((shown, secret) => shown.replaceAll(secret, MASK), text);
}

/** Masks secrets in a receiver's response, which may be cut off inside a secret, and spell it as URLs, JSON, HTML or base64 do. */
export function withoutRepeated(response: string, secrets: readonly string[]): string {
  const spelled = secrets.flatMap(spellingsOf);
  return withoutCutOffSecret(withoutSecrets(response, spelled), spelled);
}

/** The spellings in which a receiver may repeat a secret. */
export function spellingsOf(secret: string): readonly string[] {
  if (/\p{Surrogate}/u.test(secret)) return [secret];
  const json = [...new Set([secret, ...inJson(secret)])];
  // A dump of the headers as JSON may itself be a string of JSON, or base64.
  const nested = json.slice(1).flatMap(inJson);
  const inText = [...json, ...nested].flatMap((text) => [text, ...inHtml(text)]);
  return [...new Set([...inText, ...inUrl(secret), ...json.flatMap(inBase64)])];
}

/** Spellings of encodeURIComponent, of URLSearchParams (forms) and of Python's `quote`, with the digits in either case. */
function inUrl(secret: string): readonly string[] {
  const [component, form] = [
    encodeURIComponent(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
  ];
  const spelled = [component, form, component.replaceAll('%2F', '/'), form.replaceAll('+', '%20')];
  return [...spelled, ...spelled.map((text) => text.replace(/%../g, (digits) => digits.toLowerCase()))];
}

/** The secret parts of the base64 of a longer text, such as a dump of headers: they depend on where the secret begins. */
function inBase64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const cores = [0, 1, 2].flatMap((bytesBefore) => {
    const length = bytesBefore + bytes.length;
    const encoded = Buffer.concat([Buffer.alloc(bytesBefore), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // Two or four bits of the first character belong to the bytes before; some of the last belong to the bytes after, if any.
    const start = Math.ceil((bytesBefore * 8) / 6);
    return [encoded.slice(start), encoded.slice(start, Math.floor((length * 8) / 6))];
  });
  return [...cores, ...cores.map((core) => core.replaceAll('+', '-').replaceAll('/', '_'))];
}

/** Spellings of JavaScript, Python (ASCII only), Go (no &, < and >) and PHP (no bare / either). */
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

/** The ways in which HTML libraries write double and single quotes. */
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

// C0, DEL, C1 and the bidirectional overrides could move a terminal's cursor or reverse the reading of a line.
// eslint-disable-next-line no-control-regex -- control characters are what this pattern is for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Makes text from outside safe for a terminal and a log line: escapes control characters and bounds the length. */
export function printable(text: string, maxLength = 500): string {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return shown.replace(UNPRINTABLE, escapeCharacter);
}

function escapeCharacter(character: string): string {
  const short = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
  return short ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

// Characters that JSON leaves as they are and a terminal obeys or reorders: DEL, C1, line separators, bidirectional controls.
const UNSAFE_IN_JSON = /[\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes JSON for a terminal. Outside of strings JSON is ASCII: what matches is inside one, where an escape means the same. */
export function escapeInJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, escapeCharacter);
}

/** Characters without width, which runners written in .NET skip when they search a text. */
const UNSEEN = String.raw`[\p{Cf}\p{DI}]*`;
/** What a line may begin with before a command: white space, control characters and colors. */
const BLANK = String.raw`(?:\u001b\[[\d;]*m|[\s\p{C}\p{DI}])*`;

/** The first character of each command that a runner of CI obeys in what a step prints, by the variable that the runner sets. */
const RUNNER_COMMANDS: Readonly<Record<string, string>> = {
  GITHUB_ACTIONS: String.raw`:(?<=^${BLANK}:)(?=${UNSEEN}:)|#(?=${UNSEEN}#${UNSEEN}\[)`,
  GITLAB_CI: 's(?=ection_(?:start|end):)',
  TF_BUILD: String.raw`#(?=${UNSEEN}#${UNSEEN}(?:vso${UNSEEN})?\[)`,
  TEAMCITY_VERSION: String.raw`#(?=#teamcity\[)`,
};

/**
 * Returns what escapes the commands of the runner of this environment in a text. In JSON the data stay the same: a command is inside a
 * string there, where an escape means the character.
 */
export function commandEscaper(env: Readonly<NodeJS.ProcessEnv>): (text: string) => string {
  const patterns = Object.entries(RUNNER_COMMANDS).flatMap(([name, pattern]) => (env[name] ? pattern : []));
  if (patterns.length === 0) return (text) => text;
  const command = new RegExp(patterns.join('|'), 'gimu');
  return (text) => text.replace(command, escapeCharacter);
}
