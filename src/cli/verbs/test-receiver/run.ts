import { randomBytes } from 'node:crypto';
import { checkReceiver } from '../../../app/check-receiver.ts';
import { captureBody } from '../../../capture/capture.ts';
import { isCapture, readCapture } from '../../../capture/read-capture.ts';
import {
  signedTitles,
  unsigned,
  type Check,
  type CheckResult,
  type ReceiverMistake,
} from '../../../check/check.ts';
import { checksFor, selectChecks } from '../../../check/checks.ts';
import type { RunEnd } from '../../../check/run-checks.ts';
import { NEEDS_SECRET } from '../../../check/run-progress.ts';
import { systemClock } from '../../../clock.ts';
import { ConfigError, HooksError, InputError } from '../../../errors.ts';
import { MOST_FILE_BYTES } from '../../../files.ts';
import { readJson } from '../../../message/json/read-json.ts';
import { printable } from '../../../redact.ts';
import type { CaseReport } from '../../../report/case-report.ts';
import { Signer } from '../../../signature/schemes/signer.ts';
import type { RunningCommand } from '../../child/child.ts';
import { OutputTail } from '../../child/output-tail.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import { commandSchemes } from '../../flags/signature/scheme-flags.ts';
import { readInputFile } from '../../flags/input-file.ts';
import type { Io } from '../../io.ts';
import type { Reports } from '../../print/reports.ts';
import { FAILURE_SUMMARY, failureCase } from '../../print/write-failure-report.ts';
import { TEST_SUITE, type TestOptions } from './options.ts';
import { checkCase, checkSummaryOf, type CheckSummary } from './outcome.ts';
import { TestOutput } from './output.ts';
import {
  START_TIMEOUT_MS,
  prepareReceiver,
  type PreparedReceiver,
  type ReceiverToTest,
} from './prepare-receiver.ts';
import { startReceiverCommand, whyGone } from './started-receiver.ts';

/**
 * Runs `hooks test`: starts the receiver if a command is given, runs the checks, stops the receiver, and prints the results.
 */
export async function testReceiver(
  { url, command }: ReceiverToTest,
  options: TestOptions,
  { io, reports }: { readonly io: Io; readonly reports: Reports },
): Promise<ExitCode> {
  const schemes = await commandSchemes(options, 'sign', io);
  const { only = [], skip = [], capture = [] } = options;
  const captures = await Promise.all(capture.map((file) => captureCheck(file, io)));
  const chosen = selectChecks({ only, skip }, [...checksFor(schemes), ...captures]);
  const prepared = await prepareReceiver({ url }, options, io);
  const { secrets } = prepared;
  const signer = schemes && new Signer(schemes, secrets);
  const checks = secrets.length > 0 ? chosen : chosen.map(unsigned);
  const report = await reports.openCases();
  const test = new ReceiverTest({ ...prepared, signer, checks, command, report, options, io });
  return test.run();
}

/** The result with the commands of its texts as the user types them, in text, JSON and reports alike. */
function withNamedCommands(result: CheckResult, named: Io['named']): CheckResult {
  const { mistake, advice, reason } = result;
  const inMistake = (each: ReceiverMistake) => ({ ...each, says: named(each.says), fix: named(each.fix) });
  return {
    ...result,
    ...(mistake && { mistake: inMistake(mistake) }),
    ...(advice && { advice: inMistake(advice) }),
    ...(reason !== undefined && { reason: named(reason) }),
  };
}

const UNSIGNED = 'No secret given (--secret, HOOKS_SECRET): messages went unsigned';

interface TestParts extends PreparedReceiver {
  readonly checks: readonly Check[];
  readonly signer: Signer | undefined;
  readonly command: readonly string[];
  readonly report: CaseReport | undefined;
  readonly options: TestOptions;
  readonly io: Io;
}

/**
 * One run of `hooks test`. When `run` settles, no process of the run is left and the report is written, even after an error.
 */
class ReceiverTest {
  readonly #parts: TestParts;
  readonly #display: TestOutput;
  readonly #results: CheckResult[] = [];
  readonly #printed = new OutputTail();
  readonly #startedAt = performance.now();

  constructor(parts: TestParts) {
    this.#parts = parts;
    this.#display = new TestOutput(parts.options, parts.io);
  }

  async run(): Promise<ExitCode> {
    const { end, gone } = await this.#startAndCheck().catch(async (error: unknown) => {
      await this.#reportError(error);
      throw error;
    });
    const summary = await this.#report();
    if (end.untestable === undefined) {
      this.#display.end(summary, end.verdict);
      if (this.#parts.secrets.length === 0) this.#display.remark(UNSIGNED);
    }
    this.#reportEnd(end, gone);
    const isGood = summary.failed + summary.unsent === 0 && gone === undefined;
    return interruptedCode(this.#parts.io) ?? (isGood ? ExitCode.ok : ExitCode.negative);
  }

  async #startAndCheck(): Promise<{ readonly end: RunEnd; readonly gone: string | undefined }> {
    const { command, receiver, options, secrets, io } = this.#parts;
    if (command.length === 0) return { end: await this.#check(undefined), gone: undefined };
    const started = await startReceiverCommand({
      command,
      url: new URL(receiver.url),
      secrets,
      startTimeoutMs: options.startTimeout ?? START_TIMEOUT_MS,
      quiet: options.quiet,
      onLine: this.#printed.add,
      io,
    });
    try {
      const end = await this.#check(started);
      return { end, gone: io.signal.aborted ? undefined : whyGone(started) };
    } finally {
      const { killed } = await started.stop();
      if (killed) this.#display.remark('The receiver did not stop on SIGTERM, and was killed');
    }
  }

  #check(started: RunningCommand | undefined): Promise<RunEnd> {
    const { checks, receiver, timeoutMs, connection, secrets, signer, io } = this.#parts;
    return checkReceiver({
      checks,
      receiver,
      timeoutMs,
      connection,
      secrets,
      signer,
      proxyEnv: io.env,
      clock: systemClock,
      signal: io.signal,
      runId: randomBytes(6).toString('hex'),
      gone: () => started && whyGone(started),
      printed: started && (() => this.#printed.takeNew()),
      onResult: (result) => {
        const shown = withNamedCommands(result, io.named);
        this.#results.push(shown);
        this.#display.show(shown);
      },
    });
  }

  /** Prints an error if the receiver died. Throws InputError or ConfigError if no check could run. */
  #reportEnd({ untestable }: RunEnd, gone: string | undefined): void {
    const { receiver, io } = this.#parts;
    const url = printable(receiver.shownUrl);
    if (untestable !== undefined) {
      const what = untestable.code === NEEDS_SECRET ? 'test' : 'reach';
      throw new InputError(`Cannot ${what} ${url}: ${untestable.says}`, { hint: untestable.fix });
    }
    if (this.#results.every(({ outcome }) => outcome === 'skipped') && !io.signal.aborted) {
      throw new ConfigError('Every chosen check was skipped, so no check ran', {
        hint: 'choose other checks, or give the secret; hooks test --list shows all',
      });
    }
    if (gone !== undefined) {
      this.#display.error(
        `The receiver did not last: ${gone}`,
        'look at its output: a receiver must run until it is stopped',
      );
    }
  }

  async #report(): Promise<CheckSummary> {
    const { report, receiver } = this.#parts;
    const summary = checkSummaryOf(this.#results, performance.now() - this.#startedAt);
    await report?.finish(
      this.#results.map((result) => checkCase(result, receiver.shownUrl)),
      summary,
      this.#printed.text,
    );
    return summary;
  }

  /** Writes the report after an error. Otherwise the report's path could keep a report of an earlier run that passed. */
  async #reportError(error: unknown): Promise<void> {
    const { checks, report, io } = this.#parts;
    if (this.#results.length === 0 && !io.signal.aborted) {
      // Reports one error instead of one for each check, because no check ran.
      return report?.finish([failureCase(error, TEST_SUITE)], FAILURE_SUMMARY, this.#printed.text);
    }
    const reason = error instanceof Error ? error.message : 'interrupted';
    for (const { code, title } of checks.slice(this.#results.length)) {
      this.#results.push({ check: code, title, outcome: 'unsent', reason });
    }
    await this.#report();
  }
}

/** Makes a check that sends the body of a capture, signed again, which the receiver must accept. Throws InputError. */
async function captureCheck(file: string, io: Io): Promise<Check> {
  const body = Buffer.from(captureBody(await readCaptureFile(file, io)));
  return {
    code: 'capture',
    ...signedTitles(`the body of ${file}`),
    expects: 'taken',
    requests: (sample) => [sample.signed(body)],
  };
}

async function readCaptureFile(file: string, io: Io) {
  const hint = 'name a file that `hooks listen --save` wrote';
  const bytes = await readInputFile(file, { flag: '--capture', limitBytes: MOST_FILE_BYTES, hint }, io);
  try {
    const value = readJson(bytes, { file, line: 1 });
    if (isCapture(value)) return readCapture(value);
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    throw new InputError(error.message, { file, hint: error.hint, cause: error });
  }
  throw new InputError('Not a capture (--capture)', {
    file,
    hint: 'name a file that `hooks listen --save` wrote; hooks replay sends messages of any kind',
  });
}
