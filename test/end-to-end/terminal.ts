import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { BINARY, inherited } from './hooks.ts';

/** Runs a command on a pseudo-terminal. Each step is a text to wait for and a text to type then. Prints the exit code last. */
const ON_A_TERMINAL = `
import fcntl, json, os, pty, select, struct, sys, termios, time
steps, argv, env, cwd = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    os.chdir(cwd)
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 120, 0, 0))
    os.execvpe(argv[0], argv, env)
shown, until = b'', time.time() + 20
while time.time() < until:
    if steps and steps[0][0].encode() in shown:
        shown = b''
        os.write(fd, steps.pop(0)[1].encode())
    if not select.select([fd], [], [], 0.05)[0]:
        continue
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    shown += part
    sys.stdout.buffer.write(part)
if time.time() >= until:
    os.kill(pid, 9)
sys.stdout.write('\\nexit ' + str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))
`;

interface OnTerminal {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Texts to wait for, each with what to type then. */
  readonly steps: readonly (readonly [shown: string, typed: string])[];
}

/** Runs the built binary at a real terminal. Returns all that it shows there. */
export function onTerminal(args: readonly string[], options: OnTerminal): Promise<Shown> {
  return atTerminal([process.execPath, BINARY, ...args], options);
}

export interface Shown {
  readonly code: number;
  readonly shown: string;
}

/** Runs any program at a real terminal, which python3 opens. */
export async function atTerminal(
  argv: readonly string[],
  { cwd, env = {}, steps }: OnTerminal,
): Promise<Shown> {
  const given = [steps, argv, { ...inherited(), TERM: 'xterm', ...env }, cwd];
  const python = spawn('python3', ['-c', ON_A_TERMINAL, JSON.stringify(given)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 25_000,
  });
  const [shown] = await Promise.all([text(python.stdout), once(python, 'close')]);
  return { code: Number(/\nexit (-?\d+)$/.exec(shown)?.[1]), shown };
}
