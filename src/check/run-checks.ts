import { ConfigError } from '../errors.ts';
import { DEFAULT_SCHEMES } from '../signature/schemes/find-schemes.ts';
import {
  checkName,
  judgeResponses,
  NEVER_ENDS,
  PROVES_NOTHING,
  resultOf,
  unsentResult,
  type CheckJudgement,
} from './check-results.ts';
import type { Check, CheckResult, ReceiverMistake } from './check.ts';
import { checksFor } from './checks.ts';
import { FurtherRequests, type FurtherOptions } from './probes/further-requests.ts';
import { isAsExpected, isOfAnyReceiver } from './judge-responses.ts';
import { explainFailure, ownCause } from './mistakes/explain-failure.ts';
import { probeOf, SuspectModel, type ProbeOutcome } from './mistakes/suspect-model.ts';
import { suspectsFor } from './mistakes/suspects.ts';
import { INTERRUPTED, ReceiverUnderTest, type TestedReceiverOptions } from './receiver-under-test.ts';
import { RunProgress } from './run-progress.ts';
import { Sample, type CheckRequest } from './sample.ts';

export interface RunOptions extends TestedReceiverOptions, FurtherOptions {
  readonly checks: readonly Check[];
  /** Called with the result of each check, in order: after a failure that later results may explain, at the end. */
  readonly onResult: (result: CheckResult) => void;
}

export interface RunEnd {
  /** Why no check could run: the receiver cannot be reached, or it rejects unsigned messages and no secret was given. */
  readonly untestable?: ReceiverMistake;
  /** Mistake of the receiver as a whole: it accepts everything. */
  readonly verdict?: ReceiverMistake;
}

/** Maximum number of checks besides the chosen ones. */
const MAX_CONTROLS = 6;
const DIED_FIX =
  'catch the error and respond with 400 or 500 instead: a receiver must outlive every request, and the checks that did not run can find more';

/** A result, or the function that makes it at the end of the run, when all responses are known. */
type HeldResult = CheckResult | (() => CheckResult);

/** Runs the checks one after another. */
export class CheckRun {
  readonly #options: RunOptions;
  readonly #receiver: ReceiverUnderTest;
  readonly #sample: Sample;
  readonly #progress = new RunProgress();
  readonly #model: SuspectModel;
  readonly #further: FurtherRequests;
  readonly #held: HeldResult[] = [];
  #untestable: ReceiverMistake | undefined;
  #verdict: ReceiverMistake | undefined;
  /** Why the remaining checks are not sent. Undefined as long as they are. */
  #over: string | undefined;

  constructor(options: RunOptions) {
    const { secrets, signer, clock, runId } = options;
    this.#options = options;
    this.#receiver = new ReceiverUnderTest(options);
    this.#sample = new Sample({ secrets, signer, runId, now: clock.now() });
    this.#model = new SuspectModel(suspectsFor(signer?.schemes ?? DEFAULT_SCHEMES));
    const asked = { receiver: this.#receiver, sample: this.#sample, model: this.#model };
    this.#further = new FurtherRequests(options, asked);
  }

  async run(): Promise<RunEnd> {
    const { checks, onResult } = this.#options;
    let hasRun = false;
    for (const [index, check] of checks.entries()) {
      const result = await this.#result(check);
      const untestable = this.#untestable;
      if (untestable !== undefined) {
        const unsent = hasRun ? checks.slice(index) : checks;
        if (!hasRun) this.#held.length = 0;
        this.#release();
        for (const each of unsent) onResult(unsentResult(each, untestable.says));
        return { untestable };
      }
      this.#held.push(result);
      // Reports skipped checks only after another check has run: if the receiver is untestable, they count as unsent.
      hasRun ||= typeof result === 'function' || result.outcome !== 'skipped';
      if (hasRun && this.#held.every((each) => typeof each !== 'function')) this.#release();
    }
    await this.#tellApart();
    this.#release();
    return this.#verdict === undefined ? {} : { verdict: this.#verdict };
  }

  #release(): void {
    for (const held of this.#held.splice(0)) {
      const result = typeof held === 'function' ? held() : held;
      if (result.mistake?.code === 'takes-everything') this.#verdict = result.mistake;
      this.#options.onResult(result);
    }
  }

  async #result(check: Check): Promise<HeldResult> {
    const reason = this.#whySkipped(check);
    if (reason !== undefined) return { ...checkName(check), outcome: 'skipped', reason };
    if ((this.#over ??= this.#receiver.over) !== undefined) return unsentResult(check, this.#over);
    if ((check.expects === 'rejected' || check.advice) && !(await this.#takesCorrect())) {
      this.#over = this.#receiver.over;
      return unsentResult(check, this.#over ?? PROVES_NOTHING);
    }
    const requests = this.#requests(check);
    return typeof requests === 'string'
      ? { ...checkName(check), outcome: 'skipped', reason: requests }
      : this.#make(check, requests);
  }

  #whySkipped({ needsSecret, expects, skip }: Check): string | undefined {
    if (needsSecret && !this.#sample.isSigned) {
      const so = expects === 'rejected' ? 'no signature can be forged' : 'nothing is signed';
      return `no secret given (--secret, HOOKS_SECRET), so ${so}`;
    }
    return skip?.(new URL(this.#options.url));
  }

  /** The requests of a check, or the reason why a scheme cannot sign their bodies. */
  #requests(check: Check, round = 0): readonly CheckRequest[] | string {
    try {
      return check.requests(this.#sample, round);
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
  }

  async #make(check: Check, requests: readonly CheckRequest[], round = 0): Promise<HeldResult> {
    const outcomes = await this.#observe(check, requests);
    const judgement = judgeResponses(check, outcomes, this.#options.timeoutMs);
    const { decisive, slow } = judgement;
    // Measures again: this machine may have been busy.
    const again = slow !== undefined && round === 0 ? this.#requests(check, 1) : '';
    if (typeof again !== 'string' && this.#receiver.over === undefined) return this.#make(check, again, 1);
    this.#untestable = this.#whyUntestable(decisive);
    this.#over =
      this.#untestable?.says ??
      this.#receiver.over ??
      this.#progress.whyOver(check, decisive, this.#countered(decisive));
    if (this.#untestable !== undefined) return unsentResult(check, this.#untestable.says);
    // A missing response says nothing about the receiver if the interruption ended the request.
    if (this.#options.signal.aborted && decisive.response.kind === 'none') {
      return unsentResult(check, INTERRUPTED);
    }
    if (!decisive.isRight) return this.#failed(check, judgement, requests);
    const isEndless = check.withinShare !== undefined && this.#receiver.neverEnds;
    const result = resultOf(check, judgement, isEndless ? NEVER_ENDS : slow);
    if (!isOfAnyReceiver(decisive.response, check.expects)) return result;
    return () => (this.#progress.hasTaken ? result : unsentResult(check, PROVES_NOTHING));
  }

  async #failed(
    check: Check,
    judgement: CheckJudgement,
    requests: readonly CheckRequest[],
  ): Promise<HeldResult> {
    const { decisive } = judgement;
    const { response, aftermath } = decisive;
    const { hasTaken } = this.#progress;
    const gone = response.kind === 'none' ? this.#options.gone() : undefined;
    if (gone !== undefined) {
      const says = [
        `${gone} during this check, because of its message or of one shortly before`,
        ...(decisive.printed ? [decisive.printed] : []),
      ].join('; ');
      const died = { code: 'died', says, fix: DIED_FIX };
      this.#over = `${gone} during the check ${check.code}, so these checks did not run`;
      return resultOf(check, judgement, died);
    }
    if (check.advice !== undefined && response.kind === 'rejected') {
      if (this.#further.proved !== undefined) return resultOf(check, judgement, undefined);
      if (await this.#further.takesStringified(requests)) return resultOf(check, judgement, check.advice);
    }
    if (check.expects === 'taken') {
      await this.#further.probeVerification(response, requests, { ...check, hasTaken });
    }
    if (check.expects !== 'rejected') await this.#further.counterProbe(response, requests, hasTaken);
    if (aftermath === 'dead') this.#over ??= `nothing listens there anymore: it crashed on ${check.code}`;
    const explained = () => resultOf(check, judgement, this.#explain(decisive));
    return ownCause(response) === undefined ? explained : explained();
  }

  #explain(failure: ProbeOutcome): ReceiverMistake {
    const unsigned = this.#sample.isSigned ? undefined : this.#progress.unsignedMistake(failure.response);
    const [model, { proved }, { isSigned }] = [this.#model, this.#further, this.#sample];
    const countered = this.#countered(failure);
    return unsigned ?? explainFailure(failure, { model, proved, countered, isSigned });
  }

  #countered({ response }: ProbeOutcome): ReceiverMistake | undefined {
    return this.#further.counterMistake(response, this.#progress.hasTaken);
  }

  #whyUntestable({ response }: ProbeOutcome): ReceiverMistake | undefined {
    const { hasResponded } = this.#receiver;
    return this.#progress.whyUntestable(response, { isSigned: this.#sample.isSigned, hasResponded });
  }

  /** Sends the requests of a check, and adds them and their responses to the model. */
  async #observe(
    check: Omit<Check, 'title' | 'requests'>,
    requests: readonly CheckRequest[],
  ): Promise<readonly ProbeOutcome[]> {
    this.#receiver.forgetOutput();
    const received = await this.#receiver.askAll(requests, check);
    const { responses, printed } = await this.#further.withOwnWords(check, received);
    if (check.expects !== 'rejected') this.#progress.seeCorrect(responses);
    const observations: ProbeOutcome[] = [];
    for (const [index, response] of responses.entries()) {
      const isRight = isAsExpected(response, check.expects);
      observations.push({
        ...probeOf(check, requests, index),
        response,
        isRight,
        aftermath: isRight ? undefined : await this.#further.aftermath(response),
        printed: isRight ? undefined : printed,
      });
    }
    observations.forEach((each) => this.#model.add(each));
    return observations;
  }

  /**
   * Whether the receiver accepts correct messages: otherwise a rejected forgery proves nothing. Sends one if none was sent
   * yet.
   */
  async #takesCorrect(): Promise<boolean> {
    if (!this.#progress.hasAsked) {
      const control = { code: 'control', expects: 'taken' } as const;
      const [sent] = await this.#observe(control, [this.#further.correct('control')]);
      this.#untestable = sent && this.#whyUntestable(sent);
    }
    return this.#progress.hasTaken;
  }

  /** Sends the checks and the messages that tell the remaining mistakes of a failure apart. */
  async #tellApart(): Promise<void> {
    const all = checksFor(this.#options.signer?.schemes);
    for (let sent = 0; (this.#over ?? this.#receiver.over) === undefined; sent++) {
      const check = sent < MAX_CONTROLS ? all.find((each) => this.#further.tellsApart(each)) : undefined;
      const requests = check && this.#requests(check);
      if (check === undefined || typeof requests !== 'object') return this.#further.compareBodies();
      await this.#observe(check, requests);
    }
  }
}
