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
} from './expectation-result.ts';

/** Expects no message over 32 KB, because a tracking API drops it without an error. Has no result if all are smaller. */
export class SizeCheck implements MessageCheck {
  #first: DifferingMessage | undefined;
  #count = 0;

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

  results(came: ArrivedCount): readonly ExpectationResult[] {
    if (this.#first === undefined) return [];
    const [are, them] = this.#count === 1 ? ['is', 'it'] : ['are', 'them'];
    const said = `${this.#count} of ${cameText(came)} ${are} over 32 KB: a tracking API drops ${them}`;
    return [{ expectation: 'size', isMet: false, said, differing: [this.#first] }];
  }
}

/** Expects that `hooks serve` accepts every call and every message of a call. Has no result if all are accepted. */
export class ValidCheck implements MessageCheck {
  #rejectedMessages = 0;
  #rejectedCalls = 0;
  /** Place of the first rejected message, and the reason of the rejection. */
  #firstMessage = '';
  #firstCall = '';

  add(arrived: ArrivedMessage): void {
    const { rejection } = arrived.message;
    if (rejection?.code !== 'invalid') return;
    this.#rejectedMessages += 1;
    this.#firstMessage ||= `${placeOfMessage(arrived)}: ${rejection.message}`;
  }

  /** Counts a call that is rejected as a whole. The call has no messages, so no other check can report it. */
  addCall(request: number, { message }: { readonly message: string }): void {
    this.#rejectedCalls += 1;
    this.#firstCall ||= `the body of request ${request}: ${message}`;
  }

  results({ requests, messages }: ArrivedCount): readonly ExpectationResult[] {
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

/**
 * Collects messages that a check could not judge because a regular expression took too long. Has no result if there are
 * none.
 */
export class UndecidedMessages {
  #count = 0;
  #first = '';
  #broken: InputError | undefined;

  judge(arrived: ArrivedMessage, checks: readonly MessageCheck[]): void {
    try {
      lookAtAll(checks, (check) => check.add(arrived));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      // An error that names a file is about a schema in that file, not about this message.
      if (error.file !== undefined) {
        this.#broken ??= error;
        return;
      }
      this.#count += 1;
      this.#first ||= `${placeOfMessage(arrived)}: ${error.message}`;
    }
  }

  /** Throws InputError if a message has shown that a schema is broken. */
  results(came: ArrivedCount): readonly ExpectationResult[] {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#count === 0) return [];
    const said = `${this.#count} of ${cameText(came)} cannot be judged: ${this.#first}`;
    return [{ expectation: 'decided', isMet: false, said }];
  }
}

/** Calls `look` for each item, even if a call throws; then throws the first error. */
export function lookAtAll<T>(items: readonly T[], look: (item: T) => void): void {
  const errors: unknown[] = [];
  for (const item of items) {
    try {
      look(item);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
