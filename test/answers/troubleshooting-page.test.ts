import { describe, expect, it } from 'vitest';
import { THEMES } from './cases/all.ts';
import { troubleshootingPage } from './troubleshooting-page.ts';

const PAGE = '../../docs/troubleshooting.md';

describe('docs/troubleshooting.md', () => {
  it('is made from the cases; npm run docs:troubleshooting writes it', async () => {
    await expect(await troubleshootingPage(THEMES)).toMatchFileSnapshot(PAGE);
  });

  it('can be read: at most 64 KB', async () => {
    expect(Buffer.byteLength(await troubleshootingPage(THEMES))).toBeLessThanOrEqual(64_000);
  });
});
