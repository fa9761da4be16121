// Measures latency: of the loads on a page.
import { expect, it } from 'vitest';
import { follow } from './follow.ts';
import { programsFolder } from './programs-folder.ts';
import { LOAD_PAGE } from './tools.ts';

const programs = await programsFolder();

it(`the commands of ${LOAD_PAGE} do in their order what the page says`, { timeout: 400_000 }, async () => {
  expect((await follow({ page: LOAD_PAGE, programs })).join('\n\n')).toBe('');
});
