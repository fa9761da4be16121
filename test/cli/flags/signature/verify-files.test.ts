import { describe, expect, it } from 'vitest';
import { toCapture } from '../../../../src/capture/to-capture.ts';
import { sign } from '../../../../src/signature/sign.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { hooks } from '../../run-in-process.ts';

const BODY = '{"type":"page"}';

function captured(signature: string | undefined): string {
  const headers = signature === undefined ? [] : ([['X-Signature', signature]] as const);
  return JSON.stringify(toCapture({ method: 'POST', url: '/', headers, body: Buffer.from(BODY) }));
}

const cwd = temporaryFolder({
  'right.json': captured(sign(BODY, 's')),
  'wrong.json': captured(sign(`${BODY}\n`, 's')),
  'unsigned.json': captured(undefined),
});
const VERIFY = ['verify', '--secret', 's'];

describe('hooks verify of several files', () => {
  it('prints a line for each file, and why one does not match', async () => {
    const { code, stdout, stderr } = await hooks([...VERIFY, 'right.json', 'wrong.json'], { cwd });
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(
      /^right\.json: valid: matches secret 1 over 15 bytes\nwrong\.json: invalid: .*newline at the end of the body\.\n {2}expected: /,
    );
  });

  it('exits with 0 if all match, and with 2 if one cannot be read', async () => {
    expect(await hooks([...VERIFY, 'right.json', 'right.json'], { cwd })).toMatchObject({ code: 0 });
    const { code, stdout } = await hooks([...VERIFY, 'none.json', 'right.json', 'wrong.json'], { cwd });
    expect([code, stdout]).toEqual([2, expect.stringMatching(/^none\.json: .*\nright\.json: valid/)]);
  });

  it('counts an unsigned file as one that does not match, and prints no digest', async () => {
    const { code, stdout } = await hooks([...VERIFY, 'unsigned.json', 'right.json'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^unsigned\.json: invalid: There is no signature to compare with.*\nright/);
    expect(stdout).not.toContain(sign(BODY, 's'));
  });

  it('prints only the failures with -q, and a JSON line for each file with -o json', async () => {
    const { stdout } = await hooks([...VERIFY, '-q', 'right.json', 'wrong.json'], { cwd });
    expect(stdout).toMatch(/^wrong\.json: invalid/);
    const json = await hooks([...VERIFY, '-o', 'json', 'right.json', 'wrong.json', 'unsigned.json'], { cwd });
    const lines = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { file: 'right.json', valid: true },
      { file: 'wrong.json', valid: false, diagnosis: { code: 'trailing-newline' } },
      { file: 'unsigned.json', valid: false, error: 'There is no signature to compare with' },
    ]);
  });
});

it('hooks verify says what the digest of an unsigned body is', async () => {
  const { code, stdout, stderr } = await hooks(VERIFY, { stdin: BODY });
  expect([code, stdout]).toEqual([2, `${sign(BODY, 's')}\n`]);
  expect(stderr).toContain('note: standard output has the signature expected with this secret\n');
});
