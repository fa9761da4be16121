import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { QueueError } from '../../../src/errors.ts';
import { holdLock } from '../../../src/stores/sqlite/lock.ts';
import { openScratch } from '../../../src/stores/sqlite/sqlite-chunk-store.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

describe('a lock', () => {
  it('is held by one caller at a time', async () => {
    const file = join(temporaryFolder(), 'lock');
    const release = await holdLock(file);
    expect(release).toBeDefined();
    expect(await holdLock(file)).toBeUndefined();
    release?.();
    const again = await holdLock(file);
    expect(again).toBeDefined();
    again?.();
  });

  it('rejects files that are no locks', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'elsewhere'), '');
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'link'));
    await expect(holdLock(join(folder, 'link'))).rejects.toThrow(QueueError);
    writeFileSync(join(folder, 'text'), 'not a database, and long enough to be told from one\n'.repeat(20));
    await expect(holdLock(join(folder, 'text'))).rejects.toThrow('is not a SQLite database');
  });
});

describe('scratch', () => {
  it('keeps more data than its cache holds', async () => {
    const scratch = await openScratch('CREATE TABLE pieces (piece BLOB)');
    const piece = Buffer.alloc(100_000, 'x');
    for (let count = 0; count < 500; count++) {
      scratch.use((sql) => sql('INSERT INTO pieces VALUES (?)').run(piece));
    }
    const row = scratch.use((sql) =>
      sql('SELECT count(*) AS count, sum(length(piece)) AS bytes FROM pieces').get(),
    );
    expect(row).toEqual({ count: 500, bytes: 50_000_000 });
    scratch.close();
  });

  it('reports a full disk', async () => {
    const scratch = await openScratch('CREATE TABLE pieces (piece BLOB)');
    scratch.use((sql) => sql('PRAGMA max_page_count = 2').get());
    const insert = () => scratch.use((sql) => sql('INSERT INTO pieces VALUES (zeroblob(10000000))').run());
    expect(insert).toThrow('Temporary files cannot be written or read: database or disk is full');
    expect(insert).toThrow(QueueError);
    scratch.close();
  });
});
