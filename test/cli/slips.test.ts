import { describe, expect, it } from 'vitest';
import { expectRejected } from './expect-rejected.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks } from './run-in-process.ts';

const SEND = ['send', 'track', '--event', 'A', '--url', 'http://127.0.0.1:9/', '--dry-run'];

describe('a dash instead of @-', () => {
  it.each(['--json', '--properties', '--integrations'])('is reported for %s', async (flag) => {
    await expectRejected(
      [...SEND, flag, '-'],
      `error: Expected \`${flag}\` to be JSON, got a dash\nhint:  put @ before it: ${flag} @-\n`,
      { stdin: '{}' },
    );
  });
});

describe('a config in a format that hooks does not read', () => {
  const files = { '.hooksrc.toml': 'sharedSecret = "s"' };

  it('is reported by a command that looks for a config', async () => {
    const { code, stderr } = await hooks(SEND, { cwd: temporaryFolder(files) });
    expect(code).toBe(0);
    expect(stderr).toContain(
      'warning: .hooksrc.toml is not read: write it as .hooksrc.yaml or .hooksrc.json\n',
    );
  });

  it('is not reported if no config is needed, or with -q', async () => {
    const cwd = temporaryFolder({ ...files, 'other.yaml': '' });
    for (const flags of [['--no-config'], ['-c', 'other.yaml'], ['-q']]) {
      expect((await hooks([...SEND, ...flags], { cwd })).stderr).not.toContain('toml');
    }
  });
});

describe('a flag for the folder of hooks import', () => {
  const cwd = temporaryFolder({ 'my.har': '{}' });

  it('is named if it is missing', async () => {
    await expectRejected(
      ['import', 'my.har', '--out', 'x'],
      'error: Expected `--to <folder>`, got nothing\nhint:  add --to <folder>: write captures to this folder; or run hooks import --help to see its flags\n',
      { cwd },
    );
  });

  it('is not taken for --output, which has other values', async () => {
    await expectRejected(
      ['import', 'my.har', '--to', 'x', '--out', 'x'],
      'error: Unknown option `--out`\nhint:  run hooks import --help to see its flags\n',
      { cwd },
    );
    const { stderr } = await hooks(['import', 'my.har', '--to', 'x', '--out', 'json'], { cwd });
    expect(stderr).toContain('hint:  did you mean --output?');
  });
});
