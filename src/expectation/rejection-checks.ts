import { InputError } from '../errors.ts';
import { formatCount, MAX_MESSAGE_BYTES } from '../message/limits.ts';
import {
  cameText,
  countText,
  differingMessage,
  placeOfMessage,
  type ArrivedCount,
  type ArrivedMessage,
  type DifferingMessage,
  type ExpectationResult,
  type MessageCheck,
} from './finding.ts';

/** No message of a call is over 32 KB: a tracking API drops it without an error. Says nothing when there is none. */
export class SizeCheck implements MessageCheck {
  #first: DifferingMessage | undefined;
  #count = 0;
  readonly isWaiting = false;

  add(arrived: ArrivedMessage): void {
    const { rejection } = arrived.message;
    if (rejection?.code !== 'too-large') return;
    this.#count += 1;
    const { bytes } = rejection;
    this.#first ??= differingMessage(arrived, [
      {
        path: 'size',
        expected: `at most ${formatCount(MAX_MESSAGE_BYTES)} bytes`,
        wanted: { atMost: MAX_MESSAGE_BYTES },
        got: `${formatCount(bytes)} bytes, without what the client library adds`,
        found: bytes,
      },
    ]);
  }

  findings(came: ArrivedCount): readonly ExpectationResult[] {
    if (this.#first === undefined) return [];
    const [are, them] = this.#count === 1 ? ['is', 'it'] : ['are', 'them'];
    const said = `${this.#count} of ${cameText(came)} ${are} over 32 KB: a tracking API drops ${them}`;
    return [{ expectation: 'size', isMet: false, said, differing: [this.#first] }];
  }
}

/** `hooks serve` takes every call and every message of a call. Says nothing when there is none that it rejects. */
export class ValidCheck implements MessageCheck {
  #rejectedMessages = 0;
  #rejectedCalls = 0;
  /** Where it is, and why. */
  #firstMessage = '';
  #firstCall = '';
  readonly isWaiting = false;

  add(arrived: ArrivedMessage): void {
    const { rejection } = arrived.message;
    if (rejection?.code !== 'invalid') return;
    this.#rejectedMessages += 1;
    this.#firstMessage ||= `${placeOfMessage(arrived)}: ${rejection.message}`;
  }

  /** Takes a request that is rejected whole: it has no message that another check could see. */
  addCall(request: number, { message }: { readonly message: string }): void {
    this.#rejectedCalls += 1;
    this.#firstCall ||= `the body of request ${request}: ${message}`;
  }

  findings({ requests, messages }: ArrivedCount): readonly ExpectationResult[] {
    const parts = [
      [this.#rejectedCalls, countText(requests, 'request'), this.#firstCall],
      [this.#rejectedMessages, countText(messages, 'message'), this.#firstMessage],
    ] as const;
    return parts.flatMap(([count, all, first]) => {
      if (count === 0) return [];
      const said = `hooks serve rejects ${count} of ${all}: ${first}`;
      return [{ expectation: 'valid', isMet: false, said }] as const;
    });
  }
}

/** Messages that a check could not judge, since a regular expression took too long on them. Says nothing when there is none. */
export class UndecidedMessages {
  #count = 0;
  #first = '';
  #broken: InputError | undefined;

  judge(arrived: ArrivedMessage, checks: readonly MessageCheck[]): void {
    try {
      lookAtAll(checks, (check) => check.add(arrived));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      // An error that names a file is about a schema, not about this message.
      if (error.file !== undefined) {
        this.#broken ??= error;
        return;
      }
      this.#count += 1;
      this.#first ||= `${placeOfMessage(arrived)}: ${error.message}`;
    }
  }

  /** Throws InputError for a schema that a message has shown to be broken. */
  findings(came: ArrivedCount): readonly ExpectationResult[] {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#count === 0) return [];
    const said = `${this.#count} of ${cameText(came)} cannot be judged: ${this.#first}`;
    return [{ expectation: 'decided', isMet: false, said }];
  }
}

/** Looks at each item, whatever happens at another; then throws the first error. */
export function lookAtAll<T>(items: readonly T[], look: (item: T, index: number) => void): void {
  const errors: unknown[] = [];
  for (const [index, item] of items.entries()) {
    try {
      look(item, index);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
