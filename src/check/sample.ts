import { encodeBody } from '../message/outgoing-message.ts';
import { buildMessage } from '../message/build.ts';
import { MAX_MESSAGE_BYTES } from '../message/limits.ts';
import type { MessageType } from '../message/types.ts';
import { sign } from '../signature/sign.ts';

export interface CheckRequest {
  readonly body: Uint8Array;
  /** The value of `X-Signature`; undefined to send no such header. */
  readonly signature?: string | undefined;
}

export interface SampleOptions {
  /** Undefined: nothing is signed. */
  readonly secret: string | undefined;
  /** Ms since the epoch. */
  readonly now: number;
  /** Makes the messages of two runs differ, so that a receiver that remembers ids takes them all. */
  readonly runId: string;
}

type Fields = Readonly<Record<string, unknown>>;

const USER = 'hooks-test-user';

/** A message of each type, as a real sender would send it, and recognizable as a test in the receiver's records. */
export const SAMPLE_FIELDS: Readonly<Record<MessageType, Fields>> = {
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

  constructor(options: SampleOptions) {
    this.#options = options;
  }

  get isSigned(): boolean {
    return this.#options.secret !== undefined;
  }

  /** Makes the body of a message; `fields` replace those of its type, `name` becomes part of its `messageId`. */
  body(type: MessageType, name: string, fields: Fields = {}): Buffer {
    const messageId = `hooks-test-${name}-${this.#options.runId}`;
    const input = { type, ...SAMPLE_FIELDS[type], messageId, ...fields };
    return Buffer.from(encodeBody(buildMessage(input, { now: this.#options.now })));
  }

  /** Makes the body of the largest message that a client accepts, to which delivery adds a few bytes. */
  largestBody(name: string): Buffer {
    const bareBytes = this.body('track', name, filledWith('')).length - '"version":1,'.length;
    return this.body('track', name, filledWith('x'.repeat(MAX_MESSAGE_BYTES - bareBytes)));
  }

  /** Makes a request as the sender would: signed if there is a secret. */
  signed(body: Buffer): CheckRequest {
    const { secret } = this.#options;
    return secret === undefined ? { body } : { body, signature: sign(body, secret) };
  }

  /** The right signature of a body. Throws TypeError without a secret: only checks that need one call it. */
  signature(body: Buffer): string {
    const { secret } = this.#options;
    if (secret === undefined) throw new TypeError('A check that needs a secret was not skipped');
    return sign(body, secret);
  }

  /** A secret that the receiver does not have. */
  get otherSecret(): string {
    return `not the secret of ${this.#options.runId}`;
  }
}

function filledWith(filling: string): Fields {
  return { properties: { filling } };
}
