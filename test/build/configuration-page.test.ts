import { describe, expect, it } from 'vitest';
import { KEYS } from '../../src/config/table/fields.ts';
import { configurationPage, settingsTable } from './configuration-page.ts';

describe('docs/configuration.md', () => {
  it('has the current tables of settings, which npm run docs:configuration writes', async () => {
    await expect(await configurationPage()).toMatchFileSnapshot('../../docs/configuration.md');
  });

  it('has a row of five cells for every setting, and for the two that no file can have', () => {
    const rows = settingsTable().split('\n');
    expect(rows).toHaveLength(KEYS.length + 4);
    for (const row of rows) expect(row.replaceAll(String.raw`\|`, '').split('|')).toHaveLength(7);
    expect(rows).toContainEqual(
      expect.stringMatching(/^\| `delivery\.timeout` \|.*\| `5s` \| `--timeout` \| +\|$/),
    );
  });
});
