import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { hooks } from '../../run-in-process.ts';

const URL = ['--url', 'http://127.0.0.1:9/', '--dry-run'];
const REPLAYS = ['replay', 'a.json', ...URL];
const SENDS = ['send', 'track', '--event', 'A', ...URL];
const TRACK = '{"type":"track","event":"A","userId":"u"}';
const NOTE = 'note: sent unsigned: the secrets of the config';

it.each(['first-secret', '${UNSET_OF_TEST}'])(
  'a --url beside a config with secrets (%s) is noted',
  async (secret) => {
    const destination = { sharedSecret: secret, webhooks: ['http://127.0.0.1:9/a'] };
    const other = { sharedSecret: 'second-secret', webhooks: ['http://127.0.0.1:9/b'] };
    const config = { sources: { web: { destinations: { A: destination, B: other } } } };
    const cwd = temporaryFolder({
      '.hooksrc.json': JSON.stringify(config),
      'package.json': '{}',
      'a.json': TRACK,
    });
    for (const args of [REPLAYS, SENDS]) {
      const { code, stderr } = await hooks(args, { cwd });
      expect([code, stderr]).toEqual([0, expect.stringContaining(NOTE)]);
    }
    expect((await hooks([...REPLAYS, '--secret', 'given'], { cwd })).stderr).not.toContain(NOTE);
    expect((await hooks([...REPLAYS, '-q'], { cwd })).stderr).not.toContain(NOTE);
  },
);
