import type { ResponseDifference } from './compare-responses.ts';
import { headerPath, type NoiseModel } from './noise-model.ts';
import type { Origin } from '../reading/replay-entry.ts';

/** The message at which a difference was found. */
export interface ComparedEntry {
  /** Index of the message in all inputs, from 0. */
  readonly index: number;
  readonly origin: Origin;
  /** The type and the name of the message: `track "Order Completed"`. */
  readonly title: string;
}

/** All differences of one kind. */
export interface DifferenceKind {
  /** The difference of the first message. */
  readonly example: ResponseDifference;
  readonly first: ComparedEntry;
  /** Number of messages with a difference of this kind. */
  readonly messages: number;
}

/** Number of kinds to keep, each with one example, so that memory does not grow with the messages. */
const MAX_KINDS = 200;
const ORDER = ['status', 'connection', 'header', 'body'] as const;

/** Counts differences by kind. */
export class DifferenceTally {
  readonly #kinds = new Map<string, DifferenceKind>();
  /** Number of messages with a difference whose kind is not kept. */
  furtherMessages = 0;

  add(differences: readonly ResponseDifference[], message: ComparedEntry): void {
    const byKey = new Map(differences.map((difference) => [keyOf(difference), difference] as const));
    for (const [key, difference] of byKey) {
      const known = this.#kinds.get(key);
      if (known === undefined && this.#kinds.size >= MAX_KINDS) this.furtherMessages++;
      else {
        const messages = (known?.messages ?? 0) + 1;
        const isFirst = known === undefined || message.index < known.first.index;
        this.#kinds.set(
          key,
          isFirst ? { example: difference, first: message, messages } : { ...known, messages },
        );
      }
    }
  }

  /** The kinds of differences, without values of noisy fields that the old receiver showed later. */
  kinds(noise: NoiseModel): readonly DifferenceKind[] {
    const kinds = [...this.#kinds.values()].filter(({ example: { what, path, unexpected } }) => {
      const noisePath = what === 'header' ? headerPath(path) : path;
      return unexpected === undefined || !noise.expectsNow(noisePath, unexpected);
    });
    return kinds.toSorted((one, other) => rankOf(one) - rankOf(other) || one.first.index - other.first.index);
  }
}

function keyOf({ what, path, from, to }: ResponseDifference): string {
  return JSON.stringify([what, path, from, to]);
}

function rankOf({ example: { what } }: DifferenceKind): number {
  return ORDER.indexOf(what);
}
