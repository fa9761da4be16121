import { randomInt } from 'node:crypto';
import { createProofSender, receiverSecrets } from '../../../../app/prove-receiver.ts';
import { selectCodes } from '../../../../check/checks.ts';
import { systemClock } from '../../../../clock.ts';
import { ConfigError } from '../../../../errors.ts';
import {
  openProofMessages,
  PROOF_DEFAULTS,
  proofCodes,
  proveIdempotence,
  type ProofMessage,
  type ScheduleCode,
} from '../../../../idempotence/prove.ts';
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
import { ProofOutput } from './proof-output.ts';
import { WITHOUT_STATE } from './proof-text.ts';
import { remarksOfLate, remarksOfReference } from './proof-remarks.ts';
import { ReceiverControl } from './receiver-control.ts';
import { repeatCommand } from './repeat-command.ts';
import { readStateOf, type StateCommandOptions } from '../../../child/state-commands.ts';
import { portOf } from '../../../../url.ts';

const SEEDS = 1_000_000_000;

/**
 * Runs `hooks test --state`: checks that the receiver ends in the same state when messages arrive twice, late, or during a
 * crash.
 */
export async function testIdempotence(
  tested: ReceiverToTest,
  options: TestOptions & { readonly state: string },
  { io, reports }: { readonly io: Io; readonly reports: Reports },
): Promise<ExitCode> {
  const { only = [], skip = [], reset, seed = randomInt(SEEDS) } = options;
  const codes = selectCodes({ only, skip }, proofCodes());
  if (reset === undefined && tested.command.length === 0) throw noReset();
  const prepared = await prepareReceiver(tested, options, io);
  const schemes = await commandSchemes(options, 'sign', io);
  const signer = schemes && new Signer(schemes, prepared.secrets);
  const messages = await openProofMessages({ ...io, file: options.messages, seed });
  const report = await reports.openCases();
  const test = new IdempotenceTest({ tested, prepared, signer, options, codes, messages, seed, report, io });
  return test.run();
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

/**
 * One run of `hooks test --state`. When `run` settles, no process of the run is left and the report is written, even after
 * an error.
 */
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
    const repeat = (check: ScheduleCode): string => io.named(repeatCommand(check, repeated));
    this.#output = new ProofOutput({ options, seed, shownUrl, repeat, io });
    this.#commands = {
      env: { ...env, PORT: portOf(url) },
      cwd: io.cwd,
      signal: io.signal,
      timeoutMs: options.stateTimeout ?? PROOF_DEFAULTS.stateTimeoutMs,
      timeoutFlag: '--state-timeout',
      secrets: masked,
    };
    this.#control = new ReceiverControl({
      start: {
        command: tested.command,
        url,
        secrets,
        startTimeoutMs: options.startTimeout ?? START_TIMEOUT_MS,
        quiet: options.quiet,
      },
      reset: options.reset,
      commands: this.#commands,
      isVerbose: options.verbose === true,
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
        // Writes the report despite the error: the report's path could hold a report of an earlier run that passed.
        await this.#finish();
        throw error;
      }
    } finally {
      this.#output.stopProgress();
      await this.#control.stop();
    }
    const summary = await this.#finish();
    this.#output.end(summary);
    if (summary.passed + summary.failed === 0 && !io.signal.aborted) throw allSkipped(codes);
    // The run did not end, so it has no verdict.
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
      stateTimeoutMs: options.stateTimeout ?? PROOF_DEFAULTS.stateTimeoutMs,
      anyOrder: options.anyOrder === true,
      clock: systemClock,
      signal: io.signal,
      onReference: (reference) => {
        for (const line of remarksOfReference(reference, options)) this.#output.remark(line);
      },
      onProgress: this.#output.progress,
      onDeviation: this.#output.progressOfShrinking,
      onResult: (result) => {
        if (WITHOUT_STATE.has(result.mistake?.code ?? '')) control.showKept();
        this.#output.show(result);
      },
    });
  }

  /** Writes the report and returns the summary. */
  async #finish(): Promise<CheckSummary> {
    const { report } = this.#parts;
    const { results } = this.#output;
    const summary = checkSummaryOf(results, performance.now() - this.#startedAt);
    await report?.finish(
      results.map((result) => this.#output.caseOf(result)),
      summary,
    );
    return summary;
  }
}

function noReset(): ConfigError {
  return new ConfigError('Expected --reset COMMAND or a receiver behind --, got neither', {
    key: '--reset',
    origin: '--state',
    hint: "give a command that empties the receiver's state: --reset 'sqlite3 app.db \"delete from …\"'; or let hooks start the receiver: -- COMMAND",
  });
}

function allSkipped(codes: readonly ScheduleCode[]): ConfigError {
  const isAfter5xx = codes.length === 1 && codes[0] === 'after-5xx';
  return new ConfigError('Every chosen check was skipped, so nothing was tested', {
    hint: isAfter5xx
      ? 'after-5xx needs a receiver that responds with 5xx: let a service that it calls fail at the first message, or choose other checks'
      : 'choose others with --only, or give what they need: --reset, -- COMMAND, --any-order',
  });
}
