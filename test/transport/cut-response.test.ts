import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { listening } from '../answers/counterparts.ts';
import { newTransport, requestTo, sendTo } from './sending.ts';

it('holds a request until it is released', async () => {
  let received = '';
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        received += chunk.toString();
        if (received.endsWith('{}')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
  });
  const { port, close } = await listening(server);
  onTestFinished(close);
  const held = await new Promise<{ release: () => void; result: Promise<object> }>((resolve) => {
    const hold = (release: () => void): void => void setImmediate(() => resolve({ release, result }));
    const result = sendTo(`http://127.0.0.1:${port}/`, { hold });
  });
  const other = sendTo(`http://127.0.0.1:${port}/`);
  expect(await other).toMatchObject({ status: 200 });
  expect(received.split('POST').length - 1).toBe(1);
  held.release();
  expect(await held.result).toMatchObject({ status: 200 });
});

it('destroys the connection at the first byte of a response, after the request has arrived', async () => {
  const sockets: Socket[] = [];
  let received = '';
  const server = createServer((socket) => {
    sockets.push(socket);
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        received += chunk.toString();
        // Only one byte: the sender continues only when the connection ends.
        if (received.endsWith('{}')) socket.write('H');
      });
  });
  const { port, close } = await listening(server);
  onTestFinished(close);
  const request = requestTo(`http://127.0.0.1:${port}/`, { cutsResponse: true });
  const result = await newTransport().send(request);
  expect(result).toMatchObject({ kind: 'failure', error: 'aborted', detail: expect.stringContaining('cut') });
  const [socket] = sockets;
  if (socket !== undefined && !socket.closed) await once(socket, 'close');
  expect([sockets.length, socket?.destroyed]).toEqual([1, true]);
  expect(received).toContain('POST / HTTP/1.1');
});
