export type StepResult = 'held' | 'broken' | 'sender-bottleneck';

/**
 * Runs a load at one rate. A confirmation runs longer, because a receiver may keep up with a rate only for a short time.
 * Resolves to undefined to end the search.
 */
export type SearchStep = (rate: number, isConfirmation: boolean) => Promise<StepResult | undefined>;

export interface FoundRate {
  /**
   * The result: the highest rate that held and was confirmed. MAX_RATE needs no confirmation. 0 if no rate held. Null if the
   * search ended early.
   */
  readonly rate: number | null;
  /** The highest rate that held and did not break in a later step, confirmed or not. 0 if there is none. */
  readonly reached: number;
  /** Whether the search ended early while the sender could not keep up with the rate. */
  readonly isSenderLimited: boolean;
}

const FIRST_RATE = 50;
const MAX_RATE = 1_000_000;
/** Relative difference between the highest rate that held and the lowest that did not, at which bisecting ends. */
const PRECISION = 0.025;
const MIN_DIFFERENCE = 0.5;
/**
 * Number of consecutive runs in which the sender cannot keep up, after which the search ends. A single run does not suffice,
 * because another program may have slowed the sender.
 */
const MAX_INVALID = 3;

/**
 * Finds the highest rate at which the objectives hold: doubles the rate until an objective breaks, then bisects, and
 * confirms the highest rate that held. Ends early if a step has no result, or if the sender cannot keep up. `least`: the
 * rate to start at, below which no rate can hold; 0 if there is none.
 */
export async function searchHighest(step: SearchStep, least: number): Promise<FoundRate> {
  let [held, broken, invalid]: [readonly number[], number, number] = [[], Infinity, 0];
  for (;;) {
    const low = held.at(-1) ?? 0;
    const isNear = broken - low <= Math.max(MIN_DIFFERENCE, PRECISION * broken) && broken < Infinity;
    const isConfirmation = isNear || broken <= least;
    const found = { rate: low, reached: low, isSenderLimited: false };
    const unfinished = { rate: null, reached: low, isSenderLimited: invalid > 0 };
    if (low >= MAX_RATE || (isConfirmation && low === 0)) return found;
    const raised =
      broken === Infinity ? Math.min(MAX_RATE, low * 2 || least || FIRST_RATE) : rounded((low + broken) / 2);
    const rate = isConfirmation ? low : raised;
    const result = await step(rate, isConfirmation);
    if (result === undefined) return unfinished;
    if (result === 'sender-bottleneck') {
      if (++invalid === MAX_INVALID) return { ...unfinished, isSenderLimited: true };
      continue;
    }
    invalid = 0;
    if (result === 'broken') [held, broken] = [held.filter((each) => each < rate), rate];
    else if (isConfirmation) return found;
    else held = [...held, rate];
  }
}

/** Rounds a rate below 100 to tenths, and a higher one to whole messages per second. */
function rounded(rate: number): number {
  return rate < 100 ? Math.round(rate * 10) / 10 : Math.round(rate);
}
