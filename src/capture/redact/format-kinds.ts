import { isIPv4, isIPv6 } from 'node:net';
import { keyWords, type PersonalKind } from './personal-kind.ts';

/** Card numbers are personal as numbers of JSON too. */
export const CARD: PersonalKind = {
  kind: 'card',
  format: /(?<![\w.-])[3-6]\d{3}(?:[ -]?\d){9,15}(?![\w-])/g,
  accept: (match) =>
    luhnDigit(match.replaceAll(/\D/g, '').slice(0, -1)) === match.at(-1) ? match : undefined,
  keys: keyWords('(?:credit|debit|payment)? ?card ?(?:number|no|num)|pan|cc ?(?:number|num)'),
  spreads: true,
  replace: (value, pseudonyms) => {
    const digits = value.replaceAll(/\D/g, '');
    if (digits.length < 13) return pseudonyms.alike(value);
    const own = String(pseudonyms.number('card', digits, 10n ** BigInt(digits.length - 5)));
    const start = `4000${own.padStart(digits.length - 5, '0')}`;
    return laidOut(start + luhnDigit(start), value, /\d/);
  },
};

/** Whether the digits of a number are of a card. */
export function isCardNumber(digits: string): boolean {
  return /^[3-6]\d{12,18}$/.test(digits) && CARD.accept?.(digits) !== undefined;
}

/** Matches what looks like an e-mail, but is a file or a repository: `logo@2x.png`, `git@…`. */
const IS_FILE =
  /^(?:git|hg|svn)@|@\d[\dx.]*\.\p{L}+$|\.(?:png|jpe?g|gif|svg|webp|avif|css|js|mjs|json|map|html?|zip|t?gz|pdf)$/iu;

/** Matches the beginnings of secrets by which services want them to be found. Those of ids, such as `pi_`, look alike. */
const SECRET_PREFIX =
  /(?:[prs]k_(?:live|test)_|gh[opsur]_|github_pat_|gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-|xox[abeprs]-|xapp-|AIza|ya29\.|1\/\/0|sk-(?:ant|proj|svcacct|admin|or|lf)-(?:[a-z]+\d+-)?|pypi-|lin_(?:api|oauth)_|AT[AC]TT3|sq0[a-z]{3}-|hf_|do[opr]_v1_|sbp_|shp(?:at|ca|pa|ss|ua)_|pat-[a-z]{2}\d-|AGE-SECRET-KEY-|EAA(?=\w{80}))/;

const TOKEN = {
  kind: 'token',
  format:
    /(?<![\w-])(?:eyJ[\w-]{5,}\.[\w-]{2,}\.[\w-]*|A[KS]IA[0-9A-Z]{16}|whsec_[\w+/=]{16,}|SG\.[\w-]{16,}\.[\w-]{16,}|(?:bot)?\d{8,12}:[\w-]{30,}|-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)|(?<=(?:Bearer|Basic) )[\w.~+/-]{8,}=*|(?<=[Tt]oken )(?=\S*\d)[\w.~+/-]{20,}=*)/g,
  keys: keyWords(
    '\\S*pass ?word(?: ?(?:hash|digest|salt))?|passwd|pwd|pw|jwt|hmac|jsessionid|php ?sessid|session ?id|(?<!\\S )sid|pass ?phrase|pass ?code|\\S*secret|connection ?string|signed ?request|token ?value|(?<!(?:cart|checkout|order|next|page) ?)\\S*token|(?:api|access|private|write|secret|auth|encryption|license) ?key|authorization|credentials?|session ?(?:key|data)|cookie|csrf|xsrf|otp|pin(?: ?code)?|one ?time ?(?:code|password)|security ?\\S+|verification ?code|recovery ?code|magic ?link',
  ),
  spreads: true,
  replace: (value, pseudonyms) => {
    if (/^\d{1,15}$/.test(value)) return pseudonyms.alike(value);
    if (!value.startsWith('eyJ')) return `redacted-${pseudonyms.token('token', value)}`;
    return `eyJhbGciOiJub25lIn0.e30.${pseudonyms.bytes('token', value).toString('base64url')}`;
  },
} satisfies PersonalKind;

/** Personal data that is recognized by its format, and by the names of keys. */
export const FORMAT_KINDS: readonly PersonalKind[] = [
  TOKEN,
  { kind: 'token', keys: keyWords('session'), isEntity: true, replace: TOKEN.replace },
  {
    // A word that also names other things counts with a value that has a digit.
    kind: 'token',
    keys: keyWords(
      'pass|auth|bearer|(?:auth(?:orization)?|sms|access|activation|confirmation|login|reset|door|g.te|entry|lock|unlock|invite|invitation|backup) ?code',
    ),
    fits: /^(?=.*\d)\S{4,}$/,
    spreads: true,
    replace: TOKEN.replace,
  },
  {
    // A signature in the body is a digest of the old body, with which values could be tried.
    kind: 'token',
    keys: keyWords('signature|sig'),
    fits: /^(?:[\da-f]{32,}|[\w+/-]{27,}={0,2})$/i,
    isEntity: true,
    replace: TOKEN.replace,
  },
  {
    kind: 'token',
    format: new RegExp(
      String.raw`(?<![\w.+/-])${SECRET_PREFIX.source}(?=[\w-]*[\dA-Z])[\w-]{16,}(?:=[\dA-F]{8}(?!\w))?`,
      'g',
    ),
    accept: (match) => match.replace(SECRET_PREFIX, ''),
  },
  {
    // A prefix that names no secret is that of an id: `evt_…`.
    kind: 'token',
    format:
      /(?<![\w.-])(?=[\w.-]*(?:[sprt]k|pat|key|tok|sec|npm|auth|pass|live|prod)[a-z]*[-_.])[A-Za-z][A-Za-z\d]{1,9}(?:[-_.][a-z]{2,8})*[-_.][A-Za-z\d]{16,}(?![\w-])/g,
    accept: (match) => {
      const random = /[^-_.]+$/.exec(match)?.[0] ?? '';
      return /\d/.test(random) && /[A-Za-z]/.test(random) ? random : undefined;
    },
  },
  {
    kind: 'email',
    format:
      /(?<![\p{L}\p{N}._+'%-])[\p{L}\p{N}._+'%-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.(?:xn--[\p{L}\p{N}-]+|\p{L}{2,})(?![\p{L}\p{N}])/giu,
    accept: (match) => (IS_FILE.test(match) ? undefined : match.replace(/^[.'-]+/, '')),
    keys: keyWords('e ?mail(?: ?(?:address|hash|sha ?256|md ?5|id))?', '(?:s|es)?'),
    spreads: true,
    replace: (value, pseudonyms) => {
      const plain = value.normalize('NFC').toLowerCase();
      return plain.includes('@')
        ? `${pseudonyms.token('email', plain)}@redacted.example`
        : pseudonyms.alike(value);
    },
  },
  {
    kind: 'iban',
    format: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![A-Za-z0-9])/g,
    accept: (match) => (checksum97(match.slice(4) + match.slice(0, 4)) === 1 ? match : undefined),
    replace: (value, pseudonyms) => {
      const own = pseudonyms.alike(value.slice(4).replaceAll(' ', ''));
      const check = 98 - checksum97(`${own}${value.slice(0, 2)}00`);
      return laidOut(`${value.slice(0, 2)}${String(check).padStart(2, '0')}${own}`, value, /[A-Z0-9]/i);
    },
  },
  CARD,
  {
    kind: 'mac',
    format: /(?<![\w:-])[\da-f]{2}([:-])(?:[\da-f]{2}\1){4}[\da-f]{2}(?![\w:-])/gi,
    replace: (value, pseudonyms) => {
      const own = pseudonyms.bytes('mac', value.replaceAll(/\W/g, '').toLowerCase()).toString('hex');
      return laidOut(`02${own.slice(0, 10)}`, value, /\w/);
    },
  },
  {
    kind: 'ip',
    format:
      /(?<![\w:.])(?:[\da-f]{0,4}:){2,7}[\da-f.:]{0,15}[\da-f:](?![\w:])|(?<![\w.]|\w\/)(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)/gi,
    accept: (match) =>
      (isIPv4(match) || (isIPv6(match) && /[\da-f]{3}|(?:\w+:+){3}/i.test(match))) && !isOwnAddress(match)
        ? match
        : undefined,
    replace: (value, pseudonyms) => {
      const plain = isIPv4(value) ? value : new URL(`http://[${value}]`).hostname;
      const own = pseudonyms.bytes('ip', plain);
      if (isIPv4(value)) return `198.${18 + ((own[0] ?? 0) % 2)}.${own[1]}.${own[2]}`;
      const groups = own.subarray(0, 12).toString('hex').match(/.{4}/g) ?? [];
      return `2001:db8:${groups.join(':')}`;
    },
  },
  {
    kind: 'phone',
    format:
      /(?<![\w.+-])(?:\+\d|\(\d{2,5}\)|00[1-9]\d{0,2}[ (./-])(?:[ ()./-]{0,3}\d){5,14}(?!\w)|(?<![\w.+-])(?:(?:1[-. ])?[2-9]\d{2}[-. ][2-9]\d{2}[-. ]\d{4}|0\d{2,4}[ /-]\d{5,9}|0\d(?:[ .-]\d{2}){4})(?![\w-])/g,
    accept: (match) => (/^(?:\D*\d){7,15}\D*$/.test(match) ? match : undefined),
    keys: keyWords(
      '(?:\\S+ ?)?(?:phone|mobile|cell|fax|tel|telephone|msisdn|whats ?app|landline)(?: ?(?:number|no|nr|num))?|sms ?(?:number|to)|wa ?id',
    ),
    spreads: true,
    // The country code 999 is reserved, so no phone rings. The usual fictitious numbers are too few: two people would share one.
    replace: (value, pseudonyms) => {
      const dialed = value.replace(/\(0\)/, '').replaceAll(/\D/g, '').replace(/^00/, '');
      if (dialed.length < 5) return pseudonyms.alike(value);
      // North American numbers are often written without their country code.
      const digits =
        /^\D*[2-9]/.test(value) && dialed.length === 10 && !value.startsWith('+') ? `1${dialed}` : dialed;
      const own = String(pseudonyms.number('phone', digits, 10n ** 12n)).padStart(12, '0');
      return `${/^\d+$/.test(value) ? '' : '+'}999${own}`;
    },
  },
  {
    kind: 'location',
    format: /(?<![\w.-])-?\d{1,2}\.\d{3,}[,;] ?-?\d{1,3}\.\d{3,}(?![\w.])/g,
    keys: keyWords(
      'lat|latitude|lng|lon|long|longitude|coord(?:inate)?|gps|geo ?hash|place ?id|lat ?(?:lng|lon|long)',
    ),
    spreads: true,
    replace: (value, pseudonyms) => {
      if (/[^\d\s.,;-]/.test(value)) return pseudonyms.alike(value);
      return value.replaceAll(/\d+(?:\.\d+)?/g, (number) => {
        const decimals = number.split('.')[1]?.length ?? 0;
        const own = pseudonyms.number('location', number, 10n ** 15n);
        return ((Number(own) / 1e15) * 85).toFixed(Math.min(decimals, 12));
      });
    },
  },
];

/** Returns whether an address belongs to every machine. */
function isOwnAddress(address: string): boolean {
  return /^(?:127\.|0\.0\.0\.0$|255\.255\.255\.255$|::1?$)/.test(address);
}

/** Writes characters with the separators of another text: `4000…` as `4000 …`. */
function laidOut(characters: string, like: string, character: RegExp): string {
  let at = 0;
  const laid = Array.from(like, (each) => (character.test(each) ? (characters[at++] ?? '') : each));
  return laid.join('') + characters.slice(at);
}

/** The remainder modulo 97 of a text whose letters count as 10 to 35 (ISO 7064). */
function checksum97(text: string): number {
  const digits = text
    .replaceAll(' ', '')
    .toUpperCase()
    .replace(/[A-Z]/g, (each) => String(each.charCodeAt(0) - 55));
  return Number(BigInt(digits) % 97n);
}

/** The check digit of a card number (ISO 7812). */
function luhnDigit(digits: string): string {
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, at) => {
      const doubled = Number(digit) * (at % 2 === 0 ? 2 : 1);
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
  return String((10 - (sum % 10)) % 10);
}
