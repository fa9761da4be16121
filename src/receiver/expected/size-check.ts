import { formatCount, MAX_MESSAGE_BYTES } from '../../message/limits.ts';
import {
  cameText,
  differingMessage,
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
    const { rejection, value } = arrived.message;
    if (rejection?.code !== 'too-large') return;
    this.#count += 1;
    const bytes = Buffer.byteLength(JSON.stringify(value));
    this.#first ??= differingMessage(arrived, [
      {
        path: 'size',
        expected: `at most ${formatCount(MAX_MESSAGE_BYTES)} bytes`,
        wanted: { atMost: MAX_MESSAGE_BYTES },
        got: `${formatCount(bytes)} bytes`,
        found: bytes,
      },
    ]);
  }

  findings(came: ArrivedCount): readonly ExpectationResult[] {
    if (this.#first === undefined) return [];
    const said = `${this.#count} of ${cameText(came)} over 32 KB, which a tracking API drops`;
    return [{ expectation: 'size', isMet: false, said, differing: [this.#first] }];
  }
}
