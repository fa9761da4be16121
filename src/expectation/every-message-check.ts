import { failing, foundBy } from '../message/filter.ts';
import { isJsonObject, type JsonValue } from '../message/types.ts';
import { wholeMessage } from '../receiver/messages/tracking-call.ts';
import {
  cameText,
  differingMessage,
  metDifference,
  unmetDifference,
  type ArrivedCount,
  type ArrivedMessage,
  type DifferingMessage,
  type ExpectationResult,
  type MessageCheck,
  type MessageDifference,
} from './expectation-result.ts';
import type { ExpectedMessage } from './expected-message.ts';

/**
 * Expects that every message matches (`each`), or that no message does (`no-match`). Keeps only the number of messages that
 * violate this, and the first of them.
 */
export class EveryMessageCheck implements MessageCheck {
  readonly #expectation: 'each' | 'no-match';
  readonly #expected: ExpectedMessage;
  #first: DifferingMessage | undefined;
  #count = 0;
  /** First keys of the nested paths in the conditions that no message has had so far. They may be misspelled. */
  readonly #unseen: Set<string>;

  constructor(expectation: 'each' | 'no-match', expected: ExpectedMessage) {
    this.#expectation = expectation;
    this.#expected = expected;
    const paths = expected.conditions
      .map(({ path }) => path.split('.'))
      .filter(([first]) => first?.[0] !== '*');
    this.#unseen = new Set(paths.flatMap(([first = '', ...rest]) => (rest.length === 0 ? [] : [first])));
  }

  add(arrived: ArrivedMessage): void {
    this.#note(arrived.message.value);
    const differences = this.#differences(wholeMessage(arrived.message));
    if (differences.length === 0) return;
    this.#count += 1;
    this.#first ??= differingMessage(arrived, differences);
  }

  #note(value: JsonValue): void {
    if (this.#unseen.size === 0 || !isJsonObject(value)) return;
    // A key `plan.name` counts as `plan`, because keys can contain dots.
    for (const key of Object.keys(value)) this.#unseen.delete(key.split('.', 1)[0] ?? '');
  }

  #differences(value: JsonValue): readonly MessageDifference[] {
    const { conditions } = this.#expected;
    const unmet = failing(conditions, value);
    if (this.#expectation === 'each') return unmet.map(unmetDifference);
    if (unmet.length > 0) return [];
    const found = foundBy(conditions, value);
    return found.map((each) => metDifference(each, found.length));
  }

  results(came: ArrivedCount): readonly ExpectationResult[] {
    const isEach = this.#expectation === 'each';
    const about = { expectation: this.#expectation, filter: this.#expected.text };
    const first = this.#first;
    if (first === undefined) {
      if (isEach || came.messages === 0) return [{ ...about, isMet: true, said: cameText(came) }];
      const [unseen] = this.#unseen;
      const note = unseen === undefined ? '' : `; note that no message has \`${unseen}\``;
      return [{ ...about, isMet: true, said: `none of ${cameText(came)} matches${note}` }];
    }
    const one = isEach ? 'does not match' : 'matches';
    const several = isEach ? 'do not match' : 'match';
    const said = `${this.#count} of ${cameText(came)} ${this.#count === 1 ? one : several}`;
    return [{ ...about, isMet: false, said, ...(isEach ? { nearest: first } : { differing: [first] }) }];
  }
}
