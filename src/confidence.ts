/**
 * How certain an explanation is. `proved`: a digest or a fact of the exchange proves it. `likely`: the words of a response or
 * the statistics of a run suggest it. `possible`: nothing contradicts it; only `-v` shows it.
 */
export type Confidence = 'proved' | 'likely' | 'possible';

const BEGINNINGS = { proved: '', likely: 'probably ', possible: 'possibly ' } as const;

/** Puts "probably" or "possibly" before a sentence that is not proved and does not say so itself. */
export function hedged(says: string, confidence: Confidence): string {
  return /\bprobably\b/.test(says) ? says : BEGINNINGS[confidence] + says;
}
