// Needs python3, which opens the terminal.
import { expect, it } from 'vitest';
import { hooks } from '../end-to-end/hooks.ts';
import { onTerminal } from '../end-to-end/terminal.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { filledQueue } from './filled-queue.ts';

it.each([
  ['retry --all', 'Deliver 2 dead letters again?'],
  ['purge', 'Remove 2 dead letters for good?'],
  ['purge --state dead --filter id=ab12-dead', 'Remove 1 delivery for good?'],
  ['drop --all', 'Remove 4 deliveries (2 of them still waiting to be delivered) for good?'],
])('hooks queue %s asks for confirmation on a terminal, unless --yes is given', async (line, question) => {
  const cwd = temporaryFolder();
  const env = { HOOKS_DATA_DIR: cwd };
  await filledQueue(cwd);
  const args = ['queue', ...line.split(' ')];
  const stats = async (): Promise<string> => (await hooks(['queue', 'stats'], { cwd, env })).stdout;
  const before = await stats();
  const asked = await onTerminal(args, { cwd, env, steps: [[question, 'n']] });
  expect(asked.code).toBe(1);
  expect(asked.shown).toContain('Nothing was changed');
  const interrupted = await onTerminal(args, { cwd, env, steps: [[question, '\u0003']] });
  expect(interrupted.code).toBe(130);
  expect(await stats()).toBe(before);
  const told = await onTerminal([...args, '--yes'], { cwd, env, steps: [] });
  expect(told.code).toBe(0);
  expect(told.shown).not.toContain(question);
  expect(await stats()).not.toBe(before);
});

it('hooks queue retry --all does not ask if there is nothing to deliver', async () => {
  const cwd = temporaryFolder();
  const env = { HOOKS_DATA_DIR: cwd };
  await filledQueue(cwd);
  await hooks(['queue', 'drop', '--all', '--yes'], { cwd, env });
  for (const line of ['retry --all', 'purge']) {
    const { code, shown } = await onTerminal(['queue', ...line.split(' ')], { cwd, env, steps: [] });
    expect([code, shown]).toEqual([0, expect.not.stringContaining('?')]);
  }
});
