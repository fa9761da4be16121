import { resolve } from 'node:path';
import { HooksError } from '../errors.ts';
import { CaptureFolder } from '../receiver/capture-folder.ts';
import { describeTally, Expectation, type Tally } from '../receiver/expectation.ts';
import type { Refusal } from '../receiver/options.ts';
import type { ReceivedRequest } from '../receiver/received-request.ts';
import { startReceiver, type Receiver } from '../receiver/receiver.ts';
import { parseScript } from '../receiver/script.ts';
import { printable } from '../redact.ts';
import type { GlobalOptions } from './command.ts';
import { ExitCode, interruptedCode } from './exit-code.ts';
import type { Io } from './io.ts';
import { jsonLine } from './result/json-line.ts';
import { receivedJson, receivedText } from './result/received-line.ts';
import { commandSecrets, type SecretFlags } from './signature/secret-flags.ts';

export interface ListenOptions extends GlobalOptions, SecretFlags {
  readonly port: number;
  readonly host: string;
  readonly respond?: string;
  readonly requireSignature?: true;
  /** A folder. */
  readonly save?: string;
  readonly count?: number;
  /** Ms. */
  readonly untilIdle?: number;
  /** Ms. */
  readonly within?: number;
}

/** `hooks listen`: receives and shows until it is interrupted or what was expected is settled. */
export async function listen(options: ListenOptions, io: Io): Promise<ExitCode> {
  const secrets = await commandSecrets(options, io);
  const display = new Display(options, io);
  const expectation = expectationOf(options, secrets);
  try {
    const receiver = await startReceiver({
      host: options.host,
      port: options.port,
      secrets,
      script: options.respond === undefined ? [] : parseScript(options.respond),
      requireSignature: options.requireSignature ?? false,
      onRequest: (request) => {
        display.show(request);
        expectation.add(request);
      },
      onRefused: (refusal) => display.refused(refusal),
    });
    display.ready(receiver, secrets);
    await aborted(AbortSignal.any([io.signal, expectation.over]));
    // Reports what is still held, so the expectation is judged after it.
    await receiver.close();
  } finally {
    expectation.close();
  }
  return conclude(expectation, display, io);
}

function expectationOf({ count, untilIdle, within }: ListenOptions, secrets: readonly string[]): Expectation {
  return new Expectation({
    ...(count === undefined ? undefined : { count }),
    ...(untilIdle === undefined ? undefined : { untilIdleMs: untilIdle }),
    ...(within === undefined ? undefined : { withinMs: within }),
    signed: secrets.length > 0,
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolved) => {
    signal.addEventListener('abort', () => resolved(), { once: true });
  });
}

function conclude(expectation: Expectation, display: Display, io: Io): ExitCode {
  const { tally, over, isPlain } = expectation;
  display.remark(`Stopped after ${describeTally(tally)}`);
  const saved = display.unsaved === 0 ? ExitCode.ok : ExitCode.negative;
  if (isPlain) return saved;
  const missing = expectation.missing();
  if (over.aborted && missing === undefined) return saved;
  if (io.signal.reason === 'closed-pipe') return ExitCode.negative;
  if (missing !== undefined) display.failed(missing, wayOut(tally));
  return over.aborted ? ExitCode.negative : (interruptedCode(io) ?? ExitCode.negative);
}

function wayOut({ requests, counted }: Tally): string {
  if (requests === 0) return 'post to the URL above before the time is over; --within 5m waits longer';
  if (requests === counted) return 'what came was good, but too little of it: send more, or wait longer';
  return 'the lines above say what is wrong with each that came';
}

/** What a person or a program sees of it, and what is kept. */
class Display {
  readonly #options: ListenOptions;
  readonly #io: Io;
  readonly #folder: CaptureFolder | undefined;
  /** Requests that could not be saved. */
  unsaved = 0;

  constructor(options: ListenOptions, io: Io) {
    this.#options = options;
    this.#io = io;
    this.#folder = options.save === undefined ? undefined : new CaptureFolder(resolve(io.cwd, options.save));
  }

  ready({ url }: Receiver, secrets: readonly string[]): void {
    if (this.#options.output === 'json') this.#io.out(jsonLine({ ready: true, url }));
    else this.#io.out(`Listening on ${this.#io.color.bold(url)}\n`);
    if (secrets.length === 0)
      this.remark('Signatures are not checked: no secret given (--secret, HOOKS_SECRET)');
    if (this.#options.output === 'text') this.remark(`Try: ${this.#nextCommand(url, secrets)}`);
  }

  show(request: ReceivedRequest): void {
    const withBody = this.#options.verbose === true;
    const file = this.#save(request);
    const { color } = this.#io;
    this.#io.out(
      this.#options.output === 'json'
        ? receivedJson(request, { file, withBody })
        : receivedText(request, { file, withBody, color }),
    );
  }

  refused({ status, reason }: Refusal): void {
    this.remark(`Refused${status === undefined ? '' : ` with ${status}`}: ${printable(reason)}`);
  }

  failed(message: string, hint: string): void {
    const { errColor } = this.#io;
    this.#io.note(`${errColor.red('error:')} ${message}`);
    this.#io.note(`${errColor.dim('hint: ')} ${hint}`);
  }

  /** A line that nobody needs. */
  remark(line: string): void {
    if (this.#options.quiet !== true) this.#io.note(this.#io.errColor.dim(line));
  }

  /** A request that cannot be saved is shown all the same; the exit code tells. */
  #save(request: ReceivedRequest): string | undefined {
    try {
      return this.#folder?.save(request);
    } catch (error) {
      if (!(error instanceof HooksError)) throw error;
      this.unsaved += 1;
      this.failed(error.message, error.hint ?? '');
      return undefined;
    }
  }

  #nextCommand(url: string, secrets: readonly string[]): string {
    const [flag] = this.#options.secret ?? this.#options.secretFile ?? [];
    const file = flag !== undefined && 'file' in flag && flag.file !== '-' ? flag.file : undefined;
    const fromFile = file === undefined ? undefined : `--secret-file ${printable(file)}`;
    const secret = secrets.length === 0 ? '' : ` ${fromFile ?? '--secret "$HOOKS_SECRET"'}`;
    return `hooks send track --event Signup --url ${url}${secret}`;
  }
}
