import { join } from 'node:path';
import { expect } from 'vitest';
import { receiver, type HostileReceiver } from '../hostile-receivers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import type { AttemptLine } from './delivering.ts';

/** Every status of three digits. */
export const STATUSES = Array.from({ length: 1_000 }, (_, status) => String(status).padStart(3, '0'));
/** Limit for the duration of an attempt. An attempt without a response takes `TIMEOUT`, longer than on any busy machine. */
const MAX_MS = 15_000;
export const TIMEOUT = '30s';
export const WRITE_KEY = 'k';

export interface DestinationLine {
  readonly outcome: string;
  readonly attempts: readonly AttemptLine[];
}

/**
 * Responds with the status at the end of the path, or else in the name of the event, or with 200 to a request without a
 * body: programs of other tests ask neighboring ports which protocol they speak. 204 follows an interim status.
 */
export function answersAsAsked(): Promise<HostileReceiver> {
  return receiver((socket, { head, body }) => {
    const status = /\/(\d{3}) HTTP/.exec(head[0] ?? '')?.[1] ?? statusOf(body.toString());
    const final = status > '101' && status < '200' ? 'HTTP/1.1 204 Done\r\n\r\n' : '';
    socket.write(`HTTP/1.1 ${status} X\r\n${final === '' ? 'Content-Length: 0\r\n' : ''}\r\n${final}`);
  });
}

export function statusOf(body: string): string {
  if (body === '') return '200';
  return (JSON.parse(body) as { event: string }).event;
}

/** Returns a track for each status. Their users differ, so that they are sent concurrently. */
export function tracks(): { readonly messageId: string }[] {
  return STATUSES.map((status) => ({
    type: 'track',
    event: status,
    userId: `u${status}`,
    messageId: status,
    timestamp: '2026-11-20T21:10:05.123Z',
  }));
}

export function configOf(destinations: object): string {
  const config = { sources: { default: { writeKey: WRITE_KEY, destinations } } };
  return join(temporaryFolder({ 'hooks.json': JSON.stringify(config) }), 'hooks.json');
}

export function expectOnTime(results: readonly DestinationLine[], count: number): void {
  expect(results).toHaveLength(count);
  expect(results.filter(({ outcome }) => outcome !== 'delivered')).toEqual([]);
  expect(results.flatMap(({ attempts }) => attempts).filter(({ ms }) => ms > MAX_MS)).toEqual([]);
}

export function expectRightResults(attempts: ReadonlyMap<string, AttemptLine | undefined>): void {
  expect(attempts.size).toBe(1_000);
  const wrong = [...attempts].filter(([status, attempt]) => {
    const [error, got] = expectedOf(status);
    return attempt === undefined || attempt.error !== error || attempt.status !== got || attempt.ms > MAX_MS;
  });
  expect(wrong).toEqual([]);
}

/** Returns the error and the status that an attempt must report. */
export function expectedOf(status: string): [error: string | undefined, status: number | undefined] {
  if (status <= '101') return ['protocol', undefined];
  if (status < '200') return [undefined, 204];
  const errors: Record<string, string | undefined> = {
    2: undefined,
    3: 'redirect',
    4: 'http-4xx',
    5: 'http-5xx',
  };
  const digit = status.charAt(0);
  return [digit in errors ? errors[digit] : 'protocol', Number(status)];
}
