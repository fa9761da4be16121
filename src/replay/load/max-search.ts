/** The search for the highest rate at which the objectives hold. Every step is a load with one rate. */
export interface MaxSearch {
  /** The rates that held, from the lowest to the highest. */
  readonly held: readonly number[];
  /** The lowest rate that broke an objective. Undefined while the search still raises the rate. */
  readonly broken: number | undefined;
  /** The next rate to try. Undefined when the search is over. */
  readonly next: SearchStep | undefined;
  /** Number of times that the sender was the bottleneck of the next step. */
  readonly invalid: number;
  /** Whether the search ended because the sender could not send faster. */
  readonly isSenderLimited: boolean;
}

export interface SearchStep {
  readonly rate: number;
  /** Whether the step repeats the highest rate for a longer time, because a receiver can let a burst pass. */
  readonly isConfirmation: boolean;
}

export type StepResult = 'held' | 'broken' | 'invalid';

const FIRST_RATE = 50;
const MAX_RATE = 1_000_000;
/** Difference between the highest rate that holds and the lowest that does not, at which the search ends. */
const PRECISION = 0.025;
const MIN_DIFFERENCE = 0.5;
/** Times to try a step for which the sender is the bottleneck: a moment of another program's load should not end the search. */
const MAX_INVALID = 3;

export const SEARCH_START: MaxSearch = {
  held: [],
  broken: undefined,
  next: { rate: FIRST_RATE, isConfirmation: false },
  invalid: 0,
  isSenderLimited: false,
};

/** Returns the search after the result of its next step. */
export function continueSearch(search: MaxSearch, result: StepResult): MaxSearch {
  const { next, held, broken } = search;
  if (next === undefined) return search;
  if (result === 'invalid') {
    if (search.invalid + 1 < MAX_INVALID) return { ...search, invalid: search.invalid + 1 };
    return { ...search, next: undefined, isSenderLimited: true };
  }
  if (result === 'broken') {
    const below = held.filter((rate) => rate < next.rate);
    return { ...search, invalid: 0, held: below, broken: next.rate, next: nextStep(below, next.rate) };
  }
  if (next.isConfirmation) return { ...search, next: undefined };
  const raised = [...held, next.rate];
  return { ...search, invalid: 0, held: raised, next: nextStep(raised, broken) };
}

/** Returns the highest rate that held. 0 if none did. */
export function foundRate({ held }: Pick<MaxSearch, 'held'>): number {
  return held.at(-1) ?? 0;
}

/** Doubles the rate until an objective breaks, then halves the difference, and confirms the rate that is left. */
function nextStep(held: readonly number[], broken: number | undefined): SearchStep | undefined {
  const low = held.at(-1) ?? 0;
  if (broken === undefined) {
    return low >= MAX_RATE ? undefined : { rate: Math.min(low * 2, MAX_RATE), isConfirmation: false };
  }
  if (broken - low > Math.max(MIN_DIFFERENCE, PRECISION * broken)) {
    return { rate: roundedRate((low + broken) / 2), isConfirmation: false };
  }
  return low === 0 ? undefined : { rate: low, isConfirmation: true };
}

/** Rounds a rate to tenths below 100, and to whole messages per second above. */
function roundedRate(rate: number): number {
  return rate < 100 ? Math.round(rate * 10) / 10 : Math.round(rate);
}
