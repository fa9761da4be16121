import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Io } from '../../io.ts';

/** What Ctrl-C, Ctrl-Z and Ctrl-\ write to a terminal in raw mode, where they no longer send a signal by themselves. */
const [INTERRUPT, SUSPEND, QUIT] = ['\u0003', '\u001a', '\u001c'];

/**
 * Reads keys from a terminal until it is closed or the command is stopped. The keys that send a signal everywhere else do so
 * here, too, and the terminal is itself again before they do: the shell that is next would neither echo nor break lines.
 */
export class TerminalKeys {
  readonly #io: Io;
  readonly #onInput: (text: string) => void;
  /** Called when keys are first read: at once, or when the command comes to the front. */
  #onReady: (() => void) | undefined;
  #isRaw = false;
  /** Looks whether a process in the background has come to the front. */
  #looking: NodeJS.Timeout | undefined;

  /** Undefined where there is no terminal to read keys from: a pipe, or Windows. */
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
    // Before a second signal, which ends the process at once.
    io.signal.addEventListener('abort', this.close, { once: true });
    this.#enter();
  }

  close = (): void => {
    const { stdin, signal } = this.#io;
    clearTimeout(this.#looking);
    this.#leave();
    stdin.off('data', this.#read);
    process.off('SIGCONT', this.#enter);
    signal.removeEventListener('abort', this.close);
  };

  /** A background process that changes a terminal or reads from it is stopped. */
  #enter = (): void => {
    clearTimeout(this.#looking);
    if (!isForeground(this.#io)) {
      // `fg` tells nothing to a process that `bg` has continued.
      this.#looking = setTimeout(this.#enter, LOOK_MS).unref();
      return;
    }
    const { stdin } = this.#io;
    // A shell has set the terminal meanwhile, of which Node knows nothing.
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

  /** Does what the terminal does: the signal goes to the whole process group, such as `npx` that waits for this one. */
  #signal(name: NodeJS.Signals): void {
    this.#leave();
    this.#io.signalGroup(name);
    // Goes on here after `fg`; or at once, when there is no shell that could continue it.
    if (name === 'SIGTSTP') this.#enter();
  }
}

const LOOK_MS = 500;

/** What arrow keys and the like write. */
// eslint-disable-next-line no-control-regex -- they begin with a control character
const ESCAPE_SEQUENCES = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|O.)/g;

/** Whether the terminal listens to this process: it is not, or no longer, in the background. */
function isForeground({ stdinFd }: Io): boolean {
  // A stream without a descriptor belongs to the program that made it.
  if (stdinFd === undefined) return true;
  try {
    const [group, ofTerminal] = process.platform === 'linux' ? groupsOfLinux() : groupsByPs();
    return group !== undefined && group === ofTerminal;
  } catch {
    return false;
  }
}

/** proc(5): after the name, which may contain anything, come state, ppid, pgrp, session, tty and tpgid. */
function groupsOfLinux(): readonly (string | undefined)[] {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const [, , group, , , ofTerminal] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [group, ofTerminal];
}

function groupsByPs(): readonly string[] {
  const args = ['-o', 'pgid=,tpgid=', '-p', String(process.pid)];
  return execFileSync('ps', args, { encoding: 'utf8' }).trim().split(/\s+/);
}
