import { ConfigError } from '../errors.ts';
import { checkName, resultOf, unsentResult } from './check-results.ts';
import type { CheckResponse } from './check-response.ts';
import type { Check, CheckResult, MistakenRequest, MistakeOptions, ReceiverMistake } from './check.ts';
import {
  isAboutElse,
  isPage,
  isTakenForgery,
  isTakenResponse,
  judgeResponses,
  type CheckJudgement,
} from './judge-responses.ts';
import { INTERRUPTED, ReceiverUnderTest, type TestedReceiverOptions } from './receiver-under-test.ts';
import { NEEDS_SECRET, RunProgress } from './run-progress.ts';
import { Sample, type CheckRequest } from './sample.ts';

export interface RunOptions extends TestedReceiverOptions, MistakeOptions {
  readonly checks: readonly Check[];
  /**
   * Makes requests with wrong signatures. If a receiver rejects the correct signature, the wrong one that it accepts reveals
   * its mistake.
   */
  readonly mistakenRequests: (body: Buffer, options: MistakeOptions) => Promise<Iterable<MistakenRequest>>;
  /** Called with the result of each check, in order, as soon as the check has run. */
  readonly onResult: (result: CheckResult) => void;
}

export interface RunEnd {
  /** Why no check could run: the receiver cannot be reached, or it rejects unsigned messages and no secret was given. */
  readonly untestable?: ReceiverMistake;
  /** Mistake that only all results together show. */
  readonly verdict?: ReceiverMistake;
}

/** Maximum number of probes for the mistake in a receiver's verification, each with about a hundred requests. */
const PROBES = 3;
const PROBING_MS = 10_000;

/** Runs the checks one after another. */
export class CheckRun {
  readonly #options: RunOptions;
  readonly #receiver: ReceiverUnderTest;
  readonly #sample: Sample;
  readonly #progress: RunProgress;
  /** The mistake in the receiver's verification; undefined until a probe finds it. */
  #mistake: ReceiverMistake | undefined;
  #probes = 0;
  /** Whether the receiver rejects a forged request. Tested once, if it responds with HTML pages: it may reject by a page. */
  #rejectsForgery: Promise<boolean> | undefined;
  /** Whether the receiver accepts all forgeries. Tested once, and only if it has accepted one. */
  #everything: Promise<boolean> | undefined;
  #untestable: ReceiverMistake | undefined;
  /** Why the remaining checks are not sent. Undefined as long as they are. */
  #over: string | undefined;

  constructor(options: RunOptions) {
    const { secrets, signer, clock, runId } = options;
    this.#options = options;
    this.#receiver = new ReceiverUnderTest(options);
    this.#progress = new RunProgress(signer?.schemes);
    this.#sample = new Sample({ secrets, signer, runId, now: clock.now() });
  }

  async run(): Promise<RunEnd> {
    const { checks, onResult } = this.#options;
    // Reports skipped checks only after another check has run: if the receiver is untestable, they count as unsent.
    const skipped: CheckResult[] = [];
    for (const [index, check] of checks.entries()) {
      const result = await this.#result(check);
      const untestable = this.#untestable;
      if (untestable !== undefined) {
        const unsent = checks.slice(index - skipped.length);
        for (const each of unsent) onResult(unsentResult(each, untestable.says));
        return { untestable };
      }
      skipped.push(result);
      if (result.outcome !== 'skipped') skipped.splice(0).forEach(onResult);
    }
    skipped.forEach(onResult);
    const verdict = this.#progress.takesEverything;
    return verdict === undefined ? {} : { verdict };
  }

  async #result(check: Check): Promise<CheckResult> {
    const reason = this.#whySkipped(check);
    if (reason !== undefined) return { ...checkName(check), outcome: 'skipped', reason };
    this.#over ??= this.#receiver.over;
    if (this.#over !== undefined) return unsentResult(check, this.#over);
    if ((check.expects === 'rejected' || check.isAdvice) && !(await this.#takesCorrect())) {
      this.#over = this.#receiver.over;
      return unsentResult(check, this.#over ?? PROVES_NOTHING);
    }
    const requests = this.#signedRequests(check);
    if (typeof requests === 'string') return { ...checkName(check), outcome: 'skipped', reason: requests };
    const judgement = await this.#make(check, requests);
    this.#progress.seeMistake(check, judgement);
    this.#untestable = this.#whyUntestable(judgement.response, judgement.mistake);
    this.#over = this.#untestable?.says ?? this.#receiver.over ?? this.#progress.whyOver(check, judgement);
    if (this.#untestable !== undefined) return unsentResult(check, this.#untestable.says);
    // A missing response says nothing about the receiver if the interruption ended the request.
    if (this.#options.signal.aborted && judgement.response.kind === 'none') {
      return unsentResult(check, INTERRUPTED);
    }
    return resultOf(check, judgement);
  }

  #whySkipped({ needsSecret, expects, skip }: Check): string | undefined {
    if (needsSecret && !this.#sample.isSigned) {
      const so = expects === 'rejected' ? 'no signature can be forged' : 'nothing is signed';
      return `no secret given (--secret, HOOKS_SECRET), so ${so}`;
    }
    return skip?.(new URL(this.#options.url));
  }

  /** The requests of a check, or the reason why a scheme cannot sign their bodies. */
  #signedRequests(check: Check): readonly CheckRequest[] | string {
    try {
      return check.requests(this.#sample);
    } catch (error) {
      if (error instanceof ConfigError) return error.message;
      throw error;
    }
  }

  async #make(check: Check, requests: readonly CheckRequest[]): Promise<CheckJudgement> {
    const responses = await this.#withoutOwnPages(check, await this.#receiver.askAll(requests, check));
    const judgement = judgeResponses(check, responses, {
      timeoutMs: this.#options.timeoutMs,
      hasTaken: this.#progress.hasTaken,
    });
    const { response, mistake } = judgement;
    if (check.expects !== 'rejected') this.#progress.seeCorrect(responses);
    else if (check.needsSecret) this.#progress.seeForgery(response);
    if (mistake === undefined) return judgement;
    const plain = this.#progress.plainMistake(check, response);
    if (plain !== undefined) return { ...judgement, mistake: plain };
    const gone = response.kind === 'none' ? this.#options.gone() : undefined;
    if (gone !== undefined) return { ...judgement, mistake: diedMistake(gone) };
    if (check.expects === 'rejected' && isTakenForgery(response) && (await this.#takesEverything())) {
      return { ...judgement, mistake: this.#progress.takesEverythingMistake };
    }
    if (check.expects !== 'taken') return judgement;
    if (check.isAdvice && response.kind === 'rejected') {
      const isNews = this.#mistake === undefined && (await this.#takesStringified(requests));
      return { ...judgement, mistake: isNews ? mistake : undefined };
    }
    return { ...judgement, mistake: (await this.#whyRejected(response, requests, check)) ?? mistake };
  }

  /** Whether the receiver accepts three different forgeries: then its mistake is to accept everything, not one forgery. */
  #takesEverything(): Promise<boolean> {
    return (this.#everything ??= (async () => {
      if (!this.#sample.isSigned) return false;
      const body = this.#sample.body('track', 'everything', { event: 'Hooks Test Forgery' });
      const forgeries = [
        { body },
        this.#sample.forged(body, {}),
        this.#sample.forged(body, { change: () => 'x' }),
      ];
      for (const forged of forgeries) {
        if (!isTakenForgery(await this.#receiver.ask(forged))) return false;
      }
      return true;
    })());
  }

  /**
   * Removes the cause "page" from responses if the receiver rejects a forged request. A website would not reject one, so the
   * pages are responses of a receiver.
   */
  async #withoutOwnPages(
    check: Pick<Check, 'expects'>,
    responses: readonly CheckResponse[],
  ): Promise<readonly CheckResponse[]> {
    if (check.expects === 'rejected' || !this.#sample.isSigned || !responses.some(isPage)) return responses;
    this.#rejectsForgery ??= (async () => {
      const body = this.#sample.body('track', 'page', { event: 'Hooks Test Forgery' });
      return (await this.#receiver.ask({ body })).kind === 'rejected';
    })();
    if (!(await this.#rejectsForgery)) return responses;
    return responses.map((response) => (isPage(response) ? { ...response, cause: undefined } : response));
  }

  /**
   * Whether the receiver accepts correct messages: otherwise a rejected forgery proves nothing. Sends one if none was sent
   * yet.
   */
  async #takesCorrect(): Promise<boolean> {
    const { hasAsked } = this.#progress;
    if (!hasAsked) {
      const request = this.#sample.signed(this.#sample.body('track', 'control'));
      const check = { expects: 'taken' } as const;
      const response = await this.#receiver.ask(request);
      this.#progress.seeCorrect(await this.#withoutOwnPages(check, [response]));
      this.#untestable = this.#whyUntestable(response);
    }
    return this.#progress.hasTaken;
  }

  /**
   * Finds the mistake of a receiver that rejects a correct signature: sends wrong signatures and returns the mistake of the
   * one that the receiver accepts.
   */
  async #whyRejected(
    response: CheckResponse,
    [request]: readonly CheckRequest[],
    { isOwnMistake }: Check,
  ): Promise<ReceiverMistake | undefined> {
    if (response.kind !== 'rejected' || isAboutElse(response) || request === undefined) return undefined;
    if (!this.#sample.isSigned) return this.#progress.unsignedMistake(response);
    if (this.#mistake !== undefined || (isOwnMistake && this.#progress.hasTaken)) return this.#mistake;
    // One probe is enough until the receiver accepts a message: a probe with another message would find nothing else.
    if (this.#probes > 0 && !this.#progress.hasTaken) return undefined;
    if (++this.#probes <= PROBES) this.#mistake = await this.#probe(Buffer.from(request.body));
    return this.#mistake;
  }

  /** Whether the receiver verifies the JSON-stringified body instead of the bytes. */
  async #takesStringified([request]: readonly CheckRequest[]): Promise<boolean> {
    const body = Buffer.from(request?.body ?? '');
    const stringified = Buffer.from(JSON.stringify(JSON.parse(body.toString())));
    return isTakenResponse(await this.#receiver.ask(this.#sample.signedOver(stringified, body)));
  }

  async #probe(body: Buffer): Promise<ReceiverMistake | undefined> {
    const { clock, mistakenRequests } = this.#options;
    const until = clock.now() + PROBING_MS;
    for (const { request, mistake } of await mistakenRequests(body, this.#options)) {
      if (clock.now() > until || this.#receiver.over !== undefined) return undefined;
      const { kind } = await this.#receiver.ask(request);
      if (kind === 'taken') return mistake;
      if (kind === 'none') return undefined;
    }
    return undefined;
  }

  /** The mistake that makes a receiver untestable: it was never reached, or it requires a secret. Undefined otherwise. */
  #whyUntestable(response: CheckResponse, mistake?: ReceiverMistake): ReceiverMistake | undefined {
    const rejection = this.#sample.isSigned ? undefined : this.#progress.unsignedMistake(response);
    if (rejection?.code === NEEDS_SECRET) return rejection;
    if (response.kind !== 'none' || this.#receiver.hasResponded) return undefined;
    return ['refused', 'dns', 'blocked-address'].includes(response.error) ? mistake : undefined;
  }
}

const PROVES_NOTHING = 'it accepted no correct message, so rejecting this one would prove nothing';

function diedMistake(gone: string): ReceiverMistake {
  return { code: 'died', says: `${gone} during this check`, fix: 'read its output' };
}
