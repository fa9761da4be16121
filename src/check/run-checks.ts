import { roundedMs, type Clock } from '../clock.ts';
import type { CheckResponse } from './check-response.ts';
import type { Check, CheckResult, Fault } from './check.ts';
import { isAboutElse, judgeResponses, type CheckJudgement } from './judge-responses.ts';
import { commonMistakes } from './common-mistakes.ts';
import { INTERRUPTED, ReceiverUnderTest, type TestedReceiverOptions } from './receiver-under-test.ts';
import { type CheckRequest, Sample } from './sample.ts';

export interface RunOptions extends TestedReceiverOptions {
  readonly checks: readonly Check[];
  /** Makes the messages of this run unique. */
  readonly runId: string;
  /** Called for each check, in order, as soon as it has run. */
  readonly onResult: (result: CheckResult) => void;
}

export interface RunEnd {
  /** Why the receiver could not be reached at all; then no check ran. */
  readonly unreachable?: Fault;
}

/** Runs the checks one after the other. The results hold everything that the receiver does. */
export function runChecks(options: RunOptions): Promise<RunEnd> {
  return new CheckRun(options).run();
}

/** Stops after this many requests without a response in a row: each takes the whole timeout. */
const UNANSWERED = 3;
/** How often the run looks for the receiver's way of verifying, each time with some hundred requests. */
const PROBES = 3;
const PROBING_MS = 10_000;

class CheckRun {
  readonly #options: RunOptions;
  readonly #receiver: ReceiverUnderTest;
  readonly #sample: Sample;
  readonly #clock: Clock;
  /** Whether the receiver has ever accepted a correct message. */
  #hasTaken = false;
  /** The mistake by which the receiver verifies, once found. */
  #mistake: Fault | undefined;
  #probes = 0;
  #unanswered = 0;
  #unreachable: Fault | undefined;
  /** Why the remaining checks are not sent. */
  #over: string | undefined;

  constructor(options: RunOptions) {
    const { secret, clock, runId } = options;
    this.#options = options;
    this.#clock = clock;
    this.#receiver = new ReceiverUnderTest(options);
    this.#sample = new Sample({ secret, runId, now: clock.now() });
  }

  async run(): Promise<RunEnd> {
    const { checks, onResult } = this.#options;
    for (const check of checks) onResult(await this.#result(check));
    return this.#unreachable === undefined ? {} : { unreachable: this.#unreachable };
  }

  async #result(check: Check): Promise<CheckResult> {
    const reason = this.#whySkipped(check);
    if (reason !== undefined) return { ...checkName(check), outcome: 'skipped', reason };
    this.#over ??= this.#receiver.over;
    if (this.#over !== undefined) return unsentResult(check, this.#over);
    const judgement = await this.#make(check);
    this.#unreachable = this.#whyUnreachable(judgement);
    this.#over = this.#unreachable?.says ?? this.#whyOver(judgement.answer);
    if (this.#unreachable !== undefined) return unsentResult(check, this.#unreachable.says);
    // It may have ended because the interruption stopped it.
    if (this.#options.signal.aborted && judgement.answer.kind === 'none')
      return unsentResult(check, INTERRUPTED);
    return resultOf(check, judgement);
  }

  #whySkipped({ needsSecret, skip }: Check): string | undefined {
    if (needsSecret && !this.#sample.isSigned)
      return 'no secret given (--secret, HOOKS_SECRET), so no signature can be forged';
    return skip?.(new URL(this.#options.url));
  }

  async #make(check: Check): Promise<CheckJudgement> {
    const requests = check.requests(this.#sample);
    const answers = await this.#receiver.answers(requests, check);
    const judgement = judgeResponses(check, answers, {
      timeoutMs: this.#receiver.timeoutMs,
      hasTaken: this.#hasTaken,
    });
    const { answer, fault } = judgement;
    if (check.expects === 'taken' && answers.some(({ kind }) => kind === 'taken')) this.#hasTaken = true;
    if (fault === undefined) return judgement;
    const gone = answer.kind === 'none' ? this.#options.gone() : undefined;
    if (gone !== undefined) return { ...judgement, fault: diedFault(gone) };
    if (check.expects !== 'taken') return judgement;
    return { ...judgement, fault: (await this.#whyRefused(answer, requests)) ?? fault };
  }

  /** Finds the mistake of a receiver that rejects a correct signature, by the signature that it accepts instead. */
  async #whyRefused(answer: CheckResponse, [request]: readonly CheckRequest[]): Promise<Fault | undefined> {
    if (answer.kind !== 'refused' || isAboutElse(answer.status) || request === undefined) return undefined;
    if (request.signature === undefined) return this.#hasTaken ? undefined : NEEDS_SECRET;
    if (this.#mistake !== undefined) return this.#mistake;
    if (++this.#probes <= PROBES) this.#mistake = await this.#probe(Buffer.from(request.body));
    return this.#mistake;
  }

  async #probe(body: Buffer): Promise<Fault | undefined> {
    const until = this.#clock.now() + PROBING_MS;
    for (const { signature, fault } of commonMistakes(body, this.#receiver.secret ?? '')) {
      if (this.#clock.now() > until || this.#receiver.over !== undefined) return undefined;
      const { kind } = await this.#receiver.ask({ body, signature });
      if (kind === 'taken') return fault;
      if (kind === 'none') return undefined;
    }
    return undefined;
  }

  /** Returns the fault when no receiver was ever reached: then there is nothing to report of it. */
  #whyUnreachable({ answer, fault }: CheckJudgement): Fault | undefined {
    if (answer.kind !== 'none' || this.#receiver.hasAnswered) return undefined;
    return ['refused', 'dns', 'blocked-address'].includes(answer.error) ? fault : undefined;
  }

  /** Returns why the remaining checks need not be sent. */
  #whyOver(answer: CheckResponse): string | undefined {
    const over = this.#receiver.over;
    if (over !== undefined) return over;
    if (answer.kind !== 'none') this.#unanswered = 0;
    else if (answer.error.startsWith('tls')) return 'no connection is possible: see the certificate above';
    else if (answer.error === 'refused') return 'nothing listens there anymore';
    else if (++this.#unanswered >= UNANSWERED) return `the last ${UNANSWERED} requests got no response`;
    return undefined;
  }
}

const NEEDS_SECRET: Fault = {
  code: 'needs-secret',
  says: 'it rejects messages that are not signed, as it should',
  fix: 'give the secret that it verifies with: --secret-file FILE or HOOKS_SECRET',
};

function diedFault(gone: string): Fault {
  return { code: 'died', says: `${gone} during this check`, fix: 'read its output above' };
}

function checkName({ code, title }: Check): Pick<CheckResult, 'check' | 'title'> {
  return { check: code, title };
}

function unsentResult(check: Check, reason: string): CheckResult {
  return { ...checkName(check), outcome: 'unsent', reason };
}

function resultOf(check: Check, { answer, ms, fault }: CheckJudgement): CheckResult {
  const facts = answer.kind === 'none' ? { error: answer.error } : { status: answer.status };
  const common = { ...checkName(check), expected: check.expects, ...facts, ms: roundedMs(ms) };
  if (fault === undefined) return { ...common, outcome: 'passed' };
  const reply = answer.kind === 'none' ? undefined : answer.reply;
  return { ...common, outcome: 'failed', fault, ...(reply !== undefined && { reply }) };
}
