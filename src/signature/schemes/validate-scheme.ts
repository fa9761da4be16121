import { isObject, kindOf } from '../../validate-options.ts';
import { printable } from '../../redact.ts';
import { nearHint } from '../../suggest.ts';
import { partsOf } from './layout.ts';
import { SCHEME_HASHES, type SignatureScheme } from './scheme.ts';

/** A problem in a custom scheme that comes from a config or a program. */
export interface SchemeProblem {
  /** Path of the problem in the scheme: `.signs`, `.headers.X-Sign`; empty for the scheme itself. */
  readonly part: string;
  /** End of a sentence that begins with "Expected" and the path of the value, such as `to have {body} once`. */
  readonly expected: string;
  readonly got: string;
  readonly hint: string;
}

/** JSON Schema (draft-07) of a custom scheme. Does not include the keys that only built-in schemes have. */
export const SCHEME_SCHEMA = {
  type: 'object',
  required: ['headers', 'signs', 'hash', 'encoding'],
  additionalProperties: false,
  properties: {
    title: { type: 'string' },
    headers: { type: 'object', additionalProperties: { type: 'string' }, minProperties: 1 },
    separator: { enum: [',', ' '] },
    signs: { type: 'string', pattern: String.raw`\{body\}` },
    hash: { enum: SCHEME_HASHES },
    encoding: { enum: ['hex', 'base64'] },
    secret: { enum: ['text', 'base64'] },
    secretPrefix: { type: 'string', minLength: 1 },
    tolerance: { type: 'integer', minimum: 0 },
  },
} as const;

const { hash, encoding, secret } = SCHEME_SCHEMA.properties;
const KEYS: readonly string[] = Object.keys(SCHEME_SCHEMA.properties);

type SchemeInput = Partial<Readonly<Record<keyof SignatureScheme, unknown>>>;

/** The first problem of a custom scheme, including unknown keys; undefined if the scheme is valid. */
export function schemeProblem(value: unknown): SchemeProblem | undefined {
  if (!isObject(value)) {
    return problem('', 'to be an object', kindOf(value), 'give headers, signs, hash and encoding');
  }
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key) && key !== 'name');
  if (unknown !== undefined) return unknownKey(unknown);
  const scheme: SchemeInput = value; // the values are validated below
  return (
    choiceProblem('.hash', scheme.hash, hash.enum) ??
    choiceProblem('.encoding', scheme.encoding, encoding.enum) ??
    choiceProblem('.secret', scheme.secret ?? 'text', secret.enum) ??
    choiceProblem('.separator', scheme.separator ?? ',', SCHEME_SCHEMA.properties.separator.enum) ??
    textProblem('.title', scheme.title ?? 'none') ??
    textProblem('.secretPrefix', scheme.secretPrefix ?? 'none') ??
    signsProblem(scheme.signs) ??
    headersProblem(scheme) ??
    toleranceProblem(scheme)
  );
}

function problem(part: string, expected: string, got: string, hint: string): SchemeProblem {
  return { part, expected, got, hint };
}

function unknownKey(key: string): SchemeProblem {
  const hint = nearHint(key, KEYS, `a scheme has ${KEYS.join(', ')}`);
  return problem(`.${printable(key, 80)}`, 'to be left out: no scheme has it', 'a value', hint);
}

function choiceProblem(part: string, value: unknown, choices: readonly string[]): SchemeProblem | undefined {
  if (typeof value === 'string' && choices.includes(value)) return undefined;
  const shown = choices.map((each) => (each === ' ' ? 'a space' : each));
  const got = typeof value === 'string' ? printable(JSON.stringify(value), 80) : kindOf(value);
  return problem(part, `to be ${shown.join(' or ')}`, got, 'choose one of them');
}

function textProblem(part: string, value: unknown): SchemeProblem | undefined {
  if (typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)) return undefined;
  return problem(part, 'to be ASCII text', kindOf(value), 'leave it out, or write it on one line');
}

const SIGNS_HINT = 'write a template such as {timestamp}.{body}; it can have {id}, {timestamp} and {body}';

function signsProblem(signs: unknown): SchemeProblem | undefined {
  if (typeof signs !== 'string') {
    return problem('.signs', 'to be a template with {body}', kindOf(signs), SIGNS_HINT);
  }
  const unknown = unknownPlaceholder(signs, ['id', 'timestamp', 'body']);
  if (unknown !== undefined) {
    return problem('.signs', 'to have known placeholders only', printable(unknown, 80), SIGNS_HINT);
  }
  const count = signs.split('{body}').length - 1;
  if (count === 1) return separatorProblem(signs);
  const got = count === 0 ? 'none, which would sign nothing of the request' : `${count}`;
  return problem('.signs', 'to have {body} once', got, SIGNS_HINT);
}

/**
 * Requires a separator between fields. Otherwise bytes could move from one field to the next, and two requests have the same
 * signature.
 */
function separatorProblem(signs: string): SchemeProblem | undefined {
  const [pair, first, second] = /(\{\w+\})[\w-]*(\{\w+\})/.exec(signs) ?? [];
  if (pair === undefined) return undefined;
  const expected = 'to have a separator between two placeholders, so that no byte can move between them';
  return problem('.signs', expected, printable(pair, 80), `write a . or : between them: ${first}.${second}`);
}

function unknownPlaceholder(template: string, known: readonly string[]): string | undefined {
  const rest = template.replaceAll(new RegExp(`\\{(?:${known.join('|')})\\}`, 'g'), '');
  return /\{[^{}]*\}?|\}/.exec(rest)?.[0];
}

/** Pattern of a header name (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADERS_HINT = "for example { X-Signature-256: 'sha256={signature}', X-Time: '{timestamp}' }";
/** Names that a scheme's header must not have: headers with other purposes, and those of a single connection. */
const TAKEN =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|user-agent|idempotency-key|traceparent|tracestate|authorization|cookie|proxy-.*|keep-alive)$/i;

function headersProblem({ headers, separator, signs }: SchemeInput): SchemeProblem | undefined {
  if (!isObject(headers) || Object.keys(headers).length === 0) {
    return problem(
      '.headers',
      'to be an object of names and templates',
      isObject(headers) ? 'an empty one' : kindOf(headers),
      HEADERS_HINT,
    );
  }
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (new Set(names).size < names.length) {
    return problem('.headers', 'to name each header once', 'one in two spellings', 'keep one of them');
  }
  for (const [name, template] of Object.entries(headers)) {
    const found = headerProblem(name, template, separator);
    if (found !== undefined) return found;
  }
  const all = Object.values(headers).join('\n');
  const count = all.split('{signature}').length - 1;
  if (count !== 1) {
    return problem('.headers', 'to have {signature} in one header', String(count), HEADERS_HINT);
  }
  const missing = ['id', 'timestamp'].find(
    (each) => String(signs).includes(`{${each}}`) && all.split(`{${each}}`).length !== 2,
  );
  if (missing === undefined) return undefined;
  const why = `to have {${missing}} in one header: it is signed, so a receiver needs it`;
  return problem('.headers', why, String(all.split(`{${missing}}`).length - 1), HEADERS_HINT);
}

function headerProblem(name: string, template: unknown, separator: unknown): SchemeProblem | undefined {
  const part = `.headers.${printable(name, 80)}`;
  if (!TOKEN.test(name) || TAKEN.test(name)) {
    return problem(
      part,
      'to be a header for signatures',
      'another',
      'choose a name of your own: X-Acme-Signature',
    );
  }
  if (typeof template !== 'string') return problem(part, 'to be a template', kindOf(template), HEADERS_HINT);
  const unknown = unknownPlaceholder(template, ['signature', 'timestamp', 'id']);
  if (unknown !== undefined) {
    return problem(
      part,
      'to have {signature}, {timestamp} or {id} only',
      printable(unknown, 80),
      HEADERS_HINT,
    );
  }
  const isList = template.includes('{signature}') && typeof separator === 'string';
  const isRead = partsOf(template, isList ? separator : undefined).length > 0;
  if (isRead && /^[\x20-\x7e]*$/.test(template)) return undefined;
  const hint = "separate several parts: separator: ',' and 't={timestamp},v1={signature}'";
  return problem(part, 'to be a text with a placeholder at its end', printable(template, 80), hint);
}

function toleranceProblem({ tolerance, signs }: SchemeInput): SchemeProblem | undefined {
  if (tolerance === undefined) return undefined;
  const hint = 'give seconds, such as 300, or leave it out to ignore the age';
  const got = typeof tolerance === 'number' ? String(tolerance) : kindOf(tolerance);
  if (typeof tolerance !== 'number' || !Number.isSafeInteger(tolerance) || tolerance < 0) {
    return problem('.tolerance', 'to be a whole number of seconds from 0 to 9007199254740991', got, hint);
  }
  if (String(signs).includes('{timestamp}')) return undefined;
  const unsigned = 'to be left out: `signs` has no {timestamp}, so anyone could change the time';
  return problem('.tolerance', unsigned, got, 'add {timestamp} to `signs`');
}
