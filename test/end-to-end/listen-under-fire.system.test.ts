// Measures memory: of a listener under hundreds of megabytes and connections.
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RawConnection } from '../receiver/raw-connection.ts';
import { peakMemory } from './delivering.ts';
import { listening } from './listening.ts';

/** Limit for a command that listens, which takes about 80 MB. */
const MEMORY_MB = 200;
const MB = 1024 * 1024;

async function connections(count: number, port: number, bytes: string): Promise<RawConnection[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => RawConnection.open(port)));
  onTestFinished(() => opened.forEach(({ socket }) => socket.destroy()));
  for (const connection of opened) connection.write(bytes);
  return opened;
}

function post(body: string): string {
  return `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

describe('hooks listen', () => {
  it('serves requests beside hundreds of silent or incomplete connections, and ends immediately with all of them open', async () => {
    const { stop, url, port } = await listening();
    await connections(100, port, '');
    await connections(100, port, 'POST / HTTP/1.1\r\nHost: a\r\nX-Slow: ');
    await connections(100, port, post('{"type":"track"}').slice(0, -1));
    for (let count = 0; count < 3; count++) {
      expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(200);
    }
    const { code, stdout, stderr } = await stop();
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n')).toHaveLength(4);
    expect(stderr).toContain('Stopped after 3 requests');
  });

  it('rejects large bodies without keeping them in memory', async () => {
    const peak = await peakMemory();
    const { stop, url } = await listening([], { env: peak.env });
    const body = new Uint8Array(64 * MB);
    const statuses = await Promise.all(
      Array.from({ length: 4 }, async () => (await fetch(url, { method: 'POST', body })).status),
    );
    expect(statuses).toEqual([413, 413, 413, 413]);
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(200);
    const { code } = await stop();
    expect(code).toBe(0);
    expect(await peak.mb()).toBeLessThan(MEMORY_MB);
  });

  it('survives connections that do not speak HTTP', async () => {
    const { stop, url, port } = await listening();
    const garbage = [
      '\0\0\0\0',
      'GET',
      '\u0016\u0003\u0001\u0002\u0000',
      'POST / HTTP/9.9\r\n\r\n',
      `POST / HTTP/1.1\r\n${'a'.repeat(1e6)}`,
    ];
    for (const bytes of garbage) {
      // Ends the connection, so that the receiver does not wait for more.
      for (const { socket } of await connections(20, port, bytes)) socket.end();
    }
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(200);
    const { code, stderr } = await stop();
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Rejected/m);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it('does not buffer responses that their sender never reads', async () => {
    const peak = await peakMemory();
    const { stop, url, port } = await listening(['-q', '--respond', `200@x-long="${'a'.repeat(8_000)}"`], {
      env: peak.env,
    });
    const deaf = await RawConnection.open(port);
    onTestFinished(() => void deaf.socket.destroy());
    deaf.socket.pause();
    // 400 MB of responses. Stops writing while hooks does not read.
    const requests = post('{}').repeat(1_000);
    for (let count = 0; count < 50; count++) {
      if (!deaf.socket.write(requests)) {
        await Promise.race([once(deaf.socket, 'drain'), fetch(url, { method: 'POST', body: '{}' })]);
      }
    }
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(200);
    expect((await stop()).code).toBe(0);
    expect(await peak.mb()).toBeLessThan(MEMORY_MB);
  });
});
