import { linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { expectKept, filled } from './filled-store.ts';

it('queue move rejects the same file by another name, and keeps its deliveries', async () => {
  const folder = temporaryFolder();
  const [file, other] = [join(folder, 'real/a.db'), join(folder, 'link/a.db')];
  mkdirSync(join(folder, 'real'), { mode: 0o700 });
  symlinkSync('real', join(folder, 'link'));
  const move = await filled(file);
  await expectKept(file, await move(file, other));
  linkSync(file, join(folder, 'hard.db'));
  await expectKept(file, await move(`sqlite:${other}`, join(folder, 'hard.db')));
});

it('queue move prints both stores as given', async () => {
  const folder = temporaryFolder();
  const [from, to] = [join(folder, 'a.db'), join(folder, 'b.db')];
  const move = await filled(from);
  expect((await move(`sqlite:${from}`, to)).stdout).toBe(
    `moved 2 waiting and 0 dead from sqlite:${from} to ${to}\n`,
  );
});
