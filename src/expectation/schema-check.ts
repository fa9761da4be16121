import type { ReceivedMessage } from '../receiver/messages/tracking-call.ts';
import {
  cameText,
  differingMessage,
  type ArrivedCount,
  type ArrivedMessage,
  type DifferingMessage,
  type ExpectationResult,
  type MessageCheck,
  type MessageDifference,
} from './expectation-result.ts';

/** Maximum number of messages to show. */
const MAX_SHOWN = 10;

/** Returns the differences of a message from its schema or its rule in a tracking plan; none if it matches. */
export type Differences = (message: ReceivedMessage) => readonly MessageDifference[];

/** Expects that every message matches the schema of its event or type. */
export class SchemaCheck implements MessageCheck {
  readonly #differences: Differences;
  readonly #about: Pick<ExpectationResult, 'expectation' | 'filter'>;
  readonly #differing: DifferingMessage[] = [];
  #count = 0;

  constructor(differences: Differences, about: Pick<ExpectationResult, 'expectation' | 'filter'>) {
    this.#differences = differences;
    this.#about = about;
  }

  add(arrived: ArrivedMessage): void {
    const differences = this.#differences(arrived.message);
    if (differences.length === 0) return;
    this.#count += 1;
    if (this.#differing.length < MAX_SHOWN) this.#differing.push(differingMessage(arrived, differences));
  }

  results(came: ArrivedCount): readonly ExpectationResult[] {
    const about = this.#about;
    if (this.#count === 0) return [{ ...about, isMet: true, said: cameText(came) }];
    const said = `${this.#count} of ${cameText(came)} ${this.#count === 1 ? 'does' : 'do'} not match`;
    return [{ ...about, isMet: false, said, differing: this.#differing }];
  }
}
