import { isObject, kindOf } from '../../validate-options.ts';
import { printable } from '../../redact.ts';
import { closest } from '../../suggest.ts';
import { partsOf } from './layout.ts';
import { SCHEME_HASHES, type SignatureScheme } from './scheme.ts';

/** What is wrong with a scheme of a config or a program. */
export interface SchemeFault {
  /** Where in the scheme: `.signs`, `.headers.X-Sign`; empty for the whole of it. */
  readonly part: string;
  /** Follows "Expected `NAME` ". */
  readonly expected: string;
  readonly got: string;
  readonly hint: string;
}

/** What a scheme of one's own may have. What only built-in ones have is left out. */
const KEYS: readonly string[] = [
  'title',
  'headers',
  'separator',
  'signs',
  'hash',
  'encoding',
  'secret',
  'secretPrefix',
  'tolerance',
];

/** The first fault of a scheme of one's own; undefined when it can be used. Unknown keys count. */
export function schemeFault(value: unknown): SchemeFault | undefined {
  if (!isObject(value)) {
    return fault('', 'to be an object', kindOf(value), 'give headers, signs, hash and encoding');
  }
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key) && key !== 'name');
  if (unknown !== undefined) return unknownKey(unknown);
  const scheme = value as Partial<Record<keyof SignatureScheme, unknown>>; // its values are checked one by one
  return (
    choiceFault('.hash', scheme.hash, SCHEME_HASHES) ??
    choiceFault('.encoding', scheme.encoding, ['hex', 'base64']) ??
    choiceFault('.secret', scheme.secret ?? 'text', ['text', 'base64']) ??
    choiceFault('.separator', scheme.separator ?? ',', [',', ' ']) ??
    textFault('.title', scheme.title ?? 'none') ??
    textFault('.secretPrefix', scheme.secretPrefix ?? 'none') ??
    signsFault(scheme.signs) ??
    headersFault(scheme) ??
    toleranceFault(scheme)
  );
}

function fault(part: string, expected: string, got: string, hint: string): SchemeFault {
  return { part, expected, got, hint };
}

function unknownKey(key: string): SchemeFault {
  const near = closest(key, KEYS);
  const hint = near === undefined ? `a scheme has ${KEYS.join(', ')}` : `did you mean \`${near}\`?`;
  return fault(`.${printable(key, 80)}`, 'to be left out: no scheme has it', 'a value', hint);
}

function choiceFault(part: string, value: unknown, choices: readonly string[]): SchemeFault | undefined {
  if (typeof value === 'string' && choices.includes(value)) return undefined;
  const shown = choices.map((each) => (each === ' ' ? 'a space' : each));
  const got = typeof value === 'string' ? printable(JSON.stringify(value), 80) : kindOf(value);
  return fault(part, `to be ${shown.join(' or ')}`, got, 'choose one of them');
}

function textFault(part: string, value: unknown): SchemeFault | undefined {
  if (typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)) return undefined;
  return fault(part, 'to be ASCII text', kindOf(value), 'leave it out, or write it in one line');
}

const SIGNS_HINT = 'sign the body and more, as {timestamp}.{body}; {id}, {timestamp} and {body} are known';

function signsFault(signs: unknown): SchemeFault | undefined {
  if (typeof signs !== 'string') {
    return fault('.signs', 'to be what is signed, with {body}', kindOf(signs), SIGNS_HINT);
  }
  const unknown = unknownPlaceholder(signs, ['id', 'timestamp', 'body']);
  if (unknown !== undefined) {
    return fault('.signs', 'to have known placeholders only', printable(unknown, 80), SIGNS_HINT);
  }
  const count = signs.split('{body}').length - 1;
  if (count === 1) return separatorFault(signs);
  const got = count === 0 ? 'none, which would sign nothing of the request' : `${count}`;
  return fault('.signs', 'to have {body} once', got, SIGNS_HINT);
}

/** Without a separator a byte could move from one field to the next, and the same signature would count for both requests. */
function separatorFault(signs: string): SchemeFault | undefined {
  const [pair, first, second] = /(\{\w+\})[\w-]*(\{\w+\})/.exec(signs) ?? [];
  if (pair === undefined) return undefined;
  const expected = 'to have a separator between two placeholders, so that no byte can move between them';
  return fault('.signs', expected, printable(pair, 80), `write a . or : between them: ${first}.${second}`);
}

function unknownPlaceholder(template: string, known: readonly string[]): string | undefined {
  const rest = template.replaceAll(new RegExp(`\\{(?:${known.join('|')})\\}`, 'g'), '');
  return /\{[^{}]*\}?|\}/.exec(rest)?.[0];
}

/** A token (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADERS_HINT = "for example { X-Signature-256: 'sha256={signature}', X-Time: '{timestamp}' }";
/** Headers that a request has anyway, or that are for one connection. */
const TAKEN =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|user-agent|idempotency-key|traceparent|tracestate|authorization|cookie|proxy-.*|keep-alive)$/i;

function headersFault({
  headers,
  separator,
  signs,
}: Partial<Record<keyof SignatureScheme, unknown>>): SchemeFault | undefined {
  if (!isObject(headers) || Object.keys(headers).length === 0) {
    return fault(
      '.headers',
      'to be an object of names and templates',
      isObject(headers) ? 'an empty one' : kindOf(headers),
      HEADERS_HINT,
    );
  }
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (new Set(names).size < names.length) {
    return fault('.headers', 'to name each header once', 'one in two spellings', 'keep one of them');
  }
  for (const [name, template] of Object.entries(headers)) {
    const found = headerFault(name, template, separator);
    if (found !== undefined) return found;
  }
  const all = Object.values(headers).join('\n');
  const count = all.split('{signature}').length - 1;
  if (count !== 1) return fault('.headers', 'to have {signature} in one header', String(count), HEADERS_HINT);
  const missing = ['id', 'timestamp'].find(
    (each) => String(signs).includes(`{${each}}`) && all.split(`{${each}}`).length !== 2,
  );
  if (missing === undefined) return undefined;
  const why = `to carry {${missing}} in one header: it is signed, and a receiver needs it`;
  return fault('.headers', why, String(all.split(`{${missing}}`).length - 1), HEADERS_HINT);
}

function headerFault(name: string, template: unknown, separator: unknown): SchemeFault | undefined {
  const part = `.headers.${printable(name, 80)}`;
  if (!TOKEN.test(name) || TAKEN.test(name)) {
    return fault(
      part,
      'to be a header for signatures',
      'another',
      'choose a name of your own: X-Acme-Signature',
    );
  }
  if (typeof template !== 'string') return fault(part, 'to be a template', kindOf(template), HEADERS_HINT);
  const unknown = unknownPlaceholder(template, ['signature', 'timestamp', 'id']);
  if (unknown !== undefined) {
    return fault(part, 'to have {signature}, {timestamp} or {id} only', printable(unknown, 80), HEADERS_HINT);
  }
  const isList = template.includes('{signature}') && typeof separator === 'string';
  const isRead = partsOf(template, isList ? separator : undefined).length > 0;
  if (isRead && /^[\x20-\x7e]*$/.test(template)) return undefined;
  const hint = "separate several parts: separator: ',' and 't={timestamp},v1={signature}'";
  return fault(part, 'to be a text with a placeholder at its end', printable(template, 80), hint);
}

function toleranceFault({
  tolerance,
  signs,
}: Partial<Record<keyof SignatureScheme, unknown>>): SchemeFault | undefined {
  if (tolerance === undefined) return undefined;
  const hint = 'give seconds, as 300, or leave it out to compare no time';
  const got = typeof tolerance === 'number' ? String(tolerance) : kindOf(tolerance);
  if (typeof tolerance !== 'number' || !Number.isSafeInteger(tolerance) || tolerance < 0) {
    return fault('.tolerance', 'to be a whole number of seconds from 0 to 9007199254740991', got, hint);
  }
  if (String(signs).includes('{timestamp}')) return undefined;
  const unsigned = 'to be left out: `signs` has no {timestamp}, so anyone could change the time';
  return fault('.tolerance', unsigned, got, 'add {timestamp} to `signs`');
}
