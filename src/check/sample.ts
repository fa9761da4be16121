import { buildMessage } from '../message/build.ts';
import { MAX_MESSAGE_BYTES } from '../message/limits.ts';
import { isJson } from '../message/json/read-json.ts';
import { encodeBody } from '../message/outgoing-message.ts';
import type { MessageType } from '../message/types.ts';
import { layoutOf, type HeaderField } from '../signature/schemes/layout.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import { madeUpSecret } from '../signature/schemes/secrets.ts';
import { Signer, signedFields } from '../signature/schemes/signer.ts';
import { sign } from '../signature/sign.ts';
import { isObject } from '../validate-options.ts';

export interface CheckRequest {
  readonly body: Uint8Array;
  /** Value of `X-Signature`; undefined to omit the header. */
  readonly signature?: string | undefined;
  /** Headers of the chosen schemes instead of `signature`: name, value, name, value … */
  readonly signatureHeaders?: readonly string[] | undefined;
  /** Positions at which the body is cut into parts that arrive one after the other. */
  readonly cutsAt?: readonly number[] | undefined;
}

export interface SampleOptions {
  /** All secrets, of which the first signs. Empty to send unsigned. */
  readonly secrets: readonly string[];
  /** Signer for the chosen schemes; undefined for the default scheme, with the first secret. */
  readonly signer: Signer | undefined;
  /** Makes the message ids of each run unique, so that receivers that remember ids accept them. */
  readonly runId: string;
  /** Timestamp of the messages, in ms since the epoch. */
  readonly now: number;
}

type SampleFields = Readonly<Record<string, unknown>>;

const USER = 'hooks-test-user';

/** Fields of a realistic message of each type, which is recognizable as a test in the receiver's records. */
export const SAMPLE_FIELDS: Readonly<Record<MessageType, SampleFields>> = {
  page: {
    userId: USER,
    properties: {
      path: '/hooks-test',
      referrer: 'https://example.com/',
      title: 'Hooks Test',
      url: 'https://example.com/hooks-test',
    },
  },
  screen: {
    userId: USER,
    name: 'Hooks Test',
    context: {
      device: { model: 'Pixel 9', type: 'android' },
      os: { name: 'Android', version: '16' },
      app: { build: '42', name: 'Hooks Test', version: '1.0.3' },
    },
  },
  identify: { userId: USER, traits: { email: 'hooks-test@example.com', plan: 'pro', logins: 5 } },
  track: {
    userId: USER,
    event: 'Hooks Test',
    properties: { revenue: 27.5, currency: 'EUR', products: [{ sku: 'A-1', quantity: 2 }] },
  },
  alias: { previousId: 'hooks-test-anonymous', userId: USER },
  group: { groupId: 'hooks-test-group', userId: USER, traits: { name: 'Hooks Test Inc.', employees: 12 } },
  delete: { userId: USER },
};

/** Makes the requests of the checks. */
export class Sample {
  readonly #options: SampleOptions;
  /** Number of requests that `signedAt` made. Makes the ids that some schemes sign unique: a receiver may remember ids. */
  #signedCount = 0;

  constructor(options: SampleOptions) {
    this.#options = options;
  }

  get isSigned(): boolean {
    return this.#options.secrets.length > 0;
  }

  /** Makes the body of a message. `fields` override the fields of its type, `name` becomes part of its `messageId`. */
  body(type: MessageType, name: string, fields: SampleFields = {}): Buffer {
    const messageId = `hooks-test-${name}-${this.#options.runId}`;
    const input = { type, ...SAMPLE_FIELDS[type], messageId, ...fields };
    return Buffer.from(encodeBody(buildMessage(input, { now: this.#options.now })));
  }

  /**
   * Makes the body of the largest message that a client accepts. The limit does not count `version`, which delivery adds.
   */
  largestBody(name: string): Buffer {
    const bareBytes = this.body('track', name, filledWith('')).length - '"version":1,'.length;
    return this.body('track', name, filledWith('x'.repeat(MAX_MESSAGE_BYTES - bareBytes)));
  }

  /** Makes a correct request, which is signed if there is a secret. */
  signed(body: Buffer): CheckRequest {
    if (this.#options.signer !== undefined) return this.signedAt(body, { agoMs: 0 });
    return this.isSigned ? { body, signature: this.signature(body) } : { body };
  }

  /** The right signature of a body. Throws TypeError without a secret, because only checks that need one call it. */
  signature(body: Buffer): string {
    const [secret] = this.#options.secrets;
    if (secret === undefined) throw new TypeError('A check that needs a secret was not skipped');
    return sign(body, secret);
  }

  /** Makes a request that was signed `agoMs` ago, by the chosen schemes. */
  signedAt(
    body: Buffer,
    {
      agoMs,
      signer = this.#options.signer,
    }: { readonly agoMs: number; readonly signer?: Signer | undefined },
  ): CheckRequest {
    const { runId } = this.#options;
    const fields = signedFields(`hooks-test-${runId}-${++this.#signedCount}`, Date.now() - agoMs);
    return { body, signatureHeaders: signer?.sign(body, fields).headers };
  }

  /** Makes a request with changed signatures. With `only`, the signatures of the other schemes stay right. */
  forged(
    body: Buffer,
    { change = otherDigit, only }: { change?: (signature: string) => string; only?: SignatureScheme },
  ): CheckRequest {
    const { signer } = this.#options;
    if (signer === undefined) return { body, signature: change(this.signature(body)) };
    const schemes = only === undefined ? signer.schemes : [only];
    return this.withField(body, { schemes, field: 'signature', change });
  }

  /** Makes a request in which a field of the headers of some schemes is changed after signing. */
  withField(body: Buffer, change: HeaderChange): CheckRequest {
    const { signatureHeaders = [] } = this.signed(body);
    return { body, signatureHeaders: changedHeaders(signatureHeaders, change) };
  }

  /** Makes a request with `body` and the signature of another body, `signed`. */
  signedOver(signed: Buffer, body: Uint8Array): CheckRequest {
    return { ...this.signed(signed), body };
  }

  /** Makes a request with a wrong signature of a scheme before the right one. */
  signedTwice(body: Buffer, scheme: SignatureScheme): CheckRequest {
    const text = layoutOf(scheme).signatureHeader.parts.find(({ field }) => field === 'signature')?.text;
    const change = (right: string): string => `${otherDigit(right)}${scheme.separator}${text}${right}`;
    return this.withField(body, { schemes: [scheme], field: 'signature', change });
  }

  /** Makes a request that is signed with secrets that the receiver does not have. */
  signedWithOther(body: Buffer): CheckRequest {
    const { runId, signer } = this.#options;
    const other = `not the secret of ${runId}`;
    if (signer === undefined) return { body, signature: sign(body, other) };
    const secrets = signer.schemes.map((scheme) => madeUpSecret(scheme, Buffer.from(other)));
    return this.signedAt(body, { agoMs: 0, signer: new Signer(signer.schemes, secrets) });
  }
}

/**
 * Changes the last digit of a signature. In padded base64, changes an earlier digit, because not all bits of the last one
 * count.
 */
export function otherDigit(signature: string): string {
  const at = signature.length - (signature.endsWith('=') ? 4 : 1);
  return signature.slice(0, at) + (signature[at] === '0' ? '1' : '0') + signature.slice(at + 1);
}

function filledWith(filling: string): SampleFields {
  return { properties: { filling } };
}

interface HeaderChange {
  /** Schemes in whose signature headers the field is changed. */
  readonly schemes: readonly SignatureScheme[];
  readonly field: HeaderField;
  readonly change: (text: string) => string;
}

/** Changes one field in the signature headers of some schemes. Headers are name, value, name, value … */
function changedHeaders(
  headers: readonly string[],
  { schemes, field, change }: HeaderChange,
): readonly string[] {
  const changed = [...headers];
  for (const scheme of schemes) {
    for (const { name, parts } of layoutOf(scheme).headers) {
      const at = headers.findIndex((each, index) => index % 2 === 0 && each === name);
      const value = headers[at + 1];
      if (at < 0 || value === undefined) continue;
      const texts = parts.length > 1 ? value.split(scheme.separator ?? ',') : [value];
      changed[at + 1] = texts
        .map((text, index) => {
          const part = parts[index];
          return part?.field === field ? part.text + change(text.slice(part.text.length)) : text;
        })
        .join(scheme.separator ?? '');
    }
  }
  return changed;
}

/** The id of the message in a request. Undefined for a body that is not a message with an id. */
export function messageIdIn({ body }: CheckRequest): string | undefined {
  const text = Buffer.from(body).toString();
  const value: unknown = isJson(text) ? JSON.parse(text) : undefined;
  return isObject(value) && typeof value['messageId'] === 'string' ? value['messageId'] : undefined;
}
