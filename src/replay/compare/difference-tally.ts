import { OTHER_ORDER, type ResponseDifference } from './compare-responses.ts';
import { headerPath, type NoiseModel } from './noise-model.ts';
import type { ComparedEntry } from './value-sketch.ts';

/** A kind of difference, with an example. */
export interface DifferenceKind {
  /** The difference in the first message that has a difference of this kind. */
  readonly example: ResponseDifference;
  /** The first message that has a difference of this kind. */
  readonly first: ComparedEntry;
  /** Number of messages with a difference of this kind. At noisy paths, each item of a list counts separately. */
  readonly messages: number;
}

/** Maximum number of kinds to keep, so that memory does not grow with the number of messages. */
const MAX_KINDS = 200;
const ORDER = ['status', 'connection', 'header', 'body'] as const;

/** Counts, for each kind of difference, the messages that have it. */
export class DifferenceTally {
  readonly #kinds = new Map<string, DifferenceKind>();
  /** Number of messages with a difference of a kind beyond MAX_KINDS, which is not kept. */
  furtherMessages = 0;

  /** Adds the differences of a message. Returns the number of messages for each of its kinds in a header or field. */
  add(differences: readonly ResponseDifference[], message: ComparedEntry): readonly number[] {
    const byKey = new Map(differences.map((difference) => [keyOf(difference), difference] as const));
    const counts: number[] = [];
    let isFurther = false;
    for (const [key, difference] of byKey) {
      const known = this.#kinds.get(key);
      if (known === undefined && this.#kinds.size >= MAX_KINDS) isFurther = true;
      else {
        const messages = (known?.messages ?? 0) + 1;
        if (difference.path !== '') counts.push(messages);
        const isFirst = known === undefined || message.index < known.first.index;
        this.#kinds.set(
          key,
          isFirst ? { example: difference, first: message, messages } : { ...known, messages },
        );
      }
    }
    if (isFurther) this.furtherMessages++;
    return counts;
  }

  /** Returns the kinds of differences that noise does not explain, sorted by `what` and then by first message. */
  kinds(noise: NoiseModel): readonly DifferenceKind[] {
    const kinds = [...this.#kinds.values()].filter(({ example: { what, path, to } }) => {
      if (to === OTHER_ORDER) return !noise.isUnordered(path);
      return !noise.isNoisy(what === 'header' ? headerPath(path) : path);
    });
    const paths = new Set(kinds.map(({ example: { path } }) => path));
    const inKind = noise
      .differences()
      .map(({ messages, first, ...example }) => ({ example, first, messages }));
    const all = [...kinds, ...inKind.filter(({ example: { path } }) => !paths.has(path))];
    return all.toSorted((one, other) => rankOf(one) - rankOf(other) || one.first.index - other.first.index);
  }
}

function keyOf({ what, path, from, to }: ResponseDifference): string {
  return JSON.stringify([what, path, from, to]);
}

function rankOf({ example: { what } }: DifferenceKind): number {
  return ORDER.indexOf(what);
}
