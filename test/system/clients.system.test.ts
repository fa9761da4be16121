// Needs third-party client libraries from the registry, and chromium.
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../end-to-end/browser.ts';
import { hooks } from '../end-to-end/hooks.ts';
import { closeAfterEach, serving, until, WRITE_KEY } from '../service/serving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { CLIENTS, HAS_CLIENTS } from './clients.ts';

const run = promisify(execFile);
closeAfterEach();

/** Long enough to start a browser or load a library on a busy machine. */
const PATIENT = { timeout: 240_000 };

const SCHEMA = {
  Signup: {
    properties: {
      properties: { required: ['plan'], properties: { total: { type: 'number' }, plan: { type: 'string' } } },
    },
  },
};

const folder = temporaryFolder({ 'schema.json': JSON.stringify(SCHEMA) });
if (HAS_CLIENTS) cpSync(fileURLToPath(new URL('send.cjs', import.meta.url)), join(CLIENTS, 'send.cjs'));

async function expecting(
  client: string,
  bug: string,
  flags: readonly string[],
): Promise<{ code: number | null; stdout: string }> {
  const command = [process.execPath, join(CLIENTS, 'send.cjs'), client, bug];
  // CI=true would let the first snapshot fail.
  return hooks(['expect', ...flags, '--', ...command], { cwd: folder, timeoutMs: 120_000, env: { CI: '' } });
}

/** The planted bugs, each with the flags that find it and the sentence in the output. */
const BUGS: readonly (readonly [bug: string, flags: readonly string[], says: RegExp, notOf?: string])[] = [
  ['renamed', ['--match', 'type=track,event=Signup'], /event +expected Signup +got Sign Up/],
  [
    'missing-property',
    ['--match', 'event=Signup,properties.plan?'],
    /properties\.plan +expected something +got nothing/,
  ],
  [
    'number-as-text',
    ['--schema', 'schema.json'],
    /properties\.total +expected a value of type number +got "12\.5"/,
  ],
  ['twice', ['--match', '1x event=Signup'], /Expected exactly 1, got 2 of 6 messages \(/],
  [
    'lost',
    ['--messages', '5'],
    /Expected 5 messages, got no request|Expected 5 messages, got 1 message /,
    'browser',
  ],
  ['too-large', ['--messages', '5'], /Expected 5 messages|is over 32 KB: a tracking API drops it/],
  ['no-user', ['--each', 'userId?'], /userId +expected something +got/],
  [
    'wrong-case',
    ['--no-match', 'integrations.salesforce?'],
    /integrations\.salesforce +expected nothing +got false/,
  ],
  [
    'personal-data',
    ['--no-match', 'properties.email?'],
    /properties\.email +expected nothing +got "ada@example\.com"/,
  ],
  [
    'late-identify',
    ['--in-order', '--match', 'type=identify', '--match', 'type=track'],
    /type=track: out of order: /,
  ],
  [
    'old-timestamp',
    ['--no-match', 'timestamp<now-1h'],
    /timestamp +expected at least now-1h +got "?2019-05-01T10:00:00\.000Z/,
  ],
  ['unknown-event', ['--schema', 'schema.json'], /expected an event with a schema.*got "Signup Strated"/],
];

describe.skipIf(!HAS_CLIENTS)('a real client of which only the host is set', PATIENT, () => {
  const clients = ['segment', 'legacy', 'rudder', ...(hasBrowser ? ['browser'] : [])];

  it.each(clients)('passes filters, a schema and its snapshot: %s', async (client) => {
    const types = ['identify', 'track', 'page', 'group', 'alias'];
    const patient = ['--within', '90s'];
    const flags = [
      ...patient,
      '--messages',
      '5',
      '--in-order',
      ...types.flatMap((type) => ['--match', `type=${type}`]),
    ];
    const snapshot = [
      '--snapshot',
      `${client}.snap`,
      '--schema',
      'schema.json',
      '--no-match',
      'properties.email?',
      '--each',
      'timestamp>now-1h',
    ];
    const first = await expecting(client, 'none', [...flags, ...snapshot]);
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('written: 5 messages')]);
    const second = await expecting(client, 'none', [...flags, ...snapshot]);
    expect([second.code, second.stdout]).toEqual([0, expect.stringMatching(/^✓ snapshot +.*: 5 messages$/m)]);
    expect(readFileSync(join(folder, `${client}.snap`), 'utf8')).toContain('track "Signup"\n');
    const changed = await expecting(client, 'number-as-text', [...flags, ...snapshot]);
    expect([changed.code, changed.stdout]).toEqual([
      1,
      expect.stringMatching(/track "Signup" of user "u1":\s+properties\.total +expected 12\.5 +got "12\.5"/),
    ]);
  });

  // Concurrent, because hooks waits two seconds for a missing message. Several browsers at once would take too long to start.
  describe.each(clients)('%s', (client) => {
    const each = client === 'browser' ? it : it.concurrent;
    const bugs = BUGS.filter(([, , , notOf]) => notOf !== client).map(([bug, flags, says]) => ({
      bug,
      flags,
      says,
    }));
    each.each(bugs)('fails with a sentence about its bug: $bug', async ({ bug, flags, says }) => {
      const { code, stdout } = await expecting(client, bug, ['--within', '90s', ...flags]);
      expect([code, stdout]).toEqual([1, expect.stringMatching(says)]);
    });
  });

  it.skipIf(!hasBrowser)('reaches hooks expect from a page: the browser library of RudderStack', async () => {
    const five = ['--messages', '5', '--match', 'event=Signup,userId=u1'];
    expect(await expecting('rudder-browser', 'none', five)).toMatchObject({ code: 0 });
    const visitor = ['--messages', '1', '--each', 'anonymousId?', '--no-match', 'userId?'];
    expect(await expecting('rudder-browser', 'no-user', visitor)).toMatchObject({ code: 0 });
  });

  it.skipIf(!hasBrowser)('reaches hooks serve from a page: the browser library of RudderStack', async () => {
    const serve = await serving();
    const env = { ...process.env, HOOKS_URL: serve.url, HOOKS_WRITE_KEY: WRITE_KEY };
    for (const bug of ['none', 'no-user']) {
      const args = [join(CLIENTS, 'send.cjs'), 'rudder-browser', bug];
      await run(process.execPath, args, { env, timeout: 60_000 });
    }
    await until(() => serve.received.length === 6, 'the messages of a user and of a visitor');
    expect(serve.received.map(({ verdict }) => verdict)).toEqual(Array(6).fill('valid'));
  });

  it('passes with 10,000 valid messages', async () => {
    const program = `
      const { Analytics } = require('@segment/analytics-node');
      const library = new Analytics({ writeKey: 'k', host: process.env.HOOKS_URL, flushAt: 100, maxEventsInBatch: 100, httpRequestTimeout: 60_000 });
      for (let id = 0; id < 10_000; id++)
        library.track({ userId: 'u' + (id % 50), event: 'Signup', properties: { plan: 'pro', total: id / 3 } });
      library.closeAndFlush({ timeout: 60_000 });`;
    const file = join(CLIENTS, 'ten-thousand.cjs');
    writeFileSync(file, program);
    const flags = [
      '--messages',
      '10000',
      '--match',
      '10000x event=Signup',
      '--no-match',
      'properties.email?',
      '--each',
      'userId?',
    ];
    const more = ['--each', 'timestamp>now-1h', '--schema', 'schema.json', '--within', '60s', '-q'];
    const { code, stdout } = await hooks(['expect', ...flags, ...more, '--', process.execPath, file], {
      cwd: folder,
      timeoutMs: 120_000,
    });
    expect([code, stdout]).toEqual([0, '']);
  });
});
