import { describe, expect, it } from 'vitest';
import { hooks } from '../cli/run-in-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { receiving } from './receiving.ts';

const MESSAGES = 200;
const ids = Array.from({ length: MESSAGES }, (_, index) => `u${index % 90}-${index}`);

function folderWith(whenFull: string, url: string): string {
  const lines = ids.map((id) =>
    JSON.stringify({ type: 'track', event: id, userId: id.split('-')[0], timestamp: '2026-01-01T00:00:00Z' }),
  );
  return temporaryFolder({
    '.hooksrc.json': JSON.stringify({ webhooks: [url], client: { maxQueued: 1, whenFull } }),
    'messages.ndjson': lines.join('\n'),
    'members.txt': ids.join('\n'),
  });
}

describe.each(['wait', 'throw'])('with a client that holds one message, whenFull %s,', (whenFull) => {
  it('replay sends every message of a file', async () => {
    const { url, field } = await receiving();
    const cwd = folderWith(whenFull, url);
    const { code, stderr } = await hooks(['replay', 'messages.ndjson'], { cwd });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(new Set(field('event'))).toEqual(new Set(ids));
  });

  it('replay queues every message of a file', async () => {
    const cwd = folderWith(whenFull, 'http://127.0.0.1:9');
    const args = ['replay', 'messages.ndjson', '--queue', '--store', './hooks.db'];
    const { code, stderr, stdout } = await hooks(args, { cwd });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain(`queued     ${MESSAGES}`);
  });

  it('audience sync sends every member', async () => {
    const { url, field } = await receiving();
    const cwd = folderWith(whenFull, url);
    const env = { HOOKS_DATA_DIR: cwd };
    const args = ['audience', 'sync', 'All', 'members.txt'];
    const { code, stderr } = await hooks(args, { cwd, env });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(new Set(field('userId'))).toEqual(new Set(ids));
  });
});
