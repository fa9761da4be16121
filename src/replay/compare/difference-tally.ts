import { OTHER_ORDER, type ResponseDifference } from './compare-responses.ts';
import { headerPath, type NoiseModel } from './noise-model.ts';
import type { ComparedEntry } from './value-sketch.ts';

/** A kind of difference, with its first occurrence as an example. */
export interface DifferenceKind {
  /** The difference at the first message that has one of this kind. */
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
  /** Number of messages with a difference that is not counted, because there are already MAX_KINDS kinds. */
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

  /** Returns the kinds of differences. At noisy paths, returns only differences in kind, such as a text for a number. */
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
