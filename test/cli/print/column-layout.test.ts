import { describe, expect, it } from 'vitest';
import { ColumnLayout, type Column } from '../../../src/cli/print/column-layout.ts';

const COLUMNS: readonly Column[] = [
  { least: 4, rank: 3 },
  { least: 6, most: 12, rank: 1 },
  { least: 4, most: 8, rank: 2 },
  { least: 5, rank: 4, align: 'end', isExtra: true },
];
const TEXTS = ['time', 'Order Completed', 'user-1842', '12 B'].map((text) => ({ text }));

function line(width: number, texts = TEXTS): string {
  return new ColumnLayout(COLUMNS, width).line(texts);
}

describe('a line of columns', () => {
  it('grows by rank, and shows an extra column only if all others have their room', () => {
    expect(line(16)).toBe('time Ord…ed us…2');
    expect(line(20)).toBe('time Order…eted us…2');
    expect(line(26)).toBe('time Order …leted user…842');
    expect(line(31)).toBe('time Order …leted user…842');
    expect(line(32)).toBe('time Order …leted user…842  12 B');
  });

  it.each([
    ['user1@example.com', 'user1@e…'],
    ['user100@example.com', 'user100…'],
    ['first.last17@example.com', 'firs…t17'],
    ['by u2@example.com', 'by u2@e…'],
    ['user-00000017', 'user…017'],
    ['u1@a.b', 'u1@a.b'],
  ])('keeps what tells users apart of %s', (user, shown) => {
    const column = new ColumnLayout([{ least: 8, rank: 1 }], 8);
    expect(column.line([{ text: user }])).toBe(shown);
  });

  it('leaves out the columns of the last ranks first', () => {
    expect(line(15)).toBe('Order…eted us…2');
    expect(line(6)).toBe('Ord…ed');
  });

  it('has the same columns for each text, also for wide characters', () => {
    const wide = line(
      32,
      ['a', '注文完了', 'u', '1 B'].map((text) => ({ text })),
    );
    expect(wide).toBe('a    注文完了     u          1 B');
  });
});
