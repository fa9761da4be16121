import { failing, type Condition, type Unmet } from '../message/filter.ts';
import { comparableText } from '../message/compare.ts';
import { wholeMessage } from '../receiver/messages/tracking-call.ts';
import { editDistance } from '../suggest.ts';
import {
  differingMessage,
  unmetDifference,
  type ArrivedMessage,
  type DifferingMessage,
} from './expectation-result.ts';

/**
 * Keeps the message that is closest to meeting the conditions: it misses the fewest conditions, then differs in the fewest
 * letters.
 */
export class NearestMessage {
  readonly #conditions: readonly Condition[];
  #nearest:
    | { readonly arrived: ArrivedMessage; readonly unmet: readonly Unmet[]; readonly letters: number }
    | undefined;

  constructor(conditions: readonly Condition[]) {
    this.#conditions = conditions;
  }

  /** Returns whether the message meets all conditions. If not, keeps the message if it is the nearest so far. */
  takes(arrived: ArrivedMessage): boolean {
    const unmet = failing(this.#conditions, wholeMessage(arrived.message));
    if (unmet.length === 0) return true;
    const best = this.#nearest;
    if (best !== undefined && unmet.length > best.unmet.length) return false;
    const letters = differingLetters(unmet);
    if (best === undefined || unmet.length < best.unmet.length || letters < best.letters) {
      this.#nearest = { arrived, unmet, letters };
    }
    return false;
  }

  get nearest(): DifferingMessage | undefined {
    const { arrived, unmet = [] } = this.#nearest ?? {};
    return arrived && differingMessage(arrived, unmet.map(unmetDifference));
  }
}

/** Maximum number of letters of a value to compare, because the cost is the product of both lengths. */
const LONGEST_COMPARED = 64;

function differingLetters(unmet: readonly Unmet[]): number {
  return unmet.reduce((sum, { operator, value, found }) => {
    const text = found === undefined || found === null ? '' : comparableText(found);
    if (operator !== '=' || text === '') return sum + LONGEST_COMPARED;
    const [one, other] = [value, text].map((each) => each.slice(0, LONGEST_COMPARED).toLowerCase());
    return sum + editDistance(one ?? '', other ?? '');
  }, 0);
}
