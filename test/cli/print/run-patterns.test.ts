import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { hmac, rightBut, SECRET, startHttp, type Respond } from '../../answers/counterparts.ts';
import { hooks } from '../run-in-process.ts';

const SAME_SECRET = 'check that it has the same secret';

/** Replays messages with these names to a receiver, tried once, one at a time. */
async function replayed(names: readonly string[], receiver: Respond, ...flags: readonly string[]) {
  const { port, close } = await startHttp(receiver);
  onTestFinished(close);
  const cwd = mkdtempSync(join(tmpdir(), 'hooks-patterns-'));
  const lines = names.map((name) =>
    JSON.stringify({ type: 'track', userId: 'u', event: 'A', properties: { name } }),
  );
  writeFileSync(join(cwd, 'day.ndjson'), lines.join('\n'));
  const url = `http://127.0.0.1:${port}/`;
  const to = ['--url', url, '--secret', SECRET, '--retry-for', '0', '--concurrency', '1'];
  return hooks(['replay', 'day.ndjson', ...to, ...flags], { cwd });
}

/** A receiver that verifies another text than the body: UTF-8 read as Latin-1. */
const readsLatin1: Respond = ({ headers, body }) =>
  headers['x-signature'] === hmac(Buffer.from(body.toString('latin1'))) ? {} : { status: 401 };

it('names what the failed messages have and the delivered ones lack, and does not blame the secret', async () => {
  const { stdout, stderr } = await replayed(['Zoë', 'a', 'b', 'c', 'Łódź'], readsLatin1);
  expect(stdout).toContain('2 failed (401): all have non-ASCII text, and the 3 delivered have none');
  expect(stderr).not.toContain(SAME_SECRET);
  expect(stderr).toContain('let the receiver hash the bytes of the body as received');
});

it('blames the secret if no message was delivered', async () => {
  const { stdout, stderr } = await replayed(['a', 'b'], rightBut(undefined, 'another secret'));
  expect(stderr).toContain(SAME_SECRET);
  expect(stdout).not.toContain('failed (401)');
});

it('says nothing if no fact separates the failed messages, or if the receiver limits the rate', async () => {
  const random = await replayed(['a', 'b', 'a', 'b', 'a'], ({ index }) => ({
    status: index === 2 ? 500 : 200,
  }));
  const limited = await replayed(['a', 'b', 'c', 'é'], ({ index }) => ({ status: index === 3 ? 429 : 200 }));
  expect(random.stdout + limited.stdout).not.toContain('failed (');
});

it('names the message on which the receiver crashed', async () => {
  const crash: { close?: () => Promise<void> } = {};
  const receiver = rightBut(({ body }) => {
    if (!body.includes('crash')) return undefined;
    void crash.close?.();
    return 'reset';
  });
  const server = await startHttp(receiver);
  crash.close = server.close;
  const cwd = mkdtempSync(join(tmpdir(), 'hooks-patterns-'));
  const names = ['a', 'b', 'crash', 'c'];
  const lines = names.map((event) => JSON.stringify({ type: 'track', userId: 'u', event }));
  writeFileSync(join(cwd, 'day.ndjson'), lines.join('\n'));
  const url = `http://127.0.0.1:${server.port}/`;
  const to = ['--url', url, '--secret', SECRET, '--retry-for', '0', '--concurrency', '1'];
  const { stdout, stderr } = await hooks(['replay', 'day.ndjson', ...to], { cwd });
  expect(stdout).toContain('the receiver probably crashed on day.ndjson:3');
  expect(stderr).not.toContain('check that the receiver runs');
});

it('has its patterns in the summary of -o json, with their confidence', async () => {
  const { stdout } = await replayed(['a', 'b', 'c', 'Łódź'], readsLatin1, '-o', 'json');
  const { summary } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { summary: object };
  expect(summary).toMatchObject({
    patterns: [
      { says: '1 failed (401): it has non-ASCII text, and the 3 delivered have none', confidence: 'likely' },
    ],
  });
});
