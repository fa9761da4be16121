import { sleep, systemClock } from '../../../clock.ts';
import { formatDuration } from '../../../duration.ts';
import { makeCertificate } from '../../../receiver/certificate.ts';
import {
  checkArrivals,
  type ArrivalCheck,
  type ExpectationResult,
} from '../../../expectation/expectation.ts';
import type { ServerCertificate } from '../../../receiver/options.ts';
import { startReceiver } from '../../../app/explained.ts';
import type { Receiver } from '../../../receiver/receiver.ts';
import { parseScript } from '../../../receiver/response/script.ts';
import { describeEnd, startCommand, type CommandEnd, type RunningCommand } from '../../child/child.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { OutputTail } from '../../child/output-tail.ts';
import type { Reports } from '../../print/reports.ts';
import { FAILURE_SUMMARY, failureCase } from '../../print/write-failure-report.ts';
import { receiverChecks, type ReceiverChecks } from '../../flags/signature/receiver-checks.ts';
import { ExpectOutput, expectationCase, SUITE, expectSummaryOf } from './output.ts';
import { schemaChecks, Snapshot } from './message-files.ts';
import { expectedOf, type ExpectOptions } from './options.ts';
import { writeTrustFiles, type TrustFiles } from './trust-files.ts';

/** Runs `hooks expect`: starts COMMAND, and checks that the expected requests arrive. */
export async function expectArrivals(
  command: readonly string[],
  options: ExpectOptions,
  { io, reports }: { readonly io: Io; readonly reports: Reports },
): Promise<ExitCode> {
  const expected = expectedOf(options);
  const script = options.respond === undefined ? [] : parseScript(options.respond);
  const signatures = await receiverChecks(options, io);
  const schemas = await schemaChecks(options, io);
  const report = await reports.openCases();
  const snapshot = await Snapshot.open(options, io);
  const checks = snapshot === undefined ? schemas : [...schemas, snapshot.check];
  const trial: Trial = {
    options,
    io,
    signatures,
    certificate: options.selfSigned ? makeCertificate('localhost', systemClock.now()) : undefined,
    arrivals: checkArrivals({ ...expected, checks, signed: signatures.secrets.length > 0 }),
    complete: new AbortController(),
    display: new ExpectOutput(options, io, command),
    printed: new OutputTail(),
    startedAt: systemClock.now(),
  };
  const { arrivals, display, printed, startedAt } = trial;
  const write = (results: readonly ExpectationResult[], ms: number): Promise<void> | undefined =>
    report?.finish(
      results.map((each) => expectationCase(each, ms)),
      expectSummaryOf(results, arrivals, ms),
      printed.text,
    );
  let end: CommandEnd | undefined;
  try {
    end = await runCommand(command, await receiverOf(trial, script), trial);
  } catch (error) {
    await snapshot?.abandon();
    // Writes a report although the run was interrupted: the report's path could hold one of an earlier run that passed.
    if (io.signal.aborted) {
      const said = error instanceof Error ? error.message : 'interrupted';
      const ofCommand: ExpectationResult = { expectation: 'command', isMet: false, said };
      await write([...arrivals.results(), ofCommand], systemClock.now() - startedAt);
    } else await report?.finish([failureCase(error, SUITE)], FAILURE_SUMMARY, printed.text);
    throw error;
  }
  const ofCommand = commandResult(end, trial);
  const others = arrivals.results().filter((result) => arrivals.messages > 0 || !isOfPlan(result));
  const ofSnapshot = await snapshot?.conclude([...others, ofCommand], arrivals.unread);
  const results = [...others, ...(ofSnapshot === undefined ? [] : [ofSnapshot]), ofCommand];
  const ms = systemClock.now() - startedAt;
  display.conclude(results, arrivals, ms);
  await write(results, ms);
  if (io.signal.aborted) return interruptedCode(io) ?? ExitCode.negative;
  return results.every(({ isMet }) => isMet) ? ExitCode.ok : ExitCode.negative;
}

/** Whether a plan or schemas are met. Without a message, they have checked nothing, and the count of requests is not met. */
function isOfPlan({ expectation, isMet }: ExpectationResult): boolean {
  return isMet && (expectation === 'plan' || expectation === 'schema');
}

interface Trial {
  readonly options: ExpectOptions;
  readonly io: Io;
  readonly signatures: ReceiverChecks;
  /** The receiver's TLS certificate. Undefined for plain HTTP. */
  readonly certificate: ServerCertificate | undefined;
  readonly arrivals: ArrivalCheck;
  /** Aborted when no further request can improve the result of `hooks expect`. */
  readonly complete: AbortController;
  readonly display: ExpectOutput;
  /** The end of the output of the started command, for the report. */
  readonly printed: OutputTail;
  readonly startedAt: number;
}

function receiverOf(trial: Trial, script: ReturnType<typeof parseScript>): Promise<Receiver> {
  const { io, display, signatures, certificate } = trial;
  return startReceiver({
    certificate,
    ...signatures,
    script,
    onRequest: (request) => {
      trial.arrivals.add(request);
      trial.display.show(request);
      if (trial.arrivals.isOver) trial.complete.abort();
    },
    onPreflight: () => (trial.arrivals.preflights += 1),
    drained: io.drained,
    onRefused: (rejection) => {
      trial.arrivals.addRejection(rejection);
      display.rejected(rejection);
    },
  });
}

/**
 * Runs COMMAND until it ends and the expected requests arrive or no more come, for `--within` at most. Then stops all its
 * processes.
 */
async function runCommand(
  command: readonly string[],
  receiver: Receiver,
  trial: Trial,
): Promise<CommandEnd | undefined> {
  const { io, options, arrivals } = trial;
  const { secrets } = trial.signatures;
  const [secret] = secrets;
  let running: RunningCommand | undefined;
  let trust: TrustFiles | undefined;
  try {
    if (trial.certificate !== undefined) trust = writeTrustFiles(trial.certificate.cert, io);
    const given = { HOOKS_URL: receiver.url, ...(secret !== undefined && { HOOKS_SECRET: secret }) };
    const env = { ...io.env, ...trust?.env, ...given };
    running = await startCommand(command, {
      env,
      io,
      signal: io.signal,
      secrets,
      onLine: trial.printed.add,
    });
    await sleep(systemClock, options.within, AbortSignal.any([io.signal, aborting(running.exited)]));
    const { end } = running;
    if (isSuccess(end) && !arrivals.isOver) await lingerFor(receiver, trial);
    return end;
  } finally {
    await running?.stop();
    trust?.remove();
    // Closing reports the open requests, so it must end before the results are computed.
    await receiver.close();
  }
}

/** Waits for requests of processes that COMMAND left behind: until no connection has been open for `--linger`. */
async function lingerFor(receiver: Receiver, trial: Trial): Promise<void> {
  const { linger, within } = trial.options;
  const endedAt = systemClock.now();
  const lastAt = trial.startedAt + within;
  const signal = AbortSignal.any([trial.io.signal, trial.complete.signal]);
  trial.display.waits(Math.min(linger, lastAt - endedAt));
  while (!signal.aborted) {
    const now = systemClock.now();
    const quietAt = Math.max(endedAt, receiver.idleSince ?? now) + linger;
    const leftMs = Math.min(quietAt, lastAt) - now;
    if (leftMs <= 0) return;
    await sleep(systemClock, leftMs, signal);
  }
}

function aborting(promise: Promise<unknown>): AbortSignal {
  const controller = new AbortController();
  void promise.then(() => controller.abort());
  return controller.signal;
}

function isSuccess(end: CommandEnd | undefined): boolean {
  return end !== undefined && 'code' in end && end.code === 0;
}

function commandResult(
  end: CommandEnd | undefined,
  { io, options }: Pick<Trial, 'io' | 'options'>,
): ExpectationResult {
  const isMet = isSuccess(end);
  const expectation = 'command';
  if (end !== undefined) return { expectation, isMet, said: `COMMAND ${describeEnd(end)}` };
  const said = io.signal.aborted
    ? 'COMMAND was stopped, because hooks expect was interrupted'
    : `COMMAND had not ended after ${formatDuration(options.within)}, and was stopped`;
  return { expectation, isMet, said };
}
