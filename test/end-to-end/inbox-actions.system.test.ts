// Needs chromium.
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hooks } from '../cli/run-in-process.ts';
import { sign } from '../sign.ts';
import { hasBrowser, openPage, openSharedPage } from './browser.ts';
import { startHooks, type RunningHooks } from './hooks.ts';
import { nextUrl } from './running-command.ts';
import { receiving, SECRET, track, type Receiving } from './receiving.ts';

/** A browser is slow on a busy machine. */
const PATIENT = { timeout: 120_000 };

const RESTRINGIFIED = JSON.stringify({ type: 'track', userId: 'u2', event: 'Shipped' }, undefined, 2);
const BATCH = [
  { type: 'track', event: 'Cart Viewed', userId: 'in-batch' },
  { type: 'identify', userId: 'in-batch', traits: { plan: 'pro' } },
];

// One page for all tests, because a browser is slow to open. Each test except the last leaves the list unchanged.
describe.skipIf(!hasBrowser)('the inbox', PATIENT, () => {
  let listen: RunningHooks;
  let url = '';
  let inboxUrl = '';
  let page: Page;
  let complaints: readonly string[];
  let other: Receiving;

  const post = (body: string, headers: Record<string, string> = {}, path = '/hook'): Promise<number> =>
    fetch(url + path, { method: 'POST', body, headers }).then(({ status }) => status);
  const rows = (name?: RegExp): Locator => page.getByRole('listbox').getByRole('option', name && { name });
  const title = (): Locator => page.locator('#opened-title');
  const verdict = (): Locator => page.locator('.verdict');

  beforeAll(async () => {
    other = await receiving({ secret: SECRET });
    listen = startHooks(['listen', '--port', '0', '--ui', '--secret', SECRET], { timeoutMs: 300_000 });
    url = await nextUrl(listen);
    inboxUrl = await nextUrl(listen);
    await post(track(1), { 'X-Signature': sign(track(1), SECRET), Authorization: 'Bearer CANARY' });
    await post(track(2, { event: 'Refunded' }), { 'X-Signature': sign(track(1), SECRET) });
    await post(RESTRINGIFIED, { 'X-Signature': sign(JSON.stringify(JSON.parse(RESTRINGIFIED)), SECRET) });
    await post(JSON.stringify({ batch: BATCH }), {}, '/v1/batch');
    ({ page, complaints } = await openSharedPage(inboxUrl, {
      permissions: ['clipboard-read', 'clipboard-write'],
    }));
    await page.getByText('4 requests').waitFor();
  }, 120_000);

  afterAll(() => listen.stop());

  it('shows the number of requests in the title of the tab', async () => {
    expect(inboxUrl).toMatch(/\/_hooks\?token=[\w-]{32}$/);
    await expect.poll(() => page.title()).toBe('(4) Inbox · hooks');
  });

  it('has a link for each request, and Back leads to the list', async () => {
    await rows(/Refunded/).click();
    await title().getByText('Refunded').waitFor();
    expect(new URL(page.url()).hash).toBe('#/requests/2');
    await page.keyboard.press('j');
    await title().getByText('Signup').waitFor();
    expect(new URL(page.url()).hash).toBe('#/requests/1');
    await page.keyboard.press('l');
    await page.getByText('Copied as link').waitFor();
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(link).toBe(`${url}/_hooks#/requests/1`);
    await page.reload();
    await title().getByText('Signup').waitFor();
    await page.goBack();
    await title().waitFor({ state: 'detached' });
    expect(new URL(page.url()).hash).toBe('');
    await page.evaluate('location.hash = "#/requests/99"');
    await page.getByText('Cannot show this request: not found').waitFor();
    await page.evaluate('location.hash = "#/requests/1/compare/2"');
    await page.getByRole('region', { name: 'Differences' }).getByText('"Refunded"').waitFor();
    await page.evaluate('location.hash = ""');
    await title().waitFor({ state: 'detached' });
  });

  it('shows the expected signature beside the received one, on the page of the printed address only', async () => {
    await rows(/Refunded/).click();
    const body = track(2, { event: 'Refunded' });
    await page.locator('.signatures', { hasText: sign(body, SECRET) }).waitFor();
    expect(await page.locator('.signatures').innerText()).toMatch(
      new RegExp(`Expected\\s+${sign(body, SECRET)}\\s+Copy\\s+Actual\\s+${sign(track(1), SECRET)}`),
    );
    await page.getByRole('button', { name: 'Copy the expected signature' }).click();
    await page.getByText('Copied the signature').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(sign(body, SECRET));
    const without = await openPage(`${url}/_hooks#/requests/2`);
    await without.page.getByText('The signature does not match').waitFor();
    expect(await without.page.locator('.signatures').count()).toBe(0);
    expect(await without.page.content()).not.toContain(sign(body, SECRET));
  });

  it('marks a request that is valid only when re-serialized in amber, with its own word and filter', async () => {
    const word = rows(/Shipped/).locator('.word');
    expect(await word.innerText()).toBe('re-serialized');
    const amber = await page.evaluate<string>(`(() => {
      const sample = document.body.appendChild(document.createElement('i'));
      sample.style.color = 'var(--warn)';
      const { color } = getComputedStyle(sample);
      sample.remove();
      return color;
    })()`);
    const colorOfWord = 'getComputedStyle(document.querySelector(".word.re-serialized")).color';
    expect(await page.evaluate(colorOfWord)).toBe(amber);
    await page.getByRole('combobox', { name: 'Signature' }).selectOption('re-serialized');
    await page.getByText('1 of 4 requests').waitFor();
    await rows().click();
    await verdict().getByText('valid only for the re-serialized body').waitFor();
    expect(await verdict().innerText()).toContain('not the received bytes (pretty-printed)');
    await page.getByRole('combobox', { name: 'Signature' }).selectOption('valid');
    await page.getByText('2 of 4 requests').waitFor();
    await page.getByRole('combobox', { name: 'Signature' }).selectOption('');
  });

  it('finds a batch by the fields of its messages, and shows each message', async () => {
    for (const term of ['event:cart', 'user:in-batch', 'type:identify', 'viewed']) {
      await page.getByRole('searchbox').fill(term);
      await page.getByText('1 of 4 requests').waitFor();
    }
    expect(await rows().innerText()).toMatch(/2 messages[^]*Cart Viewed, identify/);
    await rows().click();
    await page.getByRole('treeitem', { name: '1. track "Cart Viewed" by in-batch' }).waitFor();
    await page.getByRole('treeitem', { name: '2. identify by in-batch' }).waitFor();
    await page.getByRole('tab', { name: 'Response' }).click();
    const response = page.getByRole('region', { name: 'Response' });
    await response.getByText('{"success":true}').waitFor();
    await response.getByRole('row', { name: 'content-type application/json' }).waitFor();
    await page.getByRole('tab', { name: 'Tree' }).click();
    await page.getByRole('searchbox').fill('');
  });

  it('responds to further requests as set on one page, and updates every page', async () => {
    const second = await openPage(inboxUrl);
    await second.page.getByRole('button', { name: 'Responses: 200' }).click();
    const field = second.page.getByRole('textbox', { name: 'Respond to the next requests with' });
    await field.fill('99x');
    await second.page.getByRole('button', { name: 'Apply' }).click();
    await second.page.getByRole('alert').getByText('Expected a status').waitFor();
    expect(await field.getAttribute('aria-describedby')).toContain('script-error');
    await field.fill('99');
    await second.page.getByRole('alert').getByText('Expected a status').waitFor({ state: 'detached' });
    expect(await field.getAttribute('aria-invalid')).toBeNull();
    await second.page.getByRole('button', { name: '503x2,200' }).click();
    expect(await field.inputValue()).toBe('503x2,200');
    await second.page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Responses: 503x2,200' }).waitFor();
    expect([await post('{}'), await post('{}'), await post('{}')]).toEqual([503, 503, 200]);
    await page.getByText('7 requests').waitFor();
    await page.getByRole('button', { name: 'Responses' }).click();
    await page.getByRole('textbox', { name: 'Respond' }).fill('');
    await page.keyboard.press('Enter');
    await second.page.getByRole('button', { name: 'Responses: 200' }).waitFor();
    expect(await post('{}')).toBe(200);
    await page.getByText('8 requests').waitFor();
  });

  it('sends an edited and signed request to a port of this machine, from the page of the printed address only', async () => {
    const target = new URL(other.url).host.replace('127.0.0.1', 'localhost');
    await rows(/Signup/).click();
    await title().getByText('Signup').waitFor();
    await page.locator('#requests').focus();
    await page.keyboard.press('e');
    const body = page.getByRole('textbox', { name: 'Body' });
    expect(await body.inputValue()).toBe(track(1));
    const changed = track(1, { event: '已编辑' });
    await body.fill(changed);
    const headers = page.getByRole('textbox', { name: 'Headers' });
    expect(await headers.inputValue()).toContain('Authorization: ***');
    await headers.fill(`${await headers.inputValue()}\nX-Edited: yes`);
    await page.getByRole('textbox', { name: 'Replay to' }).fill(`${target}/there`);
    expect(await page.getByRole('checkbox', { name: 'Sign it' }).isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Send edited' }).click();
    await page.getByText(`Replayed to http://${target}/there: 200`).waitFor();
    expect(other.bodies()).toEqual([changed]);
    expect(other.requests[0]).toMatchObject({ verdict: 'valid', path: '/there' });
    expect(other.requests[0]?.rawHeaders).toEqual(
      expect.arrayContaining(['X-Edited', 'yes', 'Bearer CANARY']),
    );
    await headers.fill('no header');
    await page.getByRole('button', { name: 'Send edited' }).click();
    await page
      .locator('#edit-headers + [role=alert]', { hasText: 'Expected the name of a header' })
      .waitFor();
    expect(await headers.getAttribute('aria-invalid')).toBe('true');
    await headers.fill('X-Edited: yes');
    await page.getByText('Expected the name of a header').waitFor({ state: 'detached' });
    const address = page.getByRole('textbox', { name: 'Replay to' });
    await address.fill('https://other.example/');
    await page.getByRole('button', { name: 'Send edited' }).click();
    await page.getByRole('alert').getByText('Expected a URL on this machine').waitFor();
    expect(await address.getAttribute('aria-describedby')).toBe('replay-url-error');
    await address.fill(target);
    await page.getByText('Expected a URL on this machine').waitFor({ state: 'detached' });
    expect(await address.getAttribute('aria-invalid')).toBeNull();
    await page.keyboard.press('Escape');
    await page.getByRole('tree').waitFor();

    const without = (await openPage(`${url}/_hooks#/requests/1`)).page;
    await without.getByText('This page only reads').waitFor();
    await without.getByRole('textbox', { name: 'Replay to' }).fill(target);
    for (const name of ['Replay', 'Edit', 'Export', 'Clear…', /^Responses/]) {
      expect(await without.getByRole('button', { name, exact: true }).isDisabled(), String(name)).toBe(true);
    }
    await without.locator('#opened-title').focus();
    for (const key of ['e', 'r']) await without.keyboard.press(key);
    await without.getByRole('tree').waitFor();
    expect(await without.getByRole('button', { name: 'Stop editing' }).count()).toBe(0);
    expect(await without.locator('.outcome').innerText()).toBe('');
    expect(other.requests).toHaveLength(1);
  });

  it('exports the shown requests as captures that replay and verify read', async () => {
    await page.getByRole('combobox', { name: 'Signature' }).selectOption('valid');
    await page.getByText('2 of 8 requests').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    await page.getByText('Exported 2 requests').waitFor();
    expect(download.suggestedFilename()).toMatch(/^captures-[\dTZ-]+\.ndjson$/);
    const file = await download.path();
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { body: string }).body)).toEqual([
      track(1),
      RESTRINGIFIED,
    ]);
    const again = await receiving({ secret: SECRET });
    const replayed = await hooks(['replay', file, '--url', again.url, '--secret', SECRET, '-o', 'json']);
    expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining('"delivered":2') as string });
    expect(again.requests.map(({ verdict: each }) => each)).toEqual(['valid', 'valid']);
    const [first = ''] = lines;
    expect(await hooks(['verify', '--secret', SECRET], { stdin: first })).toMatchObject({ code: 0 });
    await page.getByRole('combobox', { name: 'Signature' }).selectOption('');
  });

  it('compares two requests on a phone, with a way back at each step', async () => {
    const phone = (await openPage(inboxUrl, { viewport: { width: 390, height: 800 } })).page;
    await phone.getByRole('option', { name: /Refunded/ }).click();
    await phone.getByRole('button', { name: 'Compare' }).click();
    await phone.getByText(/Comparing with Refunded of [\d:.]+: choose another request/).waitFor();
    await phone.getByRole('button', { name: 'Cancel' }).click();
    await phone.getByText('Comparing with').waitFor({ state: 'detached' });
    await phone.getByRole('option', { name: /Refunded/ }).click();
    await phone.getByRole('button', { name: 'Compare' }).click();
    await phone.getByRole('option', { name: /Signup/ }).click();
    const table = phone.getByRole('region', { name: 'Differences' });
    await table.getByText('"Refunded"').waitFor();
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(await table.getByText('"track"').count()).toBe(0);
    await phone.getByRole('checkbox', { name: 'Show all' }).check();
    expect(await table.getByText('"track"').count()).toBe(2);
    await phone.getByRole('button', { name: 'All requests' }).click();
    await phone.getByText('Comparing with Refunded').waitFor();
    await phone.getByRole('option', { name: /Signup/ }).click();
    await phone.getByRole('button', { name: 'Stop comparing' }).click();
    await phone.getByRole('tree').waitFor();
    await phone.getByRole('button', { name: 'All requests' }).click();
    await phone.getByRole('listbox').waitFor();
    expect(await phone.getByText('Comparing with').count()).toBe(0);
  });

  it.each([
    ['a phone', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
    ['a tablet', { viewport: { width: 1280, height: 800 }, hasTouch: true, isMobile: true }],
    ['a narrow window', { viewport: { width: 390, height: 844 } }],
  ])('has buttons of at least 44 px on %s', async (_device, options) => {
    const touched = (await openPage(`${inboxUrl}#/requests/2`, options)).page;
    await touched.locator('#opened-title').getByText('Refunded').waitFor();
    await touched.getByRole('button', { name: 'Edit' }).click();
    await touched.getByRole('textbox', { name: 'Body' }).waitFor();
    const sizes = await touched.locator('button:visible').evaluateAll((buttons) =>
      buttons.map((button) => {
        const { width, height } = button.getBoundingClientRect();
        return { name: button.textContent, width, height };
      }),
    );
    expect(sizes.length).toBeGreaterThan(8);
    expect(sizes.filter(({ width, height }) => width < 44 || height < 44)).toEqual([]);
  });

  it('clears the list of every page after a confirmation', async () => {
    const second = (await openPage(`${url}/_hooks`)).page;
    await second.getByText('8 requests').waitFor();
    await page.getByRole('button', { name: 'Clear…' }).click();
    await page.getByRole('dialog', { name: 'Clear all 8 requests?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await rows().count()).toBe(8);
    await page.getByRole('button', { name: 'Clear…' }).click();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.getByText('No requests yet').waitFor();
    await second.getByText('No requests yet').waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await expect.poll(() => page.title()).toBe('Inbox · hooks');
    await post(track(9, { event: 'After' }));
    await rows(/After/).click();
    await title().getByText('After').waitFor();
    expect(new URL(page.url()).hash).toBe('#/requests/9');
    expect(await page.getByText('evicted').count()).toBe(0);
    expect(complaints.filter((each) => !/status of 40[04]/.test(each))).toEqual([]);
  });
});
