import { isUtf8 } from 'node:buffer';
import { parseJsonOrUndefined } from '../../message/json/batch-document.ts';
import { MASK } from '../../redact.ts';

/** Splits a URL into its scheme, authority, path, query and fragment. */
const URL_PARTS = /^(?:([a-z][a-z0-9+.-]*:\/\/)([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/is;
const USERINFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#\s]*@/i;
/** Matches URLs of webhooks whose path is their secret, also without their host, as in the target of a request. */
const SECRET_PATH =
  /^(https?:\/\/(?:hooks\.slack\.com\/\w+|hooks\.zapier\.com\/hooks\/catch|hook\.[\w-]+\.make\.com)\/|(?:https?:\/\/[^/?#]*)?\/(?:webhookb2\/|(?:services|workflows|triggers|actions|commands)\/(?=T[A-Z]*\d[A-Z\d]*\/)|api\/(?:v\d+\/)?webhooks\/\d{8,}\/))[^?#]+/;
/** Matches a link to an address such as an e-mail, whose @ is not behind a password. */
export const IS_ADDRESS = /^(?:mailto|sips?|xmpp|acct):(?!\/)/i;
/** Matches base64, also in a data URL. The shortest has an e-mail of ten characters. */
const BASE64 = /^(data:[^,]*;base64,)?([\w-]{14,}={0,2}|[A-Za-z0-9+/]{14,}={0,2})$/;

/** Matches a path or URL with a query, a query alone, or a path. */
export const TARGET = /^[^\s?=]*\?[^\s=?&]+=\S*$|^(?:\/[^\s/]+){2,}\/?$/;
export const FORM = /^[^\s=&?/]+=[^\s&]*(?:&[^\s=&]+=[^\s&]*)+$/;

/** Changes the text that is percent-encoded. Spells each character as the text does, so that `mailto:` stays. */
export function reencoded(encoded: string, change: (plain: string) => string, isForm = false): string {
  const plain = decodedText(encoded, isForm);
  const changed = change(plain);
  if (changed === plain) return encoded;
  const codes = encoded.toUpperCase();
  return Array.from(changed, (each) => {
    if (each !== '%' && !(isForm && each === '+') && encoded.includes(each)) return each;
    const code = encodeURIComponent(each);
    const latin1 = `%${each.charCodeAt(0).toString(16).toUpperCase()}`;
    return !codes.includes(code) && codes.includes(latin1) ? latin1 : code;
  }).join('');
}

interface UrlChange {
  readonly form: (form: string) => string;
  /** Changes the host, a decoded segment of the path, or the fragment. `before` is the segment in front, `//` for the host. */
  readonly part: (part: string, before: string) => string;
}

/** Changes the parts of a URL, and keeps its separators. */
export function changedUrl(url: string, { form, part }: UrlChange): string {
  const [, scheme = '', host = '', path = '', query = '', fragment = ''] = URL_PARTS.exec(url) ?? [];
  const changed = (each: string, at = 0, parts: readonly string[] = []): string => {
    const made = reencoded(each, (plain) => part(plain, parts[at - 1] ?? ''));
    // An @ in a path or fragment can end a password.
    return made === each || IS_ADDRESS.test(url) ? made : made.replaceAll('@', '%40');
  };
  const [mark, anchor] = [fragment.slice(0, 1), fragment.slice(1)];
  return [
    scheme + part(host, '//') + path.split('/').map(changed).join('/'),
    query.slice(0, 1) + form(query.slice(1)),
    mark + (anchor.includes('=') ? form(anchor) : changed(anchor)),
  ].join('');
}

/** Matches an e-mail with a tag or a phone number, whose plus was not encoded. */
const WITH_PLUS = /^(?:[\w.-]+\+?[\w.-]*(?:@|%40)[\w.-]+|\+\d[\d-]*)$/i;

/** Decodes a text, in which a plus is a space if it is of a form. Reads bytes that are not UTF-8 as Latin-1. */
export function decodedText(text: string, isForm: boolean): string {
  const spaced = isForm && !WITH_PLUS.test(text) ? text.replaceAll('+', ' ') : text;
  const escaped = spaced.replaceAll(/%(?![\da-f]{2})/gi, '%25');
  try {
    return decodeURIComponent(escaped);
  } catch {
    return spaced.replaceAll(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
  }
}

/** Masks the userinfo of a URL, and a path that is a secret. */
export function withoutUrlSecrets(url: string): string {
  return url.replace(USERINFO, `$1${MASK}@`).replace(SECRET_PATH, `$1${MASK}`);
}

export function isJsonText(text: string): boolean {
  return /^\s*[[{]/.test(text) && parseJsonOrUndefined(text) !== undefined;
}

/** The keys of a form field: `user[email]` has two. */
export function formKeys(pair: string): readonly string[] {
  const name = decodedText(pair.split('=', 1)[0] ?? '', true);
  return name.split(/[[\].]+/).filter((key) => key !== '');
}

/** Changes the text inside of base64. Returns bytes that are no text as they are. */
export function recoded(encoded: string, change: (plain: string) => string): string {
  const [, start = '', code = ''] = BASE64.exec(encoded) ?? [];
  const bytes = Buffer.from(code, 'base64');
  const plain = isUtf8(bytes) ? bytes.toString() : '';
  // eslint-disable-next-line no-control-regex -- bytes that are no text have control characters
  if (plain === '' || /[\u0000-\u0008\u000e-\u001f]/.test(plain)) return encoded;
  const changed = change(plain);
  if (changed === plain) return encoded;
  return start + Buffer.from(changed).toString(/[-_]/.test(code) ? 'base64url' : 'base64');
}
