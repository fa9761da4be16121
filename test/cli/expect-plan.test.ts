import { expect, it } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks } from './run-in-process.ts';

const cwd = temporaryFolder({ 'plan.json': JSON.stringify({ Signup: { type: 'object' } }) });

it.each(['--plan', '--schema'])('expect %s claims nothing about a plan if no message came', async (flag) => {
  const args = ['expect', flag, 'plan.json', '--linger', '0', '--', process.execPath, '-e', ''];
  const { code, stdout } = await hooks(args, { cwd });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✗ count /m);
  expect(stdout).not.toContain('plan.json');
});
