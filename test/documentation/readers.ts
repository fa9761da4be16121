import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../end-to-end/receiving.ts';
import type { Preparation } from './follow.ts';

/** Gets ready what the readers of these pages already have besides a clone, as the page says. */
export const READERS: Readonly<Record<string, Preparation>> = {
  // A receiver that the project starts with `node server.js`.
  'docs/ci.md': async ({ session, addresses }) => {
    await cp(join(ROOT, 'fixtures/receivers/receiver.js'), join(session.cwd, 'server.js'));
    await session.run(`export ${addresses.mapped('PORT=3000')}`);
  },
};
