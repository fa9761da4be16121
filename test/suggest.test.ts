import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closest, nearHint, nearHost, nearPath } from '../src/suggest.ts';
import { temporaryFolder } from './temporary-folder.ts';

const KNOWN = ['page', 'screen', 'identify', 'track', 'properties', 'userId'];

describe('closest', () => {
  it.each([
    ['traq', 'track'],
    ['tarck', 'track'],
    ['Track', 'track'],
    ['identfy', 'identify'],
    ['userid', 'userId'],
    ['propertys', 'properties'],
    ['pages', 'page'],
  ])('suggests for %s the word %s', (word, meant) => {
    expect(closest(word, KNOWN)).toBe(meant);
  });

  it.each(['', 'x', 'purchase', 'ok', 'p'.repeat(10_000)])('suggests nothing for %s', (word) => {
    expect(closest(word, KNOWN)).toBeUndefined();
  });
});

describe('nearHint', () => {
  it.each([
    ['trakc', 'did you mean track?'],
    ['ident', 'did you mean identify?'],
    ['nosuch', 'look it up'],
    ['', 'look it up'],
  ])('for %j is %s', (word, hint) => {
    expect(nearHint(word, KNOWN, 'look it up')).toBe(hint);
  });
});

describe('nearPath', () => {
  it('finds a file or folder with a near name, and nothing else', () => {
    const folder = temporaryFolder({ 'secret.txt': '', 'orders/a.ndjson': '' });
    expect(nearPath(join(folder, 'secert.txt'))).toBe(join(folder, 'secret.txt'));
    expect(nearPath(join(folder, 'order/a.ndjson'))).toBe(join(folder, 'orders/a.ndjson'));
    expect(nearPath(join(folder, 'order/a.ndjsn'))).toBe(join(folder, 'orders/a.ndjson'));
    expect(nearPath(join(folder, 'other.txt'))).toBeUndefined();
    expect(nearPath(join(folder, 'invoices/a.ndjson'))).toBeUndefined();
  });
});

describe('nearHost', () => {
  it('finds hosts of this machine and of URLs, but not the host itself', () => {
    expect(nearHost('localhsot', [])).toBe('localhost');
    expect(nearHost('exmaple.internal', ['no URL', undefined, 'http://example.internal:3000/'])).toBe(
      'example.internal',
    );
    expect(nearHost('example.internal', ['http://example.internal:3000/'])).toBeUndefined();
  });
});
