import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks } from './run-in-process.ts';

const CAPTURE = JSON.parse(
  readFileSync(new URL('../../fixtures/captures/track.json', import.meta.url), 'utf8'),
) as object;
const valid = JSON.stringify({ ...CAPTURE, verdict: 'valid' });
const invalid = JSON.stringify({ ...CAPTURE, verdict: 'invalid' });

const COMMANDS = [
  'plan infer',
  'plan lint plan.json --allow-unplanned',
  'replay --loopback',
  'replay --loopback --exact --format ndjson',
  'replay --loopback -o json',
];

describe('captures whose signature did not verify', () => {
  it.concurrent.each(COMMANDS)('are counted in one note: %s', async (line) => {
    const args = line.split(' ');
    const files = {
      'plan.json': '{"rules":[{"key":"A","type":"TRACK","version":1,"jsonSchema":{"type":"object"}}]}',
      'one.ndjson': `${valid}\n${invalid}\n`,
      'two.ndjson': `${invalid}\n`,
    };
    const cwd = temporaryFolder(files);
    const both = await hooks([...args, 'one.ndjson', 'two.ndjson'], { cwd });
    expect(both.stderr).toContain(
      'note: 2 captures have a signature that did not verify, the first at one.ndjson:2; their messages are included\n',
    );
    expect(both.stderr.match(/did not verify/g)).toHaveLength(1);
    const one = await hooks([...args, 'two.ndjson'], { cwd });
    expect(one.stderr).toContain('note: two.ndjson:1 is a capture whose signature did not verify;');
    const quiet = await hooks([...args, 'two.ndjson', '-q'], { cwd });
    expect(quiet.stderr).not.toContain('did not verify');
  });

  it('are not noted if there are none', async () => {
    const cwd = temporaryFolder({ 'one.ndjson': `${valid}\n` });
    const { code, stderr } = await hooks(['plan', 'infer', 'one.ndjson'], { cwd });
    expect({ code, isNoted: stderr.includes('did not verify') }).toEqual({ code: 0, isNoted: false });
  });
});
