import type { Origin } from '../reading/replay-entry.ts';
import { formatOf, idPrefix, valueTimeOf, valueText, type ResponseValue } from './value-format.ts';

/** A compared message, as reports identify it. */
export interface ComparedEntry {
  /** Number of the message among all entries of the inputs, from 1. */
  readonly index: number;
  readonly origin: Origin;
  /** The type of the message, and its name if it has one, such as `track "Order Completed"`. */
  readonly title: string;
}

/** Number of values that have a trait, such as the format `uuid`, and an example from the first message with such a value. */
export interface TraitMessages {
  /** Number of values with the trait. Each item of a list counts separately. */
  messages: number;
  readonly first: ComparedEntry;
  /** The values of both receivers in that message, as text. */
  readonly old: string;
  readonly new: string;
}

/**
 * The origin of a value: its message, when the response came, and the values of both receivers, to show as an example
 * if they differ.
 */
export interface SketchedValue extends Omit<TraitMessages, 'messages'> {
  /** When the response came, in milliseconds since the epoch. */
  readonly now: number;
}

/** A difference between the values of two receivers at a noisy path, such as `text` in place of `number`. */
export interface SketchDifference extends TraitMessages {
  readonly from: string;
  readonly to: string;
}

/** Properties by which the values of two receivers are compared, in this order. */
const TRAITS = ['format', 'number', 'time', 'shape', 'length'] as const;
type Trait = (typeof TRAITS)[number];

/** Maximum number of distinct values to keep, and of distinct texts of each trait. */
const MAX_KEPT = 30;
const MIN_VALUES = 10;
/** Minimum number of values with a trait that no value of the other receiver has, to rule out chance. */
const MIN_MESSAGES = 5;
/**
 * If none of a receiver's values has a trait, this counts as a difference only if at least this many values were expected
 * to have it. If 10 are expected, the probability of none is about 1 in 20,000.
 */
const MIN_EXPECTED = 10;
const CURRENT_MS = 10 * 60 * 1_000;

/** A summary of the values of one receiver at one path. Its size does not grow with the number of values. */
export class ValueSketch {
  count = 0;
  readonly values = new Set<string>();
  readonly traits = new Map<Trait, Map<string, TraitMessages>>();
  #sum = 0;
  #above = 0;
  #below = 0;
  #numbers = 0;
  min = Infinity;
  max = -Infinity;

  add(value: ResponseValue, sketched: SketchedValue): void {
    this.count++;
    if (this.values.size < MAX_KEPT) this.values.add(valueText(value));
    for (const [trait, text] of traitsOf(value, sketched.now)) this.#addTrait(trait, text, sketched);
    if (typeof value !== 'number') return;
    const mean = this.#sum / this.#numbers++;
    if (value > mean) this.#above++;
    if (value < mean) this.#below++;
    this.#sum += value;
    this.min = Math.min(this.min, value);
    this.max = Math.max(this.max, value);
  }

  textsOf(trait: Trait): ReadonlyMap<string, TraitMessages> {
    return this.traits.get(trait) ?? NONE;
  }

  /** Whether the values are few and recur, like the constants of an enum. */
  get isChoice(): boolean {
    return this.count >= MIN_VALUES && this.values.size < MAX_KEPT && this.values.size * 3 <= this.count;
  }

  /** Whether most numbers are above the mean of the earlier ones, or most are below it, as with a counter or a clock. */
  get isCounter(): boolean {
    return this.#numbers >= MIN_VALUES && Math.max(this.#above, this.#below) >= 0.85 * (this.#numbers - 1);
  }

  #addTrait(trait: Trait, text: string, { first, old, new: new_ }: SketchedValue): void {
    let texts = this.traits.get(trait);
    if (texts === undefined) this.traits.set(trait, (texts = new Map<string, TraitMessages>()));
    const known = texts.get(text);
    if (known !== undefined) known.messages++;
    else if (texts.size < MAX_KEPT) texts.set(text, { messages: 1, first, old, new: new_ });
  }
}

const NONE: ReadonlyMap<string, TraitMessages> = new Map();

function traitsOf(value: ResponseValue, now: number): readonly (readonly [Trait, string])[] {
  const traits: (readonly [Trait, string])[] = [
    ['format', formatOf(value)],
    ['shape', shapeOf(value)],
  ];
  const at = valueTimeOf(value, now);
  if (typeof value === 'number') {
    const kind = `${value < 0 ? 'negative ' : ''}${Number.isInteger(value) ? 'whole number' : 'fraction'}`;
    traits.push(['number', at === undefined ? kind : `time of ${String(value).length} digits`]);
  } else if (at !== undefined) {
    traits.push(['time', Math.abs(at - now) < CURRENT_MS ? 'current time' : 'other time']);
  }
  if (typeof value !== 'string') return traits;
  // Ignores the length if no letter follows a digit, because the digits may be a counter, which gets longer:
  // `order-99`, `order-100`.
  if (/\d[a-z]/i.test(value) || !/\d/.test(value)) traits.push(['length', `${value.length} characters`]);
  return traits;
}

/**
 * Returns the shape of a value: its text with `#` in place of numbers and random words, after their prefix (`evt_#`). Most
 * random ids have equal shapes, but `created` and `failed` do not.
 */
function shapeOf(value: ResponseValue): string {
  if (typeof value === 'number') return '#';
  if (typeof value !== 'string') return valueText(value, 40);
  const words = value.slice(0, 200).replaceAll(/\w+/g, wordShape);
  return words.replaceAll(/#(?:[-.]#)+/g, '#');
}

function wordShape(word: string): string {
  const isMixed = word.length >= 8 && (word.match(/[a-z](?=[A-Z])|[A-Z](?=[A-Z])/g)?.length ?? 0) > 2;
  const isRandom = isMixed || /\d/.test(word) || /^[\da-f]{4,}$/i.test(word);
  return isRandom ? `${idPrefix(word)}#` : word;
}

/**
 * Returns the differences between the values of two receivers that chance does not explain. Stops at the first trait
 * with a difference. Values that occur in `again`, which are also from the old receiver, do not count as new.
 */
export function sketchDifferences(
  old: ValueSketch,
  new_: ValueSketch,
  again: ValueSketch | undefined,
): readonly SketchDifference[] {
  const [example] = new_.textsOf('format').values();
  if (example === undefined) return [];
  const unseen = TRAITS.map((trait) => () => unseenTexts(trait, old, new_, again));
  const lost = TRAITS.map((trait) => () => lostTexts(trait, old, new_));
  const whole = (): readonly SketchDifference[] =>
    wholeKinds(old, new_).map((kinds) => ({ ...example, ...kinds, messages: new_.count }));
  for (const find of [...unseen, ...lost, whole]) {
    const found = find();
    if (found.length > 0) return found;
  }
  return [];
}

/** Returns a difference for each text of `trait` that only the new values have, except texts that may be due to chance. */
function unseenTexts(
  trait: Trait,
  old: ValueSketch,
  new_: ValueSketch,
  again: ValueSketch | undefined,
): readonly SketchDifference[] {
  const known = old.textsOf(trait);
  if (known.size === 0 || (trait !== 'format' && known.size >= MAX_KEPT)) return [];
  const single = [...known.values()].filter(({ messages }) => messages === 1).length;
  const isCertain = trait === 'format' || (trait === 'shape' && old.isChoice && single === 0);
  const usual = usualText(known);
  return [...new_.textsOf(trait)]
    .filter(([text]) => !known.has(text) && again?.textsOf(trait).has(text) !== true)
    .filter(([, { messages }]) => isCertain || isUnlikely(messages, new_.count, old.count / (1 + single)))
    .map(([text, seen]) => ({
      ...seen,
      ...(trait === 'shape' ? { from: 'its usual values', to: seen.new } : { from: usual, to: text }),
    }));
}

/** Returns a difference if the old values often have a text of `trait` that the new values never have. */
function lostTexts(trait: Trait, old: ValueSketch, new_: ValueSketch): readonly SketchDifference[] {
  const left = new_.textsOf(trait);
  const [example] = left.values();
  if (example === undefined || left.size >= MAX_KEPT || old.textsOf(trait).size >= MAX_KEPT) return [];
  const lost = [...old.textsOf(trait)].find(
    ([text, { messages }]) => !left.has(text) && isUnlikely(messages, old.count, new_.count),
  );
  if (lost === undefined) return [];
  const kinds = { from: trait === 'shape' ? 'its usual values' : lost[0], to: usualText(left) };
  return [{ ...example, ...kinds, messages: new_.count }];
}

/**
 * Whether chance is an unlikely reason why `messages` of `count` values have a trait, but none of `otherCount` values
 * of the other receiver.
 */
function isUnlikely(messages: number, count: number, otherCount: number): boolean {
  return messages >= MIN_MESSAGES && (messages / count) * otherCount >= MIN_EXPECTED;
}

function usualText(texts: ReadonlyMap<string, TraitMessages>): string {
  return [...texts].toSorted(([, one], [, other]) => other.messages - one.messages)[0]?.[0] ?? '';
}

/** Returns a difference if only the old values vary, or if all new numbers are far outside the range of the old ones. */
function wholeKinds(old: ValueSketch, new_: ValueSketch): readonly { from: string; to: string }[] {
  if (Math.min(old.count, new_.count) < MIN_VALUES) return [];
  if (new_.values.size === 1 && old.values.size >= 5) return [{ from: 'changing values', to: 'one value' }];
  const span = 2 * (old.max - old.min);
  const isOutside = new_.min > old.max + span || new_.max < old.min - span;
  if (old.isCounter || !isOutside || !Number.isFinite(span) || !Number.isFinite(new_.min)) return [];
  return [{ from: `${old.min} to ${old.max}`, to: `${new_.min} to ${new_.max}` }];
}
