import { describe, expect, it } from 'vitest';
import { follow } from './follow.ts';
import { programsFolder } from './programs-folder.ts';
import { PAGES_TO_FOLLOW, toolsOf } from './tools.ts';

const programs = await programsFolder();

describe('the commands of a page', () => {
  it.concurrent.each(PAGES_TO_FOLLOW.filter((page) => toolsOf(page).length === 0))(
    'do in their order what the page says: %s',
    async (page) => {
      expect((await follow({ page, programs })).join('\n\n')).toBe('');
    },
  );
});
