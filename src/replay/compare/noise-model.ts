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
import { visitPairs } from './visit-pairs.ts';

/** Values at one path in pairs of responses of one receiver to the same message. */
interface PathHistory {
  pairs: number;
  differing: number;
  /** The shapes of the first and of the second values: at most MAX_SHAPES. */
  readonly firsts: Set<string>;
  readonly seconds: Set<string>;
  /** The formats of the values, and those of the second values. */
  readonly formats: Set<string>;
  readonly secondFormats: Set<string>;
  /** The different values: at most MAX_VALUES. */
  readonly values: Set<string>;
}

const MAX_SHAPES = 50;
const SHAPE_LENGTH = 40;
/** Number of values from which a field counts as random. With fewer, only these values are expected. */
const MAX_VALUES = 5;
/** Number of pairs from which a change that every pair has counts as an effect of the repetition. */
const MIN_REPEATED = 4;
/** Number of values from which a few different ones are all that there are. */
const MIN_CHOSEN = 10;
const MAX_PATHS = 5_000;
const MAX_SHOWN = 200;

/** Learns from repeated requests which values of a response differ although nothing changed. */
export class NoiseModel {
  readonly #histories = new Map<string, PathHistory>();
  readonly #unordered = new Set<string>();
  /** Paths whose generated values were ignored, without having been learned. */
  readonly #generated = new Set<string>();

  /** Learns from two responses of one receiver to the same message. */
  learn(first: ResponseParts, second: ResponseParts, context: ExchangeContext): void {
    // Another status is another kind of response: a receiver may respond to a duplicate with 409.
    if (first.status !== second.status) return;
    for (const name of new Set([...first.headers.keys(), ...second.headers.keys()])) {
      this.#add(headerPath(name), first.headers.get(name), second.headers.get(name));
    }
    if (first.bodyKind !== second.bodyKind) return;
    visitPairs(bodyPath(first), [first.body, second.body], {
      skips: () => false,
      leaf: (path, one, other) => this.#add(path, one, other),
      items: (path, ones, others) => {
        this.#add(`${path}.length`, ones.length, others.length);
        const pairing = pairItems(ones, others, (item) =>
          itemText(`${path}[*]`, item, (at, leaf) => this.standIn(at, leaf, context)),
        );
        if (pairing.isReordered) this.#unordered.add(path);
        return pairing.pairs;
      },
    });
  }

  /**
   * Whether two values of two receivers differ by noise alone. Remembers the old value, because a random field of few values
   * can show a rare one late.
   */
  accepts(path: string, one: ResponseValue, other: ResponseValue, context: ExchangeContext): boolean {
    const history = this.#noiseAt(path);
    if (history !== undefined) {
      remember(history, one);
      return isExpected(history, other);
    }
    if (!isGenerated(one, other, context)) return false;
    if (this.#generated.size < MAX_SHOWN) this.#generated.add(path);
    return true;
  }

  isUnordered(path: string): boolean {
    return this.#unordered.has(path);
  }

  /** `choice`: a noisy field with a few values only, so that any other value is a difference. Undefined without noise. */
  kindAt(path: string): 'choice' | 'random' | undefined {
    const history = this.#noiseAt(path);
    if (history === undefined) return undefined;
    return isChoice(history) ? 'choice' : 'random';
  }

  /** Whether a value of a noisy field turned out to be noise after all, by later values of the old receiver. */
  expectsNow(path: string, value: ResponseValue): boolean {
    const history = this.#noiseAt(path);
    return history !== undefined && isExpected(history, value);
  }

  /** Returns the text of a value by which items of arrays are compared: equal for values that differ by noise. */
  readonly standIn = (path: string, value: ResponseValue, context: ExchangeContext): string =>
    this.#noiseAt(path) === undefined ? maskedText(value, context) : `<${formatOf(value)}>`;

  /** The paths that were ignored, sorted. */
  paths(): readonly string[] {
    const learned = [...this.#histories.keys()].filter((path) => this.#noiseAt(path) !== undefined);
    const unordered = Array.from(this.#unordered, (path) => `order of ${path}`);
    return [...new Set([...learned, ...this.#generated, ...unordered])].toSorted();
  }

  #add(path: string, one: ResponseValue, other: ResponseValue): void {
    let history = this.#histories.get(path);
    if (history === undefined) {
      if (this.#histories.size >= MAX_PATHS) return;
      history = {
        pairs: 0,
        differing: 0,
        firsts: new Set(),
        seconds: new Set(),
        formats: new Set(),
        secondFormats: new Set(),
        values: new Set(),
      };
      this.#histories.set(path, history);
    }
    history.pairs++;
    if (valueText(one, Infinity) !== valueText(other, Infinity)) history.differing++;
    if (history.firsts.size < MAX_SHAPES) history.firsts.add(shapeOf(one));
    if (history.seconds.size < MAX_SHAPES) history.seconds.add(shapeOf(other));
    history.secondFormats.add(formatOf(other));
    remember(history, one);
    if (history.values.size < MAX_VALUES) history.values.add(valueText(other));
  }

  #noiseAt(path: string): PathHistory | undefined {
    const history = this.#histories.get(path);
    return history === undefined || history.differing === 0 || isRepeatEffect(history) ? undefined : history;
  }
}

export function headerPath(name: string): string {
  return `header ${name}`;
}

/** The path of the whole body: `$` for JSON. */
export function bodyPath({ bodyKind }: ResponseParts): string {
  return bodyKind === 'JSON' ? '$' : 'text';
}

function remember({ formats, values }: PathHistory, value: ResponseValue): void {
  formats.add(formatOf(value));
  if (values.size < MAX_VALUES) values.add(valueText(value));
}

/** Whether a field differs only because the second request was a duplicate: `created` first, never second. */
function isRepeatEffect({ pairs, firsts, seconds }: PathHistory): boolean {
  return pairs >= MIN_REPEATED && firsts.size === 1 && areDisjoint(firsts, seconds);
}

/** Whether the response to a duplicate has one value that first responses never have: then only these count. */
function isOnlyOfDuplicates({ pairs, firsts, seconds }: PathHistory): boolean {
  return pairs >= MIN_REPEATED && seconds.size === 1 && areDisjoint(firsts, seconds);
}

function areDisjoint(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return [...one].every((each) => !other.has(each));
}

function isChoice({ pairs, values }: PathHistory): boolean {
  return values.size < MAX_VALUES && 2 * pairs >= MIN_CHOSEN;
}

function isExpected(history: PathHistory, value: ResponseValue): boolean {
  if (isChoice(history)) return history.values.has(valueText(value));
  const { formats, secondFormats } = history;
  const format = formatOf(value);
  return formats.has(format) || (!isOnlyOfDuplicates(history) && secondFormats.has(format));
}

/** The shape of a value: a random text has one shape, but the words `created` and `duplicate` have two. */
function shapeOf(value: ResponseValue): string {
  const text = valueText(value, SHAPE_LENGTH);
  return typeof value === 'string' ? text.replaceAll(/[\da-f]*\d[\da-f]*/gi, '#') : text;
}
