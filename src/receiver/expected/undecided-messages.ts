import { InputError } from '../../errors.ts';
import {
  cameText,
  placeOfMessage,
  type ArrivedCount,
  type ArrivedMessage,
  type ExpectationResult,
  type MessageCheck,
} from './finding.ts';

/** Messages that a check could not judge, since a regular expression took too long on them. Says nothing when there is none. */
export class UndecidedMessages {
  #count = 0;
  #first = '';

  judge(arrived: ArrivedMessage, checks: readonly MessageCheck[]): void {
    try {
      lookAtAll(checks, (check) => check.add(arrived));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.#count += 1;
      this.#first ||= `${placeOfMessage(arrived)}: ${error.message}`;
    }
  }

  findings(came: ArrivedCount): readonly ExpectationResult[] {
    if (this.#count === 0) return [];
    const said = `${this.#count} of ${cameText(came)} cannot be judged: ${this.#first}`;
    return [{ expectation: 'decided', isMet: false, said }];
  }
}

/** Looks at each item, whatever happens at another; then throws the first error. */
export function lookAtAll<T>(items: readonly T[], look: (item: T, index: number) => void): void {
  const errors: unknown[] = [];
  items.forEach((item, index) => {
    try {
      look(item, index);
    } catch (error) {
      errors.push(error);
    }
  });
  if (errors.length > 0) throw errors[0];
}
