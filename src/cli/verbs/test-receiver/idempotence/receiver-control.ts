import { HooksError, InputError } from '../../../../errors.ts';
import type { Subject } from '../../../../idempotence/prove.ts';
import type { Io } from '../../../io.ts';
import { rejectTakenPort, startReceiverCommand, type StartedReceiver } from '../started-receiver.ts';
import { runReset, type StateCommandOptions } from './state-commands.ts';

export interface ReceiverControlOptions {
  /** Program and arguments; empty when the receiver runs already. */
  readonly command: readonly string[];
  readonly url: URL;
  readonly secrets: readonly string[];
  readonly startTimeoutMs: number;
  /** The command of `--reset`. */
  readonly reset: string | undefined;
  readonly commands: StateCommandOptions;
  /** Whether all of the receiver's output is shown, not the beginning of the first time only. */
  readonly isVerbose: boolean;
  readonly isQuiet: boolean;
  readonly io: Io;
}

/** A receiver is stopped between schedules; one that does not stop soon is killed. */
const GRACE_MS = 1_000;
/** Lines of the receiver's output that are shown as they come, when it is started first: one that fails at each request prints pages. */
const SHOWN_LINES = 10;
/** The last lines that are kept for the case that it ends, or takes nothing. */
const KEPT_LINES = 20;

/** Starts, stops, kills and resets the receiver. Nothing of it is left after `close`. */
export class ReceiverControl implements Pick<Subject, 'reset' | 'kill' | 'revive' | 'gone'> {
  readonly #options: ReceiverControlOptions;
  #started: StartedReceiver | undefined;
  #starts = 0;
  /** The last output that was not shown. */
  #kept: string[] = [];
  /** Lines since the last start that are neither shown nor kept. */
  #leftOut = 0;
  /** A command like `curl …/reset` needs the receiver; one that deletes files rather not. */
  #resetsWhileRunning: boolean | undefined;

  constructor(options: ReceiverControlOptions) {
    this.#options = options;
  }

  readonly reset = async (): Promise<void> => {
    const { command, url, reset, commands } = this.#options;
    if (command.length === 0) {
      if (reset !== undefined) await runReset(reset, commands);
      return;
    }
    await this.#stop();
    // What another program keeps must not be deleted by `curl -X POST …/reset`.
    if (reset !== undefined) await rejectTakenPort(url);
    const isReset =
      reset === undefined || (this.#resetsWhileRunning !== true && (await this.#tryReset(reset)));
    await this.#startOrShow();
    if (isReset) return;
    await runReset(reset, commands);
    this.#resetsWhileRunning = true;
  };

  get kill(): Subject['kill'] {
    const { command, reset } = this.#options;
    return command.length === 0 || reset === undefined ? undefined : this.#kill;
  }

  readonly revive = async (): Promise<string | undefined> => {
    try {
      await this.#start();
      return undefined;
    } catch (error) {
      if (!(error instanceof HooksError)) throw error;
      return error.message;
    }
  };

  readonly gone = (): string | undefined => this.#started?.gone();

  /** Stops the receiver for good. */
  close(): Promise<void> {
    return this.#stop();
  }

  /** Shows the last output of the receiver that was not shown. */
  showKept(): void {
    const { note } = this.#options.io.verbatim;
    if (this.#leftOut > 0) note(`… ${this.#leftOut} lines of the receiver left out; -v shows all`);
    this.#leftOut = 0;
    for (const line of this.#kept.splice(0)) note(line);
  }

  readonly #kill = async (): Promise<void> => {
    const started = this.#started;
    this.#started = undefined;
    await started?.crash();
  };

  async #stop(): Promise<void> {
    const started = this.#started;
    this.#started = undefined;
    await started?.stop();
  }

  async #start(): Promise<void> {
    const { command, url, secrets, startTimeoutMs, isQuiet, isVerbose, io } = this.#options;
    let left = this.#starts === 0 ? SHOWN_LINES : 0;
    this.#starts++;
    [this.#kept, this.#leftOut] = [[], 0];
    const keep = (line: string): void => {
      if (isVerbose || left-- > 0) return io.verbatim.note(line);
      if (this.#kept.push(line) <= KEPT_LINES) return;
      this.#kept.shift();
      this.#leftOut++;
    };
    this.#started = await startReceiverCommand({
      command,
      url,
      secrets,
      startTimeoutMs,
      quiet: isQuiet,
      graceMs: GRACE_MS,
      io: { ...io, verbatim: { ...io.verbatim, note: keep } },
    });
  }

  /** Starts the receiver; when it does not start, its last output is shown. */
  async #startOrShow(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      this.showKept();
      throw error;
    }
  }

  /** Whether the reset worked while the receiver was stopped; it may need it. */
  async #tryReset(reset: string): Promise<boolean> {
    try {
      await runReset(reset, this.#options.commands);
      this.#resetsWhileRunning = false;
      return true;
    } catch (error) {
      if (this.#resetsWhileRunning === false || !(error instanceof InputError)) throw error;
      return false;
    }
  }
}
