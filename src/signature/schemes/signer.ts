import { createHmac, hash, randomUUID, type Hmac } from 'node:crypto';
import { validateOptions } from '../../validate-options.ts';
import { ConfigError } from '../../errors.ts';
import { KeptBody } from '../body/kept-body.ts';
import { DEFAULT_SCHEME } from './built-in.ts';
import { findSchemes, originOfSchemes, type SchemeChoice } from './find-schemes.ts';
import { withFields, layoutOf, type HeaderLayout, type SchemeLayout } from './layout.ts';
import type { SignatureScheme, SignedFields } from './scheme.ts';
import { signingKey, type SchemeKey } from './secrets.ts';

/** A request's signature headers. */
export interface SignedHeaders {
  /** Name, value, name, value … */
  readonly headers: readonly string[];
  /** The value of the first scheme's header with the signature. */
  readonly signature: string;
  /** Those of all schemes by the names of their headers, where there are several. */
  readonly signatures?: Readonly<Record<string, string>> | undefined;
}

/** Signs requests with one or several schemes. */
export class Signer {
  readonly schemes: readonly SignatureScheme[];
  readonly #keyed: readonly KeyedScheme[];

  /** Chooses a secret for each scheme. Throws ConfigError when one can use none of the secrets. */
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

  /** Signs a whole body. A string stands for its UTF-8. */
  sign(body: Uint8Array | string, fields: SignedFields): SignedHeaders {
    const [only] = this.#keyed;
    // The fast path: one header of one scheme over the body alone costs what the HMAC does.
    if (only?.plainHeader === undefined || this.#keyed.length > 1) {
      return this.start(fields).update(body).finish();
    }
    const { scheme, key, plainHeader } = only;
    const signature =
      plainHeader.text + createHmac(scheme.hash, key.key).update(body).digest(scheme.encoding);
    return { headers: [plainHeader.name, signature], signature };
  }

  /** Begins to sign a body that arrives in pieces. It takes constant memory unless a scheme covers a part of the body only. */
  start(fields: SignedFields): SigningPass {
    return new SigningPass(this.#keyed, fields);
  }
}

interface KeyedScheme {
  readonly scheme: SignatureScheme;
  readonly layout: SchemeLayout;
  readonly key: SchemeKey;
  /** Of a scheme that signs the whole body and nothing else. */
  readonly plainHeader: PlainHeader | undefined;
}

interface PlainHeader {
  readonly name: string;
  /** Before the signature. */
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
    throw new ConfigError(`The scheme ${name} signs the first item of a list, and the body is no JSON`, {
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

/** An id as the Standard Webhooks of others take it; also without what separates the fields that are signed, in any scheme. */
const PLAIN_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** What `{id}` and `{timestamp}` stand for in a message of this id, sent at this time: the same id on every attempt. */
export function signedFields(messageId: string, atMs: number): SignedFields {
  return {
    id: PLAIN_ID.test(messageId) ? messageId : hash('sha256', messageId, 'hex'),
    timestamp: String(Math.floor(atMs / 1000)),
  };
}

export interface SignRequestOptions {
  /** A string stands for its UTF-8. */
  readonly body: Uint8Array | string;
  /** Each scheme signs with the first that it can use and that is meant for it. */
  readonly secrets: readonly string[];
  /** By name, or schemes of one's own. @default 'segment' */
  readonly scheme?: SchemeChoice | undefined;
  /** The message id, for schemes that sign it. @default a new one */
  readonly id?: string | undefined;
  /** The time of the attempt, in ms since the epoch. @default now */
  readonly at?: number | undefined;
}

const KINDS = {
  body: 'a string or bytes',
  secrets: 'a list',
  scheme: 'given',
  id: 'a string',
  at: 'a time in ms',
} as const satisfies Record<keyof SignRequestOptions, string>;

/** A time in ms of March 1973, in seconds of the year 5138: a smaller number is meant in seconds. */
const EARLIEST_MS = 1e11;

/**
 * Signs a request: the headers by name that each of the schemes gives it. Throws ConfigError for an unknown scheme, and when one can use none of
 * the secrets.
 */
export function signRequest(options: SignRequestOptions): Readonly<Record<string, string>> {
  validateOptions(options, { kinds: KINDS, required: ['body', 'secrets'] });
  const { body, secrets, scheme = DEFAULT_SCHEME, id = `msg_${randomUUID()}`, at = Date.now() } = options;
  if (!secrets.every((secret: unknown) => typeof secret === 'string')) {
    throw new ConfigError('Expected `secrets` to be a list of strings, got another value in it', {
      key: 'secrets',
      hint: 'give each secret as text: an environment variable may not be set',
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
