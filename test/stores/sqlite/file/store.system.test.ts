// Needs sqlite3.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { openStore } from '../../../../src/stores/sqlite/file/open-store.ts';
import { hasTool } from '../../../external-tool.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

it.skipIf(!hasTool('sqlite3', '-version'))('the store leaves a file that sqlite3 can read', async () => {
  const file = join(temporaryFolder(), 'hooks.db');
  const tables = ['CREATE TABLE notes (text TEXT UNIQUE)'];
  const store = await openStore(file, { clock: systemClock, tables });
  onTestFinished(() => store.close());
  await store.write((sql) => sql('INSERT INTO notes (text) VALUES (?)').run('a'));
  expect(execFileSync('sqlite3', [file, 'SELECT text FROM notes'], { encoding: 'utf8' })).toBe('a\n');
});
