import { createHmac, hash, randomUUID, type Hmac } from 'node:crypto';
import { validateOptions } from '../../validate-options.ts';
import { ConfigError } from '../../errors.ts';
import { KeptBody } from '../body/kept-body.ts';
import { DEFAULT_SCHEME } from './built-in.ts';
import { findSchemes, originOfSchemes, type SchemeChoice } from './find-schemes.ts';
import { withFields, layoutOf, type HeaderLayout, type SchemeLayout } from './layout.ts';
import type { SignatureScheme, SignedFields } from './scheme.ts';
import { signingKey, type SchemeKey } from './secrets.ts';

/** Signature headers of a request. */
export interface SignedHeaders {
  /** Signature headers, as names and values in turn: name, value, name, value … */
  readonly headers: readonly string[];
  /** Value of the signature header of the first scheme. */
  readonly signature: string;
  /** Values of the signature headers, by header name. Undefined if there is only one scheme. */
  readonly signatures?: Readonly<Record<string, string>> | undefined;
}

/** Signs requests with one or several schemes. */
export class Signer {
  readonly schemes: readonly SignatureScheme[];
  readonly #keyed: readonly KeyedScheme[];

  /** Chooses the secret of each scheme. Throws ConfigError if a scheme cannot use any of the secrets. */
  constructor(schemes: readonly SignatureScheme[], secrets: readonly string[]) {
    this.schemes = schemes;
    const origin = originOfSchemes(schemes) ?? { key: 'scheme' };
    this.#keyed = schemes.map((scheme) => ({
      scheme,
      layout: layoutOf(scheme),
      key: signingKey(scheme, secrets, { origin, inUse: schemes }),
      plainHeader: plainHeaderOf(scheme),
    }));
  }

  /** Signs a whole body. A string is encoded as UTF-8. */
  sign(body: Uint8Array | string, fields: SignedFields): SignedHeaders {
    const [only] = this.#keyed;
    // One scheme with one header over the body alone takes the fast path below, which adds no cost to the HMAC.
    if (only?.plainHeader === undefined || this.#keyed.length > 1) {
      return this.start(fields).update(body).finish();
    }
    const { scheme, key, plainHeader } = only;
    const signature =
      plainHeader.text + createHmac(scheme.hash, key.key).update(body).digest(scheme.encoding);
    return { headers: [plainHeader.name, signature], signature };
  }

  /** Starts signing a body in chunks. Takes constant memory unless a scheme covers only a part of the body. */
  start(fields: SignedFields): SigningPass {
    return new SigningPass(this.#keyed, fields);
  }
}

interface KeyedScheme {
  readonly scheme: SignatureScheme;
  readonly layout: SchemeLayout;
  readonly key: SchemeKey;
  /** The header of a scheme that has one header and signs the body alone. Undefined for other schemes. */
  readonly plainHeader: PlainHeader | undefined;
}

interface PlainHeader {
  readonly name: string;
  /** Text before the signature in the header value, such as `sha256=`. */
  readonly text: string;
}

function plainHeaderOf(scheme: SignatureScheme): PlainHeader | undefined {
  const { headers, signatureHeader } = layoutOf(scheme);
  const [part, ...others] = signatureHeader.parts;
  const isPlain = scheme.signs === '{body}' && scheme.covers !== 'first';
  if (!isPlain || headers.length > 1 || part === undefined || others.length > 0) return undefined;
  return { name: signatureHeader.name, text: part.text };
}

class SigningPass {
  readonly #fields: SignedFields;
  readonly #signing: readonly (KeyedScheme & { readonly hmac: Hmac })[];
  readonly #kept: Uint8Array[] | undefined;

  constructor(keyed: readonly KeyedScheme[], fields: SignedFields) {
    this.#fields = fields;
    this.#signing = keyed.map((each) => {
      const hmac = createHmac(each.scheme.hash, each.key.key);
      if (each.layout.before !== '') hmac.update(withFields(each.layout.before, fields));
      return { ...each, hmac };
    });
    this.#kept = keyed.some(({ scheme }) => scheme.covers === 'first') ? [] : undefined;
  }

  update(chunk: Uint8Array | string): this {
    for (const { scheme, hmac } of this.#signing) if (scheme.covers !== 'first') hmac.update(chunk);
    this.#kept?.push(typeof chunk === 'string' ? Buffer.from(chunk) : new Uint8Array(chunk));
    return this;
  }

  finish(): SignedHeaders {
    const headers: string[] = [];
    const signatures: Record<string, string> = {};
    let first: string | undefined;
    for (const { scheme, layout, hmac } of this.#signing) {
      if (scheme.covers === 'first') hmac.update(this.#firstItem(scheme));
      if (layout.after !== '') hmac.update(withFields(layout.after, this.#fields));
      const signature = hmac.digest(scheme.encoding);
      for (const header of layout.headers) {
        const value = headerValue(header, scheme, { ...this.#fields, signature });
        if (header === layout.signatureHeader) {
          first ??= value;
          signatures[header.name] = value;
        }
        headers.push(header.name, value);
      }
    }
    return { headers, signature: first ?? '', signatures: this.#signing.length > 1 ? signatures : undefined };
  }

  #firstItem({ name }: SignatureScheme): string {
    const item = new KeptBody(Buffer.concat(this.#kept ?? [])).firstItem;
    if (item !== undefined) return item.json;
    throw new ConfigError(`The scheme ${name} signs the first item of a list, and the body is not JSON`, {
      key: 'scheme',
      hint: 'give JSON in UTF-8, at most 512 levels deep',
    });
  }
}

export function headerValue(
  { parts }: HeaderLayout,
  { separator }: SignatureScheme,
  fields: SignedFields & { readonly signature: string },
): string {
  return parts.map(({ text, field }) => text + fields[field]).join(separator ?? '');
}

/**
 * Ids that are signed as they are: other implementations of Standard Webhooks accept them, and they contain no character
 * that a scheme uses to separate signed fields.
 */
const PLAIN_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** The values of `{id}` and `{timestamp}` for an attempt at `atMs`. The id is the same on every attempt of a message. */
export function signedFields(messageId: string, atMs: number): SignedFields {
  return {
    id: PLAIN_ID.test(messageId) ? messageId : hash('sha256', messageId, 'hex'),
    timestamp: String(Math.floor(atMs / 1000)),
  };
}

export interface SignRequestOptions {
  /** Body to sign. A string is encoded as UTF-8. */
  readonly body: Uint8Array | string;
  /**
   * Secrets to choose from. Each scheme signs with the first one that it can use and that is not reserved for another
   * scheme.
   */
  readonly secrets: readonly string[];
  /** Schemes to sign with: names, or custom schemes. @default 'segment' */
  readonly scheme?: SchemeChoice | undefined;
  /** Message id, for schemes that sign the id. @default a new id */
  readonly id?: string | undefined;
  /** Time of the attempt in ms since the epoch. @default now */
  readonly at?: number | undefined;
}

const KINDS = {
  body: 'a string or bytes',
  secrets: 'a list',
  scheme: 'given',
  id: 'a string',
  at: 'a time in ms',
} as const satisfies Record<keyof SignRequestOptions, string>;

/** March 1973 in ms, or the year 5138 in seconds: a smaller time must have been given in seconds. */
const EARLIEST_MS = 1e11;

/**
 * Signs a request with each of the schemes. Returns their headers by name. Throws ConfigError for an unknown scheme, and if
 * a scheme can use none of the secrets.
 */
export function signRequest(options: SignRequestOptions): Readonly<Record<string, string>> {
  validateOptions(options, { kinds: KINDS, required: ['body', 'secrets'] });
  const { body, secrets, scheme = DEFAULT_SCHEME, id = `msg_${randomUUID()}`, at = Date.now() } = options;
  if (!secrets.every((secret: unknown) => typeof secret === 'string')) {
    throw new ConfigError('Expected `secrets` to be a list of strings, got another value in it', {
      key: 'secrets',
      hint: 'give each secret as a string; is an environment variable not set?',
    });
  }
  if (at < EARLIEST_MS) {
    throw new ConfigError(`Expected \`at\` to be a time in ms, got ${at}, which is in seconds`, {
      key: 'at',
      hint: 'pass Date.now(), or multiply the seconds by 1000',
    });
  }
  if (id === '') {
    throw new ConfigError('Expected `id` to be a message id, got an empty string', {
      key: 'id',
      hint: 'leave it out to get a new one',
    });
  }
  const signer = new Signer(findSchemes(scheme, { key: 'scheme' }), secrets);
  const { headers } = signer.sign(body, signedFields(id, at));
  return Object.fromEntries(
    headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1] ?? '']] : [])),
  );
}
