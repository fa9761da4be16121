import { describe, expect, it } from 'vitest';
import { THEMES } from './cases/all.ts';
import { troubleshootingPage } from './troubleshooting-page.ts';

const PAGE = '../../docs/troubleshooting.md';

const page = troubleshootingPage(THEMES);

describe('docs/troubleshooting.md', () => {
  it('is made from the cases; npm run docs:troubleshooting writes it', async () => {
    await expect(await page).toMatchFileSnapshot(PAGE);
  });

  it('can be read: at most 72 KB', async () => {
    expect(Buffer.byteLength(await page)).toBeLessThanOrEqual(72_000);
  });
});
