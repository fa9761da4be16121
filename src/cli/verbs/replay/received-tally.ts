import type { DestinationOutcome } from '../../../app/pipeline/outcomes.ts';
import type { LoopbackJudgement, Loopback } from '../../flags/delivery/loopback.ts';
import { isSound } from '../../print/result-line.ts';

/** Counts the messages that the receiver of `--loopback` found valid, and those that it found invalid. */
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

  /**
   * Returns how the receiver of --loopback judged an attempted message, and counts the result. Call once per message.
   * Returns undefined if the receiver did not judge the message.
   */
  judgementOf(tried: DestinationOutcome | undefined): LoopbackJudgement | undefined {
    const judgement = tried && this.#loopback?.judgementOf(tried.signature);
    if (judgement === undefined) return undefined;
    if (isSound(judgement)) this.#valid++;
    else this.#other++;
    return judgement;
  }

  /** Returns the summary line that counts valid and invalid messages. Undefined without --loopback. */
  text(): string | undefined {
    if (this.#loopback === undefined) return undefined;
    return `received   ${this.#valid} valid${this.#other > 0 ? `, ${this.#other} not valid` : ''}`;
  }
}
