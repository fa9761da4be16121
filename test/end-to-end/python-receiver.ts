import { spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./receivers/receiver.py', import.meta.url));

/** One POST as the Python receiver saw it. */
export interface PythonRequest {
  readonly type: string | null;
  readonly verdict: 'valid' | 'invalid' | 'unsigned' | 'unchecked';
  readonly path: string;
  readonly signature: string | null;
  readonly bodyBase64: string;
}

export interface PythonReceiver {
  readonly url: string;
  /** What has come so far, in order. */
  readonly requests: readonly PythonRequest[];
  /** Resolves with the first `count` once they are there; rejects after 10 s. */
  readonly first: (count: number) => Promise<readonly PythonRequest[]>;
  readonly close: () => Promise<void>;
}

/**
 * Why tests with a Python receiver are skipped, or undefined when they are not: python3 is missing, on somebody's own
 * machine. In CI it must be there, and the tests fail.
 */
export const PYTHON_MISSING = whyNoPython();

function whyNoPython(): string | undefined {
  if (process.env['CI'] || spawnSync('python3', ['--version']).status === 0) return undefined;
  return 'skipped: python3 is not installed';
}

/** Starts receiver.py on a free port. Without a secret it checks nothing. */
export async function startPythonReceiver({
  secret,
}: { readonly secret?: string } = {}): Promise<PythonReceiver> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn('python3', [SCRIPT], {
    env: { PATH, HOME, ...(secret === undefined ? undefined : { RECEIVER_SECRET: secret }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout);
  const [ready] = (await once(lines, 'line', { signal: AbortSignal.timeout(10_000) })) as [string];
  const { port } = JSON.parse(ready) as { port: number };
  const requests: PythonRequest[] = [];
  const arrivals = new EventEmitter();
  lines.on('line', (line) => {
    requests.push(JSON.parse(line) as PythonRequest);
    arrivals.emit('request');
  });
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    first: async (count) => {
      const signal = AbortSignal.timeout(10_000);
      while (requests.length < count) await once(arrivals, 'request', { signal });
      return requests.slice(0, count);
    },
    close: async () => {
      const ended = once(child, 'close');
      child.kill();
      await ended;
    },
  };
}
