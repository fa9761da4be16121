import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { TransportResult } from '../../src/transport/transport.ts';
import {
  answersBytes,
  answersOk,
  dripsBody,
  endless,
  endlessBody,
  receiver,
  type HostileReceiver,
} from '../hostile-receivers.ts';
import { randomFrom } from '../random.ts';
import { collectUncaught } from '../uncaught.ts';
import { until } from '../until.ts';
import { newTransport, requestTo, sendTo, started } from './sending.ts';

/** Bytes that the system accepts from a sender before anyone reads them: the buffers of both sides. */
const BUFFERS_BYTES = 12_000_000;
/** Far from the time of an attempt that times out, and from the time of the others on a busy machine. */
const SOON_MS = 15_000;

describe('a response of any status', () => {
  it('ends its attempt soon, by its status or as `protocol`', async () => {
    let status = -1;
    const digits = (): string => String(status).padStart(3, '0');
    const { url } = await started(
      receiver((socket) => {
        const final = status > 101 && status < 200 ? 'HTTP/1.1 204 Done\r\n\r\n' : '';
        socket.write(`HTTP/1.1 ${digits()} X\r\nContent-Length: 0\r\n\r\n${final}`);
      }),
    );
    const transport = newTransport();
    const slow: string[] = [];
    const outcomes = new Map<string, string[]>();
    for (status = 0; status < 1_000; status++) {
      const startedAt = performance.now();
      const outcome = outcomeOf(await transport.send(requestTo(url, { timeoutMs: 30_000 })));
      if (performance.now() - startedAt > SOON_MS) slow.push(digits());
      const group = outcome === digits() ? 'its status' : outcome;
      outcomes.set(group, [...(outcomes.get(group) ?? []), digits()]);
    }
    expect(slow).toEqual([]);
    expect(outcomes.get('protocol')).toEqual(range(0, 101));
    expect(outcomes.get('204')).toEqual(range(102, 199));
    expect(outcomes.get('its status')).toEqual(range(200, 999));
  });

  it.each([
    ['000', '', 'the response has no HTTP status: 000'],
    ['099', 'Content-Length: 2\r\n', 'the response has no HTTP status: 099'],
    ['099', 'Connection: close\r\n', 'the response has no HTTP status: 099'],
    ['101', '', 'the response switches to another protocol, which the request did not ask for'],
    ['101', 'Connection: close\r\n', 'the response switches to another protocol'],
  ])('%s with "%s" is explained', async (status, headers, detail) => {
    const { url } = await started(answersBytes(`HTTP/1.1 ${status} X\r\n${headers}\r\nok`));
    const result = await sendTo(url);
    expect(result).toMatchObject({ error: 'protocol', detail: expect.stringContaining(detail) });
  });
});

function outcomeOf(result: TransportResult): string {
  return result.kind === 'response' ? String(result.status) : result.error;
}

function range(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => String(from + index).padStart(3, '0'));
}

describe('a response without an end', () => {
  it.each([
    ['a reason phrase', 'HTTP/1.1 200 ', 'so it is said'],
    ['interim responses', '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
    ['white space before it', '', '\r\n'],
  ])('of %s is cut at 64 KiB', async (_, head, piece) => {
    const hostile = await started(endless(head, piece));
    const result = await sendTo(hostile.url, { timeoutMs: 30_000 });
    expect(result).toMatchObject({
      error: 'protocol',
      detail: 'the response has more than 64 KiB besides its body',
    });
    await expectCut(hostile);
  });

  it.each([
    [200, ''],
    [500, 'ok'],
  ])('of chunk extensions after %i is cut at 64 KiB, and its status counts', async (status, body) => {
    const head = `HTTP/1.1 ${status} X\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1;x=`;
    const hostile = await started(endless(head, 'so-it-is-said'));
    const result = await sendTo(hostile.url, { timeoutMs: 30_000 });
    expect(result).toMatchObject({ kind: 'response', status, ...(body !== '' && { body }) });
    await expectCut(hostile);
  });

  it('differs from a large body, whole or in small chunks', async () => {
    const body = 'x'.repeat(300_000);
    const whole = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const chunks = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`;
    const transport = newTransport();
    for (const [bytes, length] of [
      [whole, 300_000],
      [chunks, 10_000],
    ] as const) {
      const receiving = await started(answersBytes(bytes));
      for (let time = 0; time < 3; time++) {
        const result = await transport.send(requestTo(receiving.url, { responseBytes: 400_000 }));
        expect(result).toMatchObject({ status: 200, body: 'x'.repeat(length), reconnected: false });
      }
      expect(receiving.connections).toBe(1);
    }
  });
});

async function expectCut(hostile: HostileReceiver): Promise<void> {
  await until(() => hostile.openConnections === 0, 'the connection to be closed', { seconds: 5 });
  expect(hostile.bytesWritten).toBeLessThan(BUFFERS_BYTES);
}

describe('a response of another version', () => {
  it.each(['HTTP/2.0 200 OK', 'HTTP/0.9 200 OK', 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/2.0 200 OK'])(
    'that begins with %j is a protocol error, however it arrives',
    async (head) => {
      const bytes = `${head}\r\nContent-Length: 2\r\n\r\nok`;
      const hostile = [await started(answersBytes(bytes)), await started(arrivesByteByByte(bytes))];
      for (const { url } of hostile) {
        expect(await sendTo(url)).toMatchObject({ error: 'protocol' });
      }
    },
  );
});

describe('a requested body that is cut', () => {
  it.each([
    ['has no end', () => endlessBody(500), 'length'],
    ['drips', () => dripsBody(500), 'timeout'],
  ])('is reported when it %s', async (_how, start, bodyCutBy) => {
    const { url } = await started(start());
    const result = await sendTo(url, { timeoutMs: 30_000, responseBytes: 1_000, responseMs: 50 });
    expect(result).toMatchObject({ status: 500, bodyCutBy });
  });
});

describe('a carriage return without a line feed', () => {
  it.each([
    ['after the status line', 'HTTP/1.1 200 OK\r\rContent-Length: 2\r\n\r\nok'],
    ['in the reason phrase', 'HTTP/1.1 200 O\rK\r\nContent-Length: 2\r\n\r\nok'],
    ['after a header', 'HTTP/1.1 200 OK\r\nX: y\r\rContent-Length: 2\r\n\r\nok'],
    ['at the end of the headers', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\rok'],
    ['after an interim response', 'HTTP/1.1 103 X\r\n\r\nHTTP/1.1 200 OK\r\rContent-Length: 2\r\n\r\nok'],
  ])('%s is a protocol error, however it arrives', async (_, bytes) => {
    const hostile = [await started(answersBytes(bytes)), await started(arrivesByteByByte(bytes))];
    for (const { url } of hostile) {
      expect(await sendTo(url)).toMatchObject({ error: 'protocol' });
    }
  });

  it('is allowed in a body', async () => {
    const { url } = await started(answersBytes('HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\na\r\rb'));
    expect(await sendTo(url)).toMatchObject({ status: 500, body: 'a\r\rb' });
  });
});

function arrivesByteByByte(bytes: string): Promise<HostileReceiver> {
  return receiver((socket) => {
    const left = bytes.split('');
    const next = (): void => {
      const byte = left.shift();
      if (byte !== undefined && !socket.destroyed) socket.write(byte, 'latin1', () => setImmediate(next));
    };
    next();
  });
}

const STATUSES = ['HTTP/1.1 ', '200 OK', '101 X', '000 X', '099 X', '100 C', '103 E', '204 N', '500 E'];
const MARKS = ['\r\n', '\r\n\r\n', '\r', '\n', '\0', ' ', ':'];
const HEADERS =
  'X:|X: y|Content-Length: 2|Transfer-Encoding: chunked|Connection: close|Upgrade: x|Trailer: X'.split('|');
const BODIES = ['0\r\n\r\n', '2;a=b\r\nok\r\n', '0\r\nX:\r\n\r\n', 'ok'];
const PIECES = [...STATUSES, ...MARKS, ...MARKS, ...HEADERS, ...BODIES];
const RESPONSES = [
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 500 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n0\r\nX: y\r\nZ:\r\n\r\n',
  'HTTP/1.1 103 E\r\nA: b\r\n\r\nHTTP/1.1 500 OK\r\nConnection: close\r\n\r\nbye',
  'HTTP/1.1 503 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\nbye',
  'HTTP/1.1 099 X\r\nConnection: close\r\n\r\n',
  'HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc',
];

describe('randomly broken responses', () => {
  it('throw nothing and fail no assertion', async () => {
    const uncaught = collectUncaught();
    const random = randomFrom(12);
    const { url } = await started(receiver((socket) => misbehave(socket, random)));
    const good = await started(answersOk());
    const transport = newTransport();
    const details = new Set<string>();
    const sendMany = async (): Promise<void> => {
      for (let sent = 0; sent < 40; sent++) {
        const result = await transport.send(requestTo(url, { timeoutMs: 200 }));
        if (result.kind === 'failure') details.add(result.detail);
      }
    };
    await Promise.all(Array.from({ length: 16 }, sendMany));
    expect(details).toContain('the response has no HTTP status: 099');
    expect(uncaught).toEqual([]);
    expect([...details].filter((detail) => /assert|undici/i.test(detail))).toEqual([]);
    expect(await transport.send(requestTo(good.url))).toMatchObject({ status: 200 });
  });
});

function misbehave(socket: Socket, random: () => number): void {
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] ?? '';
  let text = pick(RESPONSES);
  for (let changes = random() * 4; changes > 0; changes--) {
    const at = Math.floor(random() * text.length);
    text = text.slice(0, at) + pick(PIECES) + text.slice(at + Math.floor(random() * 8));
  }
  const cut = Math.floor(random() * text.length);
  socket.write(text.slice(0, cut), 'latin1');
  setImmediate(() => {
    if (!socket.destroyed) socket.write(text.slice(cut), 'latin1');
    if (random() < 0.4) socket.end();
  });
}
