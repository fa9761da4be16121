import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import type { ConnectionOptions, TransportResult } from '../../src/transport/transport.ts';

/** Runs the transport in its own process, to test how a process starts and ends. */
export interface SendingProgram {
  /** Sends one request. With `leavesOpen`, the process ends without close(). */
  send(
    request: { readonly url: string; readonly connection?: ConnectionOptions; readonly leavesOpen?: boolean },
    env: Readonly<Record<string, string>>,
  ): Promise<{ readonly result: TransportResult; readonly stderr: string }>;
  remove(): Promise<void>;
}

const MAIN = `
import { createUndiciTransport } from './undici-transport.js';
const { leavesOpen, ...request } = JSON.parse(process.argv[2]);
const transport = createUndiciTransport({ proxyEnv: process.env, maxIdleMs: 60_000 });
const result = await transport.send({ ...request, headers: ['x-a', 'b'], body: Buffer.from('{}'), timeoutMs: 60_000 });
process.stdout.write(JSON.stringify(result));
if (!leavesOpen) await transport.close();
`;

const run = promisify(execFile);

export async function makeSendingProgram(): Promise<SendingProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'hooks-sending-'));
  const source = fileURLToPath(new URL('../../src/transport/undici-transport.ts', import.meta.url));
  const bundle = await rolldown({ input: source, platform: 'node', logLevel: 'silent' });
  await bundle.write({ dir: folder, format: 'esm' });
  const main = join(folder, 'main.js');
  await writeFile(main, MAIN);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  return {
    async send(request, env) {
      const program = [main, JSON.stringify(request)];
      // Less than the timeout of the attempt: a leftover timer fails the test.
      const { stdout, stderr } = await run(process.execPath, program, { env, timeout: 20_000 });
      return { result: JSON.parse(stdout) as TransportResult, stderr }; // What MAIN writes.
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
