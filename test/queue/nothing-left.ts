import { expect } from 'vitest';
import { ask } from '../stores/sqlite/ask.ts';

/** In the file of a queue, nothing waits, and nothing is left of what held or claimed. */
export async function expectNothingLeft(file: string): Promise<void> {
  for (const table of ['waiting', 'held', 'order_lines', 'claims', 'owners']) {
    expect([table, await ask(file, `SELECT * FROM ${table}`)]).toEqual([table, []]);
  }
  expect(await ask(file, 'PRAGMA integrity_check')).toEqual(['ok']);
}
