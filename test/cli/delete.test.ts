import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ReceivedRequest } from '../../src/receiver/received-request.ts';
import { jsonLines, receiving, SECRET } from '../end-to-end/receiving.ts';
import { errorOf } from './expect-rejected.ts';
import { hooks, type HooksResult } from './run-in-process.ts';
import { bodyOf, sorted } from '../service/serving.ts';
import { temporaryFolder } from '../temporary-folder.ts';

let folder: string;
let received: readonly ReceivedRequest[];
beforeEach(() => {
  folder = temporaryFolder();
  received = [];
});

/** Runs `hooks delete` with the sources `web`, `app` (whose destination is disabled) and `shop`. */
async function runDelete(args: readonly string[], respond = '200', stdin = ''): Promise<HooksResult> {
  const to = await receiving({ secret: SECRET, respond });
  received = to.requests;
  const destination = { sharedSecret: SECRET, webhooks: [to.url] };
  const sources = {
    web: { destinations: { Webhooks: destination } },
    app: { destinations: { Webhooks: { ...destination, enabled: false } } },
    shop: { destinations: { Elsewhere: destination } },
  };
  writeFileSync(join(folder, '.hooksrc.json'), JSON.stringify({ sources }));
  return hooks(['delete', ...args, '-o', 'json'], { cwd: folder, env: { HOOKS_DATA_DIR: folder }, stdin });
}

const rows = ({ stdout }: HooksResult): Record<string, unknown>[] => jsonLines(stdout);

describe('hooks delete', () => {
  it('sends a delete message for each user to every source with a destination enabled', async () => {
    const result = await runDelete(['u1', 'u2', 'u1']);
    expect(result.code).toBe(0);
    expect(rows(result)).toMatchObject([
      { source: 'web', state: 'delivered', users: 2, delivered: 2, failed: 0 },
      { source: 'app', state: 'no-destination', users: 2, delivered: 0, failed: 0 },
      { source: 'shop', state: 'delivered', users: 2, delivered: 2, failed: 0 },
    ]);
    expect(received.map(({ verdict }) => verdict)).toEqual(['valid', 'valid', 'valid', 'valid']);
    expect(sorted(received, 'userId')).toEqual(['u1', 'u1', 'u2', 'u2']);
    expect(Object.keys(received.map(bodyOf)[0] ?? {})).toEqual(['type', 'userId', 'timestamp']);
  });

  it('is narrowed by --source', async () => {
    expect(rows(await runDelete(['u1', '--source', 'shop']))).toMatchObject([
      { source: 'shop', state: 'delivered' },
    ]);
    expect(received).toHaveLength(1);
  });

  it('exits with 1 if a webhook rejects it, and prints the rejection', async () => {
    const result = await runDelete(['u1', '--source', 'web'], '400');
    expect(result.code).toBe(1);
    expect(rows(result)).toMatchObject([{ source: 'web', state: 'failed', delivered: 0, failed: 1 }]);
    expect(result.stderr).toContain('failed: 400 from');
  });

  it('reads user ids from standard input, one a line, without duplicates', async () => {
    const lines = '\ufeffu1\r\nu 2\n\nu1\n';
    const result = await runDelete(['u0', '-', '--source', 'web'], '200', lines);
    expect(rows(result)).toMatchObject([{ source: 'web', state: 'delivered', users: 3 }]);
    expect(sorted(received, 'userId')).toEqual(['u 2', 'u0', 'u1']);
  });

  it('rejects standard input without an id, and an empty id', async () => {
    expect(errorOf(await runDelete(['-']))).toContain('on standard input, got none');
    expect(errorOf(await runDelete(['']))).toContain('got an empty string');
    expect(received).toEqual([]);
  });

  it('sends nothing with --dry-run', async () => {
    const result = await runDelete(['u1', '--dry-run']);
    expect(result.code).toBe(0);
    expect(rows(result)).toMatchObject([
      { source: 'web', destinations: ['Webhooks'], users: 1 },
      { source: 'app', destinations: [] },
      { source: 'shop', destinations: ['Elsewhere'] },
    ]);
    expect(received).toEqual([]);
  });

  it('rejects an unknown source, no user, and a missing destination', async () => {
    expect(errorOf(await runDelete(['u1', '--source', 'wep']))).toContain('did you mean web?');
    errorOf(await runDelete([]));
    const disabled = errorOf(await runDelete(['u1', '--source', 'app']));
    expect(disabled).toContain('No affected source has a destination enabled');
  });
});
