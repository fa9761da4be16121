import { failing, foundBy } from '../../message/filter.ts';
import type { JsonValue } from '../../message/types.ts';
import {
  cameText,
  differingMessage,
  metDifference,
  oneOfMetDifferences,
  unmetDifference,
  type ArrivedCount,
  type ArrivedMessage,
  type DifferingMessage,
  type ExpectationResult,
  type MessageCheck,
  type MessageDifference,
} from './finding.ts';
import type { ExpectedMessage } from './expected-message.ts';

/** Every message matches (`each`), or none does (`no-match`). Counts the messages that break this, and keeps the first of them. */
export class EveryMessageCheck implements MessageCheck {
  readonly #expectation: 'each' | 'no-match';
  readonly #expected: ExpectedMessage;
  #first: DifferingMessage | undefined;
  #count = 0;
  readonly isWaiting = false;

  constructor(expectation: 'each' | 'no-match', expected: ExpectedMessage) {
    this.#expectation = expectation;
    this.#expected = expected;
  }

  add(arrived: ArrivedMessage): void {
    const differences = this.#differences(arrived.message.value);
    if (differences.length === 0) return;
    this.#count += 1;
    this.#first ??= differingMessage(arrived, differences);
  }

  #differences(value: JsonValue): readonly MessageDifference[] {
    const { conditions } = this.#expected;
    const unmet = failing(conditions, value);
    if (this.#expectation === 'each') return unmet.map(unmetDifference);
    if (unmet.length > 0) return [];
    const found = foundBy(conditions, value);
    return found.map((each) => (found.length === 1 ? metDifference(each) : oneOfMetDifferences(each)));
  }

  findings(came: ArrivedCount): readonly ExpectationResult[] {
    const isEach = this.#expectation === 'each';
    const about = { expectation: this.#expectation, filter: this.#expected.text };
    const first = this.#first;
    if (first === undefined) {
      const isPlain = isEach || came.messages === 0;
      return [
        { ...about, isMet: true, said: isPlain ? cameText(came) : `none of ${cameText(came)} matches` },
      ];
    }
    const one = isEach ? 'does not match' : 'matches';
    const several = isEach ? 'do not match' : 'match';
    const said = `${this.#count} of ${cameText(came)} ${this.#count === 1 ? one : several}`;
    return [{ ...about, isMet: false, said, ...(isEach ? { nearest: first } : { differing: [first] }) }];
  }
}
