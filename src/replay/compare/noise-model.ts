import type { ResponseParts } from './compared-response.ts';
import { itemText, pairItems } from './pair-items.ts';
import {
  formatOf,
  isGenerated,
  maskedText,
  valueText,
  type ExchangeContext,
  type ResponseValue,
} from './value-format.ts';
import { sketchDifferences, ValueSketch, type ComparedEntry, type SketchDifference } from './value-sketch.ts';
import { visitPairs } from './visit-pairs.ts';

/** Context in which values are compared, with the message to which the receivers responded. */
export interface ComparedContext extends ExchangeContext {
  readonly entry: ComparedEntry;
}

/** A difference at a noisy path that noise does not explain, such as values in another format. */
export interface NoiseDifference extends SketchDifference {
  readonly what: 'header' | 'body';
  readonly path: string;
}

/** Statistics about the values at one path of the responses. They decide whether the values are noise. */
interface PathHistory {
  /** Number of pairs of values from two responses of the old receiver to the same message. */
  pairs: number;
  /** Number of pairs in which the two values differ. */
  differing: number;
  /** The values of the old and the new receiver that `accepts` has compared. */
  readonly old: ValueSketch;
  readonly new: ValueSketch;
  /** The values in the old receiver's second responses to the same messages. */
  readonly again: ValueSketch;
}

/** Minimum number of pairs from which to conclude that values differ because the second request is a duplicate. */
const MIN_REPEATED = 4;
const MAX_PATHS = 5_000;
const MAX_SHOWN = 200;

/** Learns from repeated requests which values of a response are noise: they differ although the request is the same. */
export class NoiseModel {
  readonly #histories = new Map<string, PathHistory>();
  readonly #unordered = new Set<string>();
  readonly #dictionaries = new Set<string>();
  /** Paths at which a difference was accepted because both values look generated, such as two UUIDs. */
  readonly #generated = new Set<string>();

  /** Learns from two responses of the old receiver to the same message. */
  learn(first: ResponseParts, second: ResponseParts, context: ComparedContext): void {
    // Ignores pairs with different statuses, because a receiver may respond to a duplicate with 409.
    if (first.status !== second.status) return;
    for (const name of new Set([...first.headers.keys(), ...second.headers.keys()])) {
      this.#add(headerPath(name), first.headers.get(name), second.headers.get(name), context);
    }
    if (first.bodyKind !== second.bodyKind) return;
    visitPairs(bodyPath(first), [first.body, second.body], {
      skips: () => false,
      hasGeneratedNames: (path, onlyFirst, onlySecond) => {
        const isNew = onlyFirst > 0 && onlyFirst === onlySecond && path !== '$' && path !== 'text';
        if (isNew && this.#dictionaries.size < MAX_SHOWN) this.#dictionaries.add(path);
        return this.#dictionaries.has(path);
      },
      leaf: (path, one, other) => this.#add(path, one, other, context),
      items: (path, ones, others) => {
        this.#add(`${path}.length`, ones.length, others.length, context);
        const pairing = pairItems(ones, others, (item) =>
          itemText(`${path}[*]`, item, (at, leaf) => this.standIn(at, leaf, context)),
        );
        if (pairing.isReordered) this.#unordered.add(path);
        return pairing.pairs;
      },
    });
  }

  /** Adds the values of two receivers to the history of the path. Returns whether they are equal or differ only by noise. */
  accepts(path: string, one: ResponseValue, other: ResponseValue, context: ComparedContext): boolean {
    const history = this.#historyAt(path);
    const example = { old: valueText(one), new: valueText(other), first: context.entry, now: context.now };
    history?.old.add(one, example);
    history?.new.add(other, example);
    if (one === other || this.isNoisy(path)) return true;
    if (!isGenerated(one, other, context)) return false;
    if (this.#generated.size < MAX_SHOWN) this.#generated.add(path);
    return true;
  }

  /** Whether the keys of the object at a path are generated for each response. */
  hasGeneratedNames(path: string): boolean {
    return this.#dictionaries.has(path);
  }

  /** Whether a path contains a generated key. Such a path was added before the key was known to be generated. */
  #isGeneratedName(path: string): boolean {
    return [...this.#dictionaries].some((each) => {
      const rest = path.startsWith(each) ? path.slice(each.length) : undefined;
      return rest !== undefined && /^(?:$|[.[](?!\*))/.test(rest);
    });
  }

  isUnordered(path: string): boolean {
    return this.#unordered.has(path);
  }

  /**
   * Whether the values at a path are noise: they differ between two responses of the old receiver to the same message,
   * and not only because the second request is a duplicate. Also true for a path that contains a generated key.
   */
  isNoisy(path: string): boolean {
    const history = this.#histories.get(path);
    if (history === undefined) return this.#isGeneratedName(path);
    return (history.differing > 0 && !isRepeatEffect(history)) || this.#isGeneratedName(path);
  }

  /** Returns the differences at noisy paths that noise does not explain, such as text in place of a number. */
  differences(): readonly NoiseDifference[] {
    return this.#noisyPaths().flatMap((noisePath) => {
      const history = this.#histories.get(noisePath);
      if (history === undefined) return [];
      const again = isOnlyOfDuplicates(history) ? undefined : history.again;
      const isHeader = noisePath.startsWith(HEADER);
      const what = isHeader ? 'header' : 'body';
      const path = isHeader ? noisePath.slice(HEADER.length) : noisePath;
      return sketchDifferences(history.old, history.new, again).map((found) => ({ what, path, ...found }));
    });
  }

  /**
   * Returns a text that stands for a value when array items are compared. Values that differ only by noise have equal
   * texts.
   */
  readonly standIn = (path: string, value: ResponseValue, context: ExchangeContext): string =>
    this.isNoisy(path) ? `<${formatOf(value)}>` : maskedText(value, context);

  /** Returns the paths that are noise, and `order of PATH` for each array whose order is noise. Sorted. */
  paths(): readonly string[] {
    return [...this.#noisyPaths(), ...Array.from(this.#unordered, (path) => `order of ${path}`)].toSorted();
  }

  #noisyPaths(): readonly string[] {
    const learned = [...this.#histories.keys()].filter((path) => this.isNoisy(path));
    return [...new Set([...learned, ...this.#generated])];
  }

  #add(path: string, one: ResponseValue, other: ResponseValue, context: ComparedContext): void {
    const history = this.#historyAt(path);
    if (history === undefined) return;
    history.pairs++;
    const texts = { old: valueText(one, Infinity), new: valueText(other, Infinity) };
    if (texts.old !== texts.new) history.differing++;
    history.again.add(other, { old: '', new: '', first: context.entry, now: context.now });
  }

  #historyAt(path: string): PathHistory | undefined {
    let history = this.#histories.get(path);
    if (history === undefined && this.#histories.size < MAX_PATHS) {
      const sketches = { old: new ValueSketch(), new: new ValueSketch(), again: new ValueSketch() };
      history = { pairs: 0, differing: 0, ...sketches };
      this.#histories.set(path, history);
    }
    return history;
  }
}

const HEADER = 'header ';

export function headerPath(name: string): string {
  return `${HEADER}${name}`;
}

export function bodyPath({ bodyKind }: ResponseParts): string {
  return bodyKind === 'JSON' ? '$' : 'text';
}

/**
 * Whether the values differ only because the second request is a duplicate: for example, all first responses have
 * `created`, and no second response has it. False if the first values look generated (shape `#` or `evt_#`).
 */
function isRepeatEffect(history: PathHistory): boolean {
  const [shape = '', further] = history.old.textsOf('shape').keys();
  return isSeparate(history) && further === undefined && !/^\w*#$/.test(shape);
}

/** Whether all responses to duplicates have values of one shape (see `shapeOf`), which no first response has. */
function isOnlyOfDuplicates(history: PathHistory): boolean {
  return isSeparate(history) && history.again.textsOf('shape').size === 1;
}

function isSeparate({ pairs, old, again }: PathHistory): boolean {
  const shapes = again.textsOf('shape');
  return pairs >= MIN_REPEATED && ![...old.textsOf('shape').keys()].some((shape) => shapes.has(shape));
}
