import type { DestinationOutcome } from '../../app/outcomes.ts';
import type { LoopbackJudgement, Loopback } from '../flags/delivery/loopback.ts';

/** Counts what the receiver of --loopback thought of what it got. */
export class ReceivedTally {
  readonly #loopback: Loopback | undefined;
  #valid = 0;
  #other = 0;

  constructor(loopback: Loopback | undefined) {
    this.#loopback = loopback;
  }

  get isAllValid(): boolean {
    return this.#other === 0;
  }

  /** Of a message that was attempted; asked for once each. */
  judgementOf(tried: DestinationOutcome | undefined): LoopbackJudgement | undefined {
    const judgement = tried && this.#loopback?.judgementOf(tried.signature);
    if (judgement === undefined) return undefined;
    if (judgement.verdict === 'valid' && judgement.problem === undefined) this.#valid++;
    else this.#other++;
    return judgement;
  }

  /** For the summary; undefined without --loopback. */
  text(): string | undefined {
    if (this.#loopback === undefined) return undefined;
    return `received   ${this.#valid} valid${this.#other > 0 ? `, ${this.#other} not valid` : ''}`;
  }
}
