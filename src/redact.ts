/** What stands where a secret was. */
export const MASK = '***';

/**
 * The URL as it may be shown: without its userinfo, and without the values of parameters whose names say that they are secret. Given
 * what is no URL at all, it rather masks too much: a password with a / in it is one reason why there is no reading it.
 */
export function redactUrl(url: string): string {
  return maskUserinfo(url).replace(EMBEDDED_USERINFO, `://${MASK}@`).replace(PARAMETER, maskParameter);
}

// As the WHATWG's parser reads it, whose word is final on where a request goes: leading white space is skipped, slashes may be back
// slashes, too many or too few, and userinfo may have white space in it, and an @. Without a scheme `user:` looks like one.
const BEFORE_AUTHORITY = /^[^!-~]*(?:(?=[!-~])[^ :/\\?#@]*:[\\/\s]*|[\\/]{2,})/;
const END_OF_AUTHORITY = /[/\\?#]|$/;
const EMBEDDED_USERINFO = /:\/\/[^/?#\s]*@/g;

function maskUserinfo(url: string): string {
  const before = BEFORE_AUTHORITY.exec(url)?.[0];
  if (before === undefined) return url;
  const rest = url.slice(before.length);
  const isClear = hasClearAuthority(url) && !isOfServer(before);
  const at = (isClear ? rest.slice(0, rest.search(END_OF_AUTHORITY)) : rest).lastIndexOf('@');
  return at === -1 ? url : before + MASK + rest.slice(at);
}

/** Whether it ends where the first / ? or # stands. Behind a # no @ is trusted: nothing here is sent to a URL with a fragment. */
function hasClearAuthority(url: string): boolean {
  const fragmentAt = url.indexOf('#');
  return URL.canParse(url) && (fragmentAt === -1 || !url.includes('@', fragmentAt));
}

/**
 * Whether it begins a URL as of a database: `redis://:p@ss/w:rd@host` is one to the parser, with the host `ss`. Only on the web
 * a path has an @ more often than a password has.
 */
function isOfServer(before: string): boolean {
  return /[^\\/][\\/]{2}$/.test(before) && !/https?:[\\/]+$/i.test(before);
}

const SECRET_NAME =
  /secret|token|passw|credential|(?:api|access|write|private|functions|subscription)[-_]?key/i;
const SECRET_PARAMETER = /signature|^(?:key|sig|code|auth|pass|pwd)$/i;
const SECRET_HEADER = /^(?:set-)?cookie$|(?:^|[-_])auth(?:orization)?(?:[-_]|$)/i;

// No name holds what begins one: the time stays linear in a length that a sender chooses.
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
  return SECRET_NAME.test(name) || SECRET_HEADER.test(name);
}

/** Less stands in too many places where it is no secret: masked there, it would be told by what is missing. */
const MIN_TELLING = 4;

/** A text from outside (a receiver's reply may repeat what it was sent) without these values, the longest first. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter(({ length }) => length >= MIN_TELLING)
    .toSorted((one, other) => other.length - one.length)
    .reduce((shown, secret) => shown.replaceAll(secret, MASK), text);
}

/** The same for what a receiver said, which may end in the midst of a secret, and spell it as URLs, JSON, HTML or base64 do. */
export function withoutRepeated(reply: string, secrets: readonly string[]): string {
  const spelled = secrets.flatMap(spellingsOf);
  return withoutBegun(withoutSecrets(reply, spelled), spelled);
}

/** A secret as somebody may repeat it. */
export function spellingsOf(secret: string): readonly string[] {
  if (/\p{Surrogate}/u.test(secret)) return [secret];
  const inText = [secret, ...inJson(secret)].flatMap((text) => [text, ...inHtml(text)]);
  return [...new Set([...inText, encodeURIComponent(secret), ...inBase64(secret)])];
}

/** What is secret in the base64 of a longer text, such as a dump of headers: it depends on where the secret begins there. */
function inBase64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const cores = [0, 1, 2].flatMap((bytesBefore) => {
    const length = bytesBefore + bytes.length;
    const encoded = Buffer.concat([Buffer.alloc(bytesBefore), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // Two bits of the first character, or four, are of the bytes before; some of the last are of those behind, if any.
    const start = Math.ceil((bytesBefore * 8) / 6);
    return [encoded.slice(start), encoded.slice(start, Math.floor((length * 8) / 6))];
  });
  return [...cores, ...cores.map((core) => core.replaceAll('+', '-').replaceAll('/', '_'))];
}

/** As JavaScript, Python (ASCII only), Go (no &, < and >) and PHP (no bare / either) write it. */
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

/** There are several ways to write quotes. */
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

function withoutBegun(text: string, secrets: readonly string[]): string {
  const begun = Math.max(0, ...secrets.map((secret) => lengthBegun(text, secret)));
  return begun === 0 ? text : text.slice(0, -begun) + MASK;
}

function lengthBegun(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= MIN_TELLING; length--) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}

// C0, DEL, C1, and the bidirectional overrides: what could move a terminal's cursor or reverse the reading of a line.
// eslint-disable-next-line no-control-regex -- control characters are what this pattern is for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text from outside, safe for a terminal and a log line: control characters are escaped, the length is bounded. */
export function printable(text: string, maxLength = 500): string {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return shown.replace(UNPRINTABLE, escapeCharacter);
}

function escapeCharacter(character: string): string {
  const short = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character];
  return short ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
