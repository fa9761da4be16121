import { describe, expect, it } from 'vitest';
import { KEYS } from '../../src/config/table/fields.ts';
import { configurationPage, settingsTable } from './configuration-page.ts';

describe('docs/configuration.md', () => {
  it('shows the settings as their table has them; npm run docs:configuration writes it', async () => {
    await expect(await configurationPage()).toMatchFileSnapshot('../../docs/configuration.md');
  });

  it('has a row for every setting and the two that no file can hold, each of five cells', () => {
    const rows = settingsTable().split('\n');
    expect(rows).toHaveLength(KEYS.length + 4);
    for (const row of rows) expect(row.replaceAll(String.raw`\|`, '').split('|')).toHaveLength(7);
    expect(rows).toContainEqual(
      expect.stringMatching(/^\| `delivery\.timeout` \|.*\| `5s` \| `--timeout` \| +\|$/),
    );
  });
});
