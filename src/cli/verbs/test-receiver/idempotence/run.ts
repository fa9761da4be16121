import { randomInt } from 'node:crypto';
import { createProofSender, receiverSecrets } from '../../../../app/prove-receiver.ts';
import { selectCodes } from '../../../../check/checks.ts';
import { systemClock } from '../../../../clock.ts';
import { ConfigError } from '../../../../errors.ts';
import { sampleMessages } from '../../../../idempotence/messages.ts';
import { SCHEDULE_CODES, SCHEDULE_TITLES, type ScheduleCode } from '../../../../idempotence/plan/schedule.ts';
import { proveIdempotence } from '../../../../idempotence/prove.ts';
import type { ProofMessage } from '../../../../idempotence/subject.ts';
import type { CaseReport } from '../../../../report/case-report.ts';
import type { Reports } from '../../../print/reports.ts';
import { Signer } from '../../../../signature/schemes/signer.ts';
import { commandSchemes } from '../../../flags/signature/scheme-flags.ts';
import { ExitCode, interruptedCode } from '../../../exit-code.ts';
import type { Io } from '../../../io.ts';
import { checkSummaryOf, type CheckSummary } from '../outcome.ts';
import type { TestOptions } from '../options.ts';
import {
  prepareReceiver,
  START_TIMEOUT_MS,
  type PreparedReceiver,
  type ReceiverToTest,
} from '../prepare-receiver.ts';
import { readProofMessages } from './messages-file.ts';
import { ProofOutput } from './proof-output.ts';
import { PROOF_DEFAULTS, remarksOfLate, remarksOfReference } from './proof-remarks.ts';
import { ReceiverControl } from './receiver-control.ts';
import { repeatCommand } from './repeat-command.ts';
import { readStateOf, type StateCommandOptions } from './state-commands.ts';
import { portOf } from '../../../../url.ts';

const STATE_TIMEOUT_MS = 10_000;
const SEEDS = 1_000_000_000;

/** Runs `hooks test --state`: whether the receiver ends in the same state whatever comes twice, late, or into a crash. */
export async function testIdempotence(
  tested: ReceiverToTest,
  options: TestOptions & { readonly state: string },
  { io, reports }: { readonly io: Io; readonly reports: Reports },
): Promise<ExitCode> {
  const { only = [], skip = [], reset, seed = randomInt(SEEDS) } = options;
  const codes = selectCodes({ only, skip }, SCHEDULE_CODES);
  if (reset === undefined && tested.command.length === 0) throw noReset();
  const prepared = await prepareReceiver(tested, options, io);
  const schemes = await commandSchemes(options, 'sign', io);
  const signer = schemes && new Signer(schemes, prepared.secrets);
  const messages = await messagesFor(options, seed, io);
  const report = await reports.openCases();
  const test = new IdempotenceTest({ tested, prepared, signer, options, codes, messages, seed, report, io });
  return test.run();
}

async function messagesFor(
  { messages: file }: TestOptions,
  seed: number,
  io: Io,
): Promise<readonly ProofMessage[]> {
  const now = Math.floor(systemClock.now() / 1_000) * 1_000;
  return file === undefined ? sampleMessages({ now, seed }) : readProofMessages(file, { now, seed }, io);
}

interface IdempotenceTestParts {
  readonly tested: ReceiverToTest;
  readonly prepared: PreparedReceiver;
  readonly signer: Signer | undefined;
  readonly options: TestOptions & { readonly state: string };
  readonly codes: readonly ScheduleCode[];
  readonly messages: readonly ProofMessage[];
  readonly seed: number;
  readonly report: CaseReport | undefined;
  readonly io: Io;
}

/** Once `run` has ended, nothing of the receiver and the commands is left and the report is written, whatever happened. */
class IdempotenceTest {
  readonly #parts: IdempotenceTestParts;
  readonly #output: ProofOutput;
  readonly #control: ReceiverControl;
  readonly #commands: StateCommandOptions;
  readonly #startedAt = performance.now();

  constructor(parts: IdempotenceTestParts) {
    const { tested, prepared, options, seed, io } = parts;
    const { secrets, receiver } = prepared;
    const url = new URL(receiver.url);
    this.#parts = parts;
    const { shownUrl } = receiver;
    const masked = [...secrets, ...receiverSecrets(receiver)];
    const { env } = io;
    const repeated = { shownUrl, command: tested.command, options, seed, secrets: masked, env };
    const repeat = (check: ScheduleCode): string => repeatCommand(check, repeated);
    this.#output = new ProofOutput({ options, seed, shownUrl, repeat, io });
    this.#commands = {
      env: { ...env, PORT: portOf(url) },
      cwd: io.cwd,
      signal: io.signal,
      timeoutMs: options.stateTimeout ?? STATE_TIMEOUT_MS,
      secrets: masked,
    };
    this.#control = new ReceiverControl({
      command: tested.command,
      url,
      secrets,
      startTimeoutMs: options.startTimeout ?? START_TIMEOUT_MS,
      reset: options.reset,
      commands: this.#commands,
      isVerbose: options.verbose === true,
      isQuiet: options.quiet ?? false,
      io: { ...io, verbatim: { ...io.verbatim, note: this.#output.line } },
    });
  }

  async run(): Promise<ExitCode> {
    const { prepared, options, codes, io } = this.#parts;
    if (prepared.secrets.length === 0) {
      this.#output.remark('No secret given (--secret, HOOKS_SECRET): messages go unsigned');
    }
    try {
      this.#output.startProgress();
      for (const line of remarksOfLate(options, codes)) this.#output.remark(line);
      await this.#prove();
    } catch (error) {
      if (!io.signal.aborted) {
        this.#output.stopProgress();
        this.#control.showKept();
        // A report of an earlier day may be at that path, and green.
        await this.#finish(error instanceof Error ? error.message : 'it could not be tried');
        throw error;
      }
    } finally {
      this.#output.stopProgress();
      await this.#control.close();
    }
    const summary = await this.#finish('interrupted');
    this.#output.end(summary);
    if (summary.passed + summary.failed === 0 && !io.signal.aborted) throw allSkipped(codes);
    // Not tried to its end: no verdict.
    if (io.signal.reason === 'closed-pipe') return ExitCode.unusable;
    const isGood = summary.failed + summary.unsent === 0;
    return interruptedCode(io) ?? (isGood ? ExitCode.ok : ExitCode.negative);
  }

  async #prove(): Promise<void> {
    const { prepared, signer, options, messages, codes, seed, io } = this.#parts;
    const control = this.#control;
    const send = createProofSender({
      ...prepared,
      secret: prepared.secrets[0],
      signer,
      proxyEnv: io.env,
      signal: io.signal,
    });
    const { reset, kill, revive, gone } = control;
    await proveIdempotence({
      subject: {
        reset,
        kill,
        revive,
        gone,
        send,
        readState: () => readStateOf(options.state, this.#commands),
      },
      hasReset: options.reset !== undefined,
      isSigned: prepared.secrets.length > 0,
      messages,
      codes,
      seed,
      schedules: options.schedules ?? PROOF_DEFAULTS.schedules,
      lateMs: options.late ?? PROOF_DEFAULTS.lateMs,
      stateTimeoutMs: options.stateTimeout ?? STATE_TIMEOUT_MS,
      skipped: this.#skipped(),
      clock: systemClock,
      signal: io.signal,
      onReference: (reference) => {
        for (const line of remarksOfReference(reference, options)) this.#output.remark(line);
      },
      onProgress: this.#output.progress,
      onDeviation: this.#output.progressOfShrinking,
      onResult: (result) => {
        if (SHOWS_OUTPUT.has(result.fault?.code)) control.showKept();
        this.#output.show(result);
      },
    });
  }

  #skipped(): ReadonlyMap<ScheduleCode, string> {
    const { tested, options } = this.#parts;
    const skipped = new Map<ScheduleCode, string>();
    if (tested.command.length === 0) {
      skipped.set('killed', 'it needs -- COMMAND: only a receiver that is started here can be killed');
    } else if (options.reset === undefined) {
      skipped.set('killed', 'it needs --reset: what a killed receiver leaves must be deleted');
    }
    if (options.anyOrder === undefined) {
      skipped.set('shuffled', 'it needs --any-order: by default the messages of one user keep their order');
    }
    return skipped;
  }

  /** Notes what did not run and writes the report. */
  async #finish(reason: string): Promise<CheckSummary> {
    const { codes, report } = this.#parts;
    const { results } = this.#output;
    for (const check of codes) {
      if (results.some((result) => result.check === check)) continue;
      this.#output.add({
        check,
        title: SCHEDULE_TITLES[check],
        outcome: 'unsent',
        schedules: 0,
        ms: 0,
        reason,
      });
    }
    const summary = checkSummaryOf(results, performance.now() - this.#startedAt);
    await report?.finish(
      results.map((result) => this.#output.caseOf(result)),
      summary,
    );
    return summary;
  }
}

/** Faults whose fix points to the receiver's output. */
const SHOWS_OUTPUT: ReadonlySet<string | undefined> = new Set([
  'died',
  'dies-on-duplicates',
  'does-not-restart',
]);

function noReset(): ConfigError {
  return new ConfigError('Expected --reset COMMAND or a receiver behind --, got neither', {
    key: '--reset',
    origin: '--state',
    hint: "say how the receiver's state is brought back to the start: --reset 'sqlite3 app.db \"delete from …\"'; or let hooks start the receiver: -- COMMAND",
  });
}

function allSkipped(codes: readonly ScheduleCode[]): ConfigError {
  const isAfter5xx = codes.length === 1 && codes[0] === 'after-5xx';
  return new ConfigError('Every chosen check was skipped, so nothing is proved', {
    hint: isAfter5xx
      ? 'after-5xx needs a receiver that responds with 5xx: let something that it calls fail at the first message, or choose other checks'
      : 'choose others with --only, or give what they need: --reset, -- COMMAND, --any-order',
  });
}
