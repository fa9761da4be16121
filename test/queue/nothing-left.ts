import { expect } from 'vitest';
import { ask } from '../stores/sqlite/ask.ts';

/** Expects a file without waiting deliveries, claims and lines. */
export async function expectNothingLeft(file: string): Promise<void> {
  for (const table of ['waiting', 'held', 'order_lines', 'claims', 'owners']) {
    expect([table, await ask(file, `SELECT * FROM ${table}`)]).toEqual([table, []]);
  }
  expect(await ask(file, 'PRAGMA integrity_check')).toEqual(['ok']);
}
