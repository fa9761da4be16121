export type StepResult = 'held' | 'broken' | 'sender-bottleneck';

/** Runs a load of one rate. A confirmation repeats the highest rate for a longer time, because a receiver can let a burst pass. */
export type SearchStep = (rate: number, isConfirmation: boolean) => Promise<StepResult | undefined>;

export interface FoundRate {
  /** The highest rate that held and was confirmed: the result. 0 if no rate held, null if the search ended before. */
  readonly rate: number | null;
  /** The highest rate that has held, confirmed or not. 0 if none did. */
  readonly reached: number;
  /** Whether the search ended because the sender could not send faster. */
  readonly isSenderLimited: boolean;
}

const FIRST_RATE = 50;
const MAX_RATE = 1_000_000;
/** Difference between the highest rate that holds and the lowest that does not, at which the search ends. */
const PRECISION = 0.025;
const MIN_DIFFERENCE = 0.5;
/** Times to try a step for which the sender is the bottleneck: a moment of another program's load should not end the search. */
const MAX_INVALID = 3;

/**
 * Searches the highest rate that holds: doubles it until it breaks, then halves the difference, and confirms the rate that is
 * left. Ends early if a step has no result.
 */
export async function searchHighest(step: SearchStep): Promise<FoundRate> {
  let [held, broken, invalid]: [readonly number[], number, number] = [[], Infinity, 0];
  for (;;) {
    const low = held.at(-1) ?? 0;
    const isConfirmation = broken - low <= Math.max(MIN_DIFFERENCE, PRECISION * broken) && broken < Infinity;
    const found = { rate: low, reached: low, isSenderLimited: false };
    const unfinished = { rate: null, reached: low, isSenderLimited: invalid > 0 };
    if (low >= MAX_RATE || (isConfirmation && low === 0)) return found;
    const raised =
      broken === Infinity ? Math.min(MAX_RATE, low * 2 || FIRST_RATE) : rounded((low + broken) / 2);
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

/** Rounds a rate to tenths below 100, and to whole messages per second above. */
function rounded(rate: number): number {
  return rate < 100 ? Math.round(rate * 10) / 10 : Math.round(rate);
}
