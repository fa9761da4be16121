import { HooksError, InputError } from '../../../../errors.ts';
import type { Subject } from '../../../../idempotence/prove.ts';
import type { RunningCommand } from '../../../child/child.ts';
import type { Io } from '../../../io.ts';
import {
  rejectTakenPort,
  startReceiverCommand,
  whyGone,
  type StartReceiverOptions,
} from '../started-receiver.ts';
import { runReset, type StateCommandOptions } from '../../../child/state-commands.ts';

interface ReceiverControlOptions {
  /** How to start the receiver. The command is empty if the receiver runs already. */
  readonly start: Omit<StartReceiverOptions, 'onLine' | 'graceMs' | 'io'>;
  /** The command of `--reset`. */
  readonly reset: string | undefined;
  readonly commands: StateCommandOptions;
  /** Shows all output of the receiver instead of the first lines of its first start. */
  readonly isVerbose: boolean;
  readonly io: Io;
}

/** Time that the receiver gets to stop between schedules before it is killed. */
const GRACE_MS = 1_000;
/** Lines of output that are shown after the first start. A receiver that fails at each request would print pages. */
const SHOWN_LINES = 10;
/** Number of last lines of the receiver's output to show if the receiver ends or accepts no message. */
const KEPT_LINES = 20;

/** Starts, stops, kills and resets the receiver. No process of the receiver is left after `stop`. */
export class ReceiverControl implements Pick<Subject, 'reset' | 'kill' | 'revive' | 'gone'> {
  readonly #options: ReceiverControlOptions;
  #started: RunningCommand | undefined;
  #starts = 0;
  /** The last lines of the receiver's output that were not shown. */
  #kept: string[] = [];
  /**
   * Number of lines that the receiver wrote since its last start and that were neither shown nor kept, beyond KEPT_LINES.
   */
  #leftOut = 0;
  /**
   * Whether the reset command needs a running receiver (`curl …/reset`) or not (`rm app.db`). Undefined until a reset
   * worked.
   */
  #resetsWhileRunning: boolean | undefined;

  constructor(options: ReceiverControlOptions) {
    this.#options = options;
  }

  readonly reset = async (): Promise<void> => {
    const { start, reset, commands } = this.#options;
    if (start.command.length === 0) {
      if (reset !== undefined) await runReset(reset, commands);
      return;
    }
    await this.stop();
    // Rejects a port that another program uses: `curl -X POST …/reset` would delete that program's data.
    if (reset !== undefined) await rejectTakenPort(start.url);
    const isReset =
      reset === undefined || (this.#resetsWhileRunning !== true && (await this.#tryReset(reset)));
    await this.#startOrShow();
    if (isReset) return;
    await runReset(reset, commands);
    this.#resetsWhileRunning = true;
  };

  get kill(): Subject['kill'] {
    const { start, reset } = this.#options;
    return start.command.length === 0 || reset === undefined ? undefined : this.#kill;
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

  readonly gone = (): string | undefined => this.#started && whyGone(this.#started);

  /** Prints the last lines of the receiver's output that were not shown. */
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

  async stop(): Promise<void> {
    const started = this.#started;
    this.#started = undefined;
    await started?.stop();
  }

  async #start(): Promise<void> {
    const { start, isVerbose, io } = this.#options;
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
      ...start,
      graceMs: GRACE_MS,
      io: { ...io, verbatim: { ...io.verbatim, note: keep } },
    });
  }

  /** Starts the receiver. Prints its last output if it does not start. */
  async #startOrShow(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      this.showKept();
      throw error;
    }
  }

  /** Tries the reset while the receiver is stopped. Returns false if the command may need a running receiver. */
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
