import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Io } from '../../io.ts';

/** Characters of Ctrl-C, Ctrl-Z and Ctrl-\ on a terminal in raw mode, which does not send signals for these keys. */
const [INTERRUPT, SUSPEND, QUIT] = ['\u0003', '\u001a', '\u001c'];

/**
 * Reads keys from a terminal until closed, or until the command is stopped. On Ctrl-C, Ctrl-Z and Ctrl-\, leaves raw mode
 * and then sends the signal of the key: in raw mode, the next shell would neither echo input nor break lines.
 */
export class TerminalKeys {
  readonly #io: Io;
  readonly #onInput: (text: string) => void;
  /** Called when keys are first read: immediately, or when the process moves to the foreground. */
  #onReady: (() => void) | undefined;
  #isRaw = false;
  /** Timer that polls whether a background process has moved to the foreground. */
  #polling: NodeJS.Timeout | undefined;

  /** Starts to read keys. Undefined if stdin, stdout or stderr is not a terminal. */
  static open(io: Io, onInput: (text: string) => void, onReady: () => void): TerminalKeys | undefined {
    const { stdin, stdoutIsTty, stderrIsTty } = io;
    const isTerminal = stdin.setRawMode !== undefined && stdoutIsTty && stderrIsTty;
    return isTerminal ? new TerminalKeys(io, onInput, onReady) : undefined;
  }

  private constructor(io: Io, onInput: (text: string) => void, onReady: () => void) {
    this.#io = io;
    this.#onInput = onInput;
    this.#onReady = onReady;
    io.stdin.setEncoding('utf8');
    process.on('SIGCONT', this.#enter);
    // Restores the terminal before a second signal, which ends the process immediately.
    io.signal.addEventListener('abort', this.close, { once: true });
    this.#enter();
  }

  close = (): void => {
    const { stdin, signal } = this.#io;
    clearTimeout(this.#polling);
    this.#leave();
    stdin.off('data', this.#read);
    process.off('SIGCONT', this.#enter);
    signal.removeEventListener('abort', this.close);
  };

  /** Enters raw mode, but only in the foreground: a background process that changes or reads a terminal is stopped. */
  #enter = (): void => {
    clearTimeout(this.#polling);
    if (!isForeground(this.#io)) {
      // Polls, because `fg` sends no signal to a process that `bg` has continued.
      this.#polling = setTimeout(this.#enter, POLL_MS).unref();
      return;
    }
    const { stdin } = this.#io;
    // Leaves raw mode first: a shell may have changed the terminal, and Node ignores a request for the mode it set last.
    if (this.#isRaw) stdin.setRawMode?.(false);
    stdin.setRawMode?.(true);
    this.#isRaw = true;
    stdin.off('data', this.#read).on('data', this.#read).resume();
    this.#onReady?.();
    this.#onReady = undefined;
  };

  #leave(): void {
    const { stdin } = this.#io;
    stdin.pause();
    if (this.#isRaw) stdin.setRawMode?.(false);
    this.#isRaw = false;
  }

  #read = (chunk: string): void => {
    if (chunk.includes(INTERRUPT)) return this.#signal('SIGINT');
    if (chunk.includes(QUIT)) return this.#signal('SIGQUIT');
    if (chunk.includes(SUSPEND)) return this.#signal('SIGTSTP');
    const text = chunk.replaceAll(ESCAPE_SEQUENCES, '');
    if (text !== '') this.#onInput(text);
  };

  /** Sends a signal to the whole process group, like a terminal, because a parent such as `npx` must get it too. */
  #signal(name: NodeJS.Signals): void {
    this.#leave();
    this.#io.signalGroup(name);
    // Reads keys again. Runs after `fg`, or immediately if no shell could continue the process.
    if (name === 'SIGTSTP') this.#enter();
  }
}

const POLL_MS = 500;

/** Escape sequences of arrow keys and other special keys. */
// eslint-disable-next-line no-control-regex -- they begin with a control character
const ESCAPE_SEQUENCES = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O.)/g;

/** Whether this process is in the foreground of the terminal. */
function isForeground({ stdinFd }: Io): boolean {
  // A stdin without a descriptor is a stream that a program made, so this process is not in the background of a terminal.
  if (stdinFd === undefined) return true;
  try {
    const [group, ofTerminal] = process.platform === 'linux' ? groupsOfLinux() : groupsByPs();
    return group !== undefined && group === ofTerminal;
  } catch {
    return false;
  }
}

/**
 * Reads the process groups of this process and of its terminal. In /proc/self/stat, both groups follow the process name,
 * which can hold `)`.
 */
function groupsOfLinux(): readonly (string | undefined)[] {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const [, , group, , , ofTerminal] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [group, ofTerminal];
}

function groupsByPs(): readonly string[] {
  const args = ['-o', 'pgid=,tpgid=', '-p', String(process.pid)];
  return execFileSync('ps', args, { encoding: 'utf8' }).trim().split(/\s+/);
}
