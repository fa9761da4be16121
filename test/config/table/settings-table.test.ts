import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { KEYS } from '../../../src/config/table/fields.ts';
import { settingsTable } from '../../../src/config/table/settings-table.ts';

const PAGE = new URL('../../../docs/configuration.md', import.meta.url);

describe('settingsTable', () => {
  it('has a row for every setting and the two that no file can hold, each of five cells', () => {
    const rows = settingsTable().split('\n');
    expect(rows).toHaveLength(KEYS.length + 4);
    for (const row of rows) expect(row.replaceAll(String.raw`\|`, '').split('|')).toHaveLength(7);
    expect(rows).toContainEqual(
      expect.stringMatching(/^\| `delivery\.timeout` \|.*\| `5s` \| `--timeout` \| +\|$/),
    );
  });

  it('is what docs/configuration.md shows', () => {
    expect(unpadded(readFileSync(PAGE, 'utf8'))).toContain(unpadded(settingsTable()));
  });
});

/** Prettier aligns a markdown table's columns. */
function unpadded(markdown: string): string {
  return markdown.replaceAll(/-{3,}/g, '---').replaceAll(/ {2,}/g, ' ');
}
