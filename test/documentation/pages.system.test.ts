// Needs curl, jq, sqlite3, python3, redis-server.
import { describe, expect, it } from 'vitest';
import { follow } from './follow.ts';
import { programsFolder } from './programs-folder.ts';
import { asOperator } from './operator.ts';
import { hasTools, LOAD_PAGE, PAGES_TO_FOLLOW, toolsOf } from './tools.ts';

const programs = await programsFolder();

describe('the commands of a page', () => {
  it.concurrent.each(PAGES_TO_FOLLOW.filter((page) => page !== LOAD_PAGE && hasTools(toolsOf(page))))(
    'do in their order what the page says: %s',
    { timeout: 400_000 },
    async (page) => {
      const prepare = page === 'docs/operations.md' ? asOperator : undefined;
      expect((await follow({ page, programs, prepare })).join('\n\n')).toBe('');
    },
  );
});
