import { describe, expect, it } from 'vitest';
import { sign } from '../../../../src/signature/sign.ts';
import { hooks } from '../../run-in-process.ts';

const BODY = '{"type":"page"}';
const VERIFY = ['verify', '-q', '--secret', 's'];

describe('hooks verify -q', () => {
  it('prints nothing for a signature that matches', async () => {
    const args = [...VERIFY, '--signature', sign(BODY, 's')];
    expect(await hooks(args, { stdin: BODY })).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('prints why a signature does not match', async () => {
    const args = [...VERIFY, '--signature', sign(`${BODY}\n`, 's')];
    const { code, stdout, stderr } = await hooks(args, { stdin: BODY });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^invalid: Signature does not match: .*with a newline at the end of the body\.\nexpected: [0-9a-f]{40}\ngot: +[0-9a-f]{40}\nhint: .+\n$/,
    );
  });

  it('prints only the JSON line with -o json', async () => {
    const args = [...VERIFY, '-o', 'json', '--signature', '0'.repeat(40)];
    const { code, stdout, stderr } = await hooks(args, { stdin: BODY });
    expect([code, stderr, JSON.parse(stdout)]).toEqual([1, '', expect.objectContaining({ valid: false })]);
  });

  it('prints the digest if there is no signature', async () => {
    const { code, stdout, stderr } = await hooks(VERIFY, { stdin: BODY });
    expect([code, stdout]).toEqual([2, `${sign(BODY, 's')}\n`]);
    expect(stderr).toMatch(/^error: There is no signature to compare with\n/);
  });
});
