import { validateOptions, isObject } from '../validate-options.ts';
import { SAMPLE_FIELDS } from '../check/sample.ts';
import { buildMessage } from '../message/build.ts';
import { encodeBody } from '../message/outgoing-message.ts';
import type { Message, MessageType } from '../message/types.ts';
import type { SchemeChoice } from '../signature/schemes/find-schemes.ts';
import { signRequest } from '../signature/schemes/signer.ts';

export interface SignedRequestOptions {
  readonly secret: string;
  /** Signature scheme to sign the request by. @default 'segment' */
  readonly scheme?: SchemeChoice | undefined;
}

const KINDS = { secret: 'a string', scheme: 'given' } as const satisfies Record<
  keyof SignedRequestOptions,
  string
>;

/** A signed webhook in parts that supertest, `inject` and fetch can send. */
export interface SignedRequest {
  readonly method: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** The exact text that was signed. */
  readonly body: string;
}

/**
 * Creates a webhook request like a real delivery: the body of the message and its signature. A string becomes the body
 * unchanged. Throws ValidationError for an object that is not a message, and ConfigError for an unknown scheme or option.
 */
export function signedRequest(message: object | string, options: SignedRequestOptions): SignedRequest {
  validateOptions(options, { kinds: KINDS, required: ['secret'] });
  const { secret, scheme } = options;
  const body = typeof message === 'string' ? message : encodeBody(buildMessage(message, { now: Date.now() }));
  const { messageId } = isObject(message) ? message : {};
  const id = typeof messageId === 'string' && messageId !== '' ? messageId : undefined;
  const headers = signRequest({ body, secrets: [secret], scheme, id });
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
}

/**
 * Creates a realistic message of this type. `overrides` replace its fields. Throws ValidationError if the result is not a
 * message.
 */
export function sample(type: MessageType, overrides: Readonly<Record<string, unknown>> = {}): Message {
  return buildMessage({ type, ...SAMPLE_FIELDS[type], ...overrides }, { now: Date.now() });
}
