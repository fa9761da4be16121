// Needs PostgreSQL, and to be root: the disk is a small one that is mounted.
import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { openServer } from '../../../src/stores/server/open-server.ts';
import { ServerQueue } from '../../../src/stores/server/queue/server-queue.ts';
import { startHooks } from '../../end-to-end/hooks.ts';
import { MAY_MOUNT, SmallDisk } from '../../failing-disk.ts';
import { newDelivery } from '../../queue/new-delivery.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { hasServer, startServer } from './servers.ts';

const COUNT = 300;
/** PostgreSQL takes some 60 MB before anything is in it. */
const DISK_BYTES = 120 * 1024 * 1024;
const BASIC = `Basic ${Buffer.from('k:').toString('base64')}`;

it.skipIf(!hasServer('postgres') || !MAY_MOUNT)(
  'a PostgreSQL whose disk is full when serve and worker start is waited for, and loses nothing',
  { timeout: 180_000 },
  async () => {
    const folder = temporaryFolder();
    // PostgreSQL, which never runs as root, comes to its own folder through it.
    chmodSync(folder, 0o755);
    const disk = new SmallDisk(join(folder, 'disk'), DISK_BYTES);
    onTestFinished(() => disk.remove());
    const running = await startServer('postgres', undefined, disk.path);
    onTestFinished(() => running.remove());
    const server = await openServer(running.url);
    const waiting = Array.from({ length: COUNT }, (_, number) =>
      newDelivery(`d${number}`, { body: Buffer.from(JSON.stringify({ messageId: `d${number}` })) }),
    );
    await new ServerQueue({ server, clock: systemClock }).add(waiting);
    await server.close();
    disk.fill();

    const received = new Set<string>();
    const receiver = createServer((request, response) => {
      void json(request).then((body) => {
        received.add((body as { messageId: string }).messageId); // each has one
        return response.end();
      });
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    onTestFinished(() => void receiver.close());
    const { port } = receiver.address() as AddressInfo; // of a TCP server
    const cwd = temporaryFolder({
      '.hooksrc.yaml': `sources:\n  web:\n    writeKey: k\n    destinations:\n      Webhooks:\n        webhooks: [http://127.0.0.1:${port}/]\n        sharedSecret: s\n`,
    });
    const start = (...words: readonly string[]) =>
      startHooks([...words, '--store', running.url, '--allow-private'], { cwd, timeoutMs: 170_000 });
    const worker = start('worker');
    const serve = start('serve', '--no-deliver', '--port', '0', '-o', 'json');
    const saysWhy = (): boolean => /is full|cannot be reached/.test(worker.stderr());
    await until(saysWhy, 'the worker to say what is wrong', { seconds: 40 });
    await until(() => serve.stderr().includes('is full; waiting for it up to 60 s'), 'the line', {
      seconds: 40,
    });

    rmSync(join(disk.path, 'filler'));
    await running.start();
    const { url } = JSON.parse((await serve.lines.next()).value ?? '') as { url: string }; // as cli.md says
    const body = JSON.stringify({ userId: 'u', event: 'A', messageId: 'of a call' });
    const headers = { authorization: BASIC, 'content-type': 'application/json' };
    const { status } = await fetch(`${url}/v1/track`, { method: 'POST', headers, body });
    expect(status).toBe(200);
    await until(() => received.size === COUNT + 1, 'all to be delivered', { seconds: 60 });
    for (const each of [worker, serve]) expect(await each.stop()).toMatchObject({ code: 0 });
  },
);
