// Needs chromium.
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Inbox } from '../../src/inbox/inbox.ts';
import type { PageParts } from '../../src/inbox/page-html.ts';
import { startReceiver } from '../../src/app/explained.ts';
import { freePort } from '../free-port.ts';
import { answers } from '../hostile-receivers.ts';
import { started } from '../transport/sending.ts';
import { RawConnection, rawPost } from '../receiver/raw-connection.ts';
import { hasBrowser, openPage, type Opened } from './browser.ts';
import { startHooks } from './hooks.ts';
import { nextJson, nextUrl } from './running-command.ts';
import { receiving, ROOT, SECRET, track, type Receiving } from './receiving.ts';
import { sign } from '../sign.ts';

// eslint-disable-next-line no-control-regex -- the test is about control characters, except those of the page itself
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

async function listening(args: readonly string[] = []) {
  const listen = startHooks(['listen', '--port', '0', '--ui', '--secret', SECRET, ...args], {
    timeoutMs: 120_000,
  });
  onTestFinished(() => void listen.stop());
  const [url, printed] = [await nextUrl(listen), await nextUrl(listen)];
  return {
    url,
    inbox: `${url}/_hooks`,
    /** The address of the inbox with its token. */
    printed,
    port: Number(new URL(url).port),
    post: async (body: string | Uint8Array, headers?: Record<string, string>): Promise<void> => {
      const signed = { 'X-Signature': sign(body, SECRET), 'Content-Type': 'application/json' };
      await fetch(`${url}/hook`, { method: 'POST', body, headers: headers ?? signed });
    },
  };
}

/** Returns the texts of the visible rows, from the top. */
function rows(page: Page): Promise<string[]> {
  return requests(page).allInnerTexts();
}

function requests(page: Page, options: { name?: RegExp; selected?: boolean } = {}): Locator {
  return page.getByRole('listbox').getByRole('option', options);
}

async function opened(page: Page): Promise<string> {
  return page.locator('.opened').innerText();
}

/** A browser is slow on a busy machine. */
const PATIENT = { timeout: 120_000 };

describe.skipIf(!hasBrowser)('the inbox', PATIENT, () => {
  it('is empty at first, and shows requests as they arrive, with the cause of an invalid signature in words', async () => {
    const listen = await listening();
    const { page, complaints } = await openPage(listen.inbox, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByText('No requests yet').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Copy the command' }).click();
    await page.getByText('Copied the command').waitFor();
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(command).toMatch(
      /^hooks send track --event Signup \\\n {2}--url http:\S+ \\\n {2}--secret-file -$/,
    );
    await listen.post(track(1));
    const row = requests(page, { name: /^track, Signup, by u1, valid, 200, \d\d:\d\d:\d\d/ });
    await row.waitFor();
    await listen.post(track(2), { 'X-Signature': sign(`${track(2)}\n`, SECRET) });
    await listen.post(track(3), {});
    await page.getByText('3 requests').waitFor();
    expect(await rows(page)).toEqual([
      expect.stringMatching(/Signup\s+unsigned\s+200\s+track\s*u1/),
      expect.stringMatching(/Signup\s+invalid\s+200/),
      expect.stringMatching(/Signup\s+valid\s+200/),
    ]);
    await requests(page).nth(1).click();
    await page.getByText('The signature does not match').waitFor();
    expect(await opened(page)).toMatch(/it would match with a newline at the end.*trailing-newline/s);
    // Announced to screen readers, except for requests that were there at the start.
    await expect
      .poll(() => page.locator('#announcer').innerText(), { timeout: 10_000 })
      .toMatch(/new requests?, the last: track, Signup, by u1, unsigned|New request: /);
    expect(complaints).toEqual([]);
  });

  it('searches further for the cause of an opened mismatch, and has no width that its list exceeds', async () => {
    const listen = await listening();
    const properties = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`k${at}`, { a: at }]));
    const body = JSON.stringify({ type: 't'.repeat(200), properties }, undefined, 1);
    const hashed = createHash('sha1').update(sign(body, SECRET)).digest('hex');
    await listen.post(body, { 'X-Signature': hashed });
    const { page } = await openPage(listen.inbox, { viewport: { width: 1000, height: 800 } });
    await requests(page).click();
    await page.getByText('Searching further…').waitFor();
    expect(await opened(page)).not.toContain('different secrets');
    await page.getByText('as SHA-1 of the hex digits of the right HMAC').waitFor();
    await page.getByText('Searching further…').waitFor({ state: 'detached' });
    for (const width of [1000, 1300, 390]) {
      await page.setViewportSize({ width, height: 800 });
      expect(
        await page.evaluate(`(() => {
        const pane = document.querySelector('.side').getBoundingClientRect().right;
        return [...document.querySelectorAll('.filter *')]
          .filter((each) => each.getBoundingClientRect().right > pane)
          .map(({ tagName }) => tagName);
      })()`),
      ).toEqual([]);
    }
  });

  it('does not report an empty list before it is connected', async () => {
    const listen = await listening();
    await listen.post(track(1));
    const { page } = await openPage('about:blank');
    const gate = new EventEmitter();
    const held = once(gate, 'open');
    await page.route(/events/, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(listen.inbox);
    await page.locator('.side').getByText('Connecting…').waitFor();
    expect(await page.getByText('No requests yet').count()).toBe(0);
    gate.emit('open');
    await requests(page).waitFor();
  });

  it('finds requests by their fields and by text in their bodies', async () => {
    const listen = await listening();
    for (const [id, city] of ['Paris', 'Wien', 'Oslo'].entries()) {
      await listen.post(track(id, { properties: { city } }));
    }
    await listen.post('{"version":1,"type":"identify","userId":"u9","traits":{}}');
    const { page } = await openPage(listen.inbox);
    await page.getByText('4 requests').waitFor();
    await page.getByRole('searchbox').fill('wIEN');
    await page.getByText('1 of 4 requests').waitFor();
    await requests(page).click();
    await page.getByRole('treeitem', { name: 'city' }).getByText('"Wien"').waitFor();
    await page.getByRole('searchbox').fill('user:u9');
    await page.getByText('1 of 4 requests').waitFor();
    await page.getByRole('searchbox').fill('nowhere to be found');
    await page.getByText('No request matches').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByRole('combobox', { name: 'Type' }).selectOption('identify');
    await page.getByText('1 of 4 requests').waitFor();
    // Further requests are filtered, too.
    await listen.post(track(5));
    await page.getByText('1 of 5 requests').waitFor();
  });

  it('searches the bodies of further requests, and drops the results of earlier words', async () => {
    const listen = await listening();
    const { page } = await openPage(listen.inbox);
    const client = await RawConnection.open(listen.port);
    client.write(Array.from({ length: 205 }, (_, id) => rawPost(track(id))).join(''));
    await page.getByText('205 requests').waitFor();
    const searched = page.waitForResponse(/search/);
    await page.getByRole('searchbox').fill('needle');
    await page.getByText('No request matches').waitFor();
    await searched;
    await listen.post(track(205, { properties: { city: 'Needle' } }));
    await page.getByText('1 of 206 requests').waitFor();
    await listen.post(track(206, { properties: { city: 'Needles' } }));
    await page.getByText('2 of 207 requests').waitFor();
    const refused = page.waitForResponse((response) => response.status() === 431);
    await page.getByRole('searchbox').fill('x'.repeat(20_000));
    await refused;
    await page.getByText('No request matches').waitFor();
    client.socket.destroy();
  });

  it('replays the exact request with a click, to the URL of --forward or to another port of this machine', async () => {
    const [forward, other] = [
      await receiving({ secret: SECRET }),
      await receiving({ secret: SECRET, respond: '503' }),
    ];
    const listen = await listening(['--forward', `${forward.url}/webhook`]);
    const body = Buffer.concat([Buffer.from(track(1)), Buffer.from([0x0a, 0xff, 0x00])]);
    await listen.post(body, { 'X-Signature': sign(body, SECRET), Authorization: 'Bearer CANARY' });
    const { page } = await openPage(listen.printed);
    await requests(page).click();
    await page.getByText(`Forwarded to ${forward.url}/webhook: 200`).waitFor();
    const field = page.getByRole('textbox', { name: 'Replay to' });
    expect(await field.inputValue()).toBe(`${forward.url}/webhook`);
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText(`Replayed to ${forward.url}/webhook: 200`).waitFor();
    await field.fill(`${other.url}/there?a=b`);
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText(`Replayed to ${other.url}/there?a=b: 503`).waitFor();
    expect(forward.requests).toHaveLength(2);
    expectSame(forward, other, body);
    for (const [url, said] of [
      ['http://192.0.2.1/', 'Expected a URL on this machine'],
      ['http://evil.example/', 'Expected a URL on this machine'],
      ['ftp://localhost/', 'Expected an http:// or https:// URL'],
      ['http://127.0.0.1:1/', 'refused'],
    ] as const) {
      await field.fill(url);
      await page.getByRole('button', { name: 'Replay' }).click();
      await page.locator('.replay', { hasText: said }).waitFor();
    }
    expect(await page.content()).not.toContain('CANARY');
  });

  it('replays by key only if the button is enabled, and shows each outcome with its request', async () => {
    const held: ServerResponse[] = [];
    const server = createServer((_request, response) => held.push(response)).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    const listen = await listening();
    await fetch(listen.url, { method: 'PUT' });
    await listen.post(track(1, { event: 'First' }));
    await listen.post(track(2, { event: 'Second' }));
    const { page } = await openPage(listen.printed);
    await page.getByText('3 requests').waitFor();
    const outcome = page.locator('.outcome');
    await page.keyboard.press('j');
    await page.keyboard.press('G');
    await page.locator('button.primary:disabled').waitFor();
    await page
      .getByRole('textbox', { name: 'Replay to' })
      .fill(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.locator('#requests').focus();
    await page.keyboard.press('r');
    await page.keyboard.press('k');
    await page.locator('#opened-title').getByText('First').waitFor();
    await page.keyboard.press('r');
    await outcome.getByText('Sending').waitFor();
    await page.keyboard.press('r');
    await page.keyboard.press('k');
    await page.locator('#opened-title').getByText('Second').waitFor();
    const first = page.waitForResponse(/replay/);
    await expect.poll(() => held.length, { timeout: 10_000 }).toBe(1);
    held[0]?.writeHead(418).end();
    await (await first).finished();
    await page.keyboard.press('r');
    await outcome.getByText('Sending').waitFor();
    await expect.poll(() => held.length, { timeout: 10_000 }).toBe(2);
    held[1]?.writeHead(202).end();
    await outcome.getByText('202').waitFor();
    expect(held).toHaveLength(2);
  });

  it('compares two requests, and copies a request as curl, fixture and capture', async () => {
    const listen = await listening();
    await listen.post(track(1, { properties: { total: 1, gone: true } }), { Cookie: 'CANARY' });
    await listen.post(track(2, { properties: { total: 12345678901234567000 } }), { Cookie: 'CANARY' });
    const { page } = await openPage(listen.inbox, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByText('2 requests').waitFor();
    const copied = async (what: string): Promise<string> => {
      // Waits from before the click, because the notice disappears by itself.
      const notice = page.getByText(`Copied as ${what}`).waitFor();
      await Promise.all([notice, page.getByRole('button', { name: `Copy ${what}` }).click()]);
      return page.evaluate('navigator.clipboard.readText()');
    };
    await requests(page).nth(1).click();
    const curl = await copied('curl');
    expect(curl).toContain(`curl -X POST '${listen.url}/hook'`);
    expect(curl).toMatch(/-H "[Cc]ookie: \$HOOKS_COOKIE"/);
    expect(JSON.parse(await copied('fixture'))).toEqual(
      JSON.parse(track(1, { properties: { total: 1, gone: true } })),
    );
    expect(JSON.parse(await copied('capture'))).toMatchObject({
      capture: 1,
      url: '/hook',
      verdict: 'unsigned',
    });
    await page.getByRole('button', { name: 'Compare' }).click();
    await requests(page).nth(0).click();
    const table = page.getByRole('region', { name: 'Differences' });
    // The head of the table is shown before both bodies are loaded.
    await table.getByRole('row', { name: 'body.messageId' }).waitFor();
    expect(await table.getByRole('row').allInnerTexts()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^body\.properties\.total\s+1\s+12345678901234567000$/),
        expect.stringMatching(/^body\.properties\.gone\s+true\s+not there$/),
        expect.stringMatching(/^body\.messageId\s+"m1"\s+"m2"$/),
      ]),
    );
    await page.keyboard.press('Escape');
    await page.getByRole('tree').waitFor();
  });

  it('works with the keyboard alone', async () => {
    const listen = await listening();
    for (let id = 1; id <= 3; id++) await listen.post(track(id, { event: `Event ${id}` }));
    const { page } = await openPage(listen.inbox);
    await page.getByText('3 requests').waitFor();
    const title = page.locator('#opened-title');
    const selected = requests(page, { selected: true });
    for (const [key, event] of [
      ['j', 'Event 3'],
      ['j', 'Event 2'],
      ['ArrowDown', 'Event 1'],
      ['j', 'Event 1'],
      ['k', 'Event 2'],
      ['g', 'Event 3'],
      ['G', 'Event 1'],
    ] as const) {
      await page.keyboard.press(key);
      await selected.getByText(event).waitFor();
      await title.getByText(event).waitFor();
    }
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('opened-title');
    await page.keyboard.press('3');
    await page.getByRole('region', { name: 'Body as bytes' }).getByText('7b 22 74 79 70 65').waitFor();
    await page.keyboard.press('2');
    await page.getByRole('region', { name: 'Body as text' }).getByText('{"type":"track"').waitFor();
    await page.keyboard.press('4');
    await page.getByRole('row', { name: /x-signature/i }).waitFor();
    await page.keyboard.press('1');
    await page.getByRole('tree').focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('treeitem', { expanded: false }).waitFor();
    expect(await page.getByRole('treeitem').count()).toBe(1);
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement.id')).toBe('requests');
    await page.keyboard.press('/');
    await page.keyboard.type('event:jk?2');
    expect(await page.getByRole('searchbox').inputValue()).toBe('event:jk?2');
    await page.getByText('No request matches').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('3 requests', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys and search' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  it('shows hostile bodies harmlessly', async () => {
    const listen = await listening();
    const markup = '<script>document.title="hacked"</script><img src=x onerror="document.title=\'hacked\'">';
    const controls = '\u001b[2J\u009b31m\u202e\u0007';
    const bodies: readonly (readonly [body: string | Uint8Array, shown: RegExp])[] = [
      [
        JSON.stringify({ type: markup, event: markup, userId: markup, [markup]: markup }),
        /<script>document\.title/,
      ],
      [JSON.stringify({ type: 'track', event: controls, userId: controls }), /\\u001b\[2J/],
      [`no JSON ${controls}\r\n${markup}`, /no JSON \\u001b\[2J\\u009b31m\\u202e/],
      [new Uint8Array([0x7b, 0xff, 0xfe, 0x00, 0xc3, 0x28, 0x7d]), /not valid UTF-8/],
      [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, /not JSON, or nested too deeply/],
      [JSON.stringify({ type: 'track', huge: 'x'.repeat(5 * 1024 * 1024) }), /5,242,880 characters/],
      [`"${'\\n'.repeat(2_500_000)}"`, /2,500,000 characters/],
      [JSON.stringify(Array.from({ length: 300_000 }, (_, index) => index)), /300000 items/],
      ['a\n'.repeat(1_000_000), /not JSON/],
      ['', /The body is empty/],
    ];
    const { page, complaints } = await openPage(listen.inbox);
    for (const [index, [body, shown]] of bodies.entries()) {
      await listen.post(body, { 'X-Signature': markup, 'X-Evil': markup });
      await page.getByText(`${index + 1} request`).waitFor();
      await requests(page).first().click();
      await page.locator('.content').getByText(shown).first().waitFor();
      for (const tab of ['Text', 'Bytes', 'Headers', 'Tree']) {
        await page.getByRole('tab', { name: tab }).click();
        expect(await page.locator('.line, .branch').count()).toBeLessThan(200);
      }
      expect(await page.locator('body').innerText()).not.toMatch(CONTROLS);
    }
    expect(await page.title()).toBe('(10) Inbox · hooks');
    expect(await page.locator('#inbox img, #inbox script').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('shows ten thousand requests with at most 60 rows', async () => {
    const listen = await listening();
    const { page, complaints } = await openPage(listen.inbox);
    const client = await RawConnection.open(listen.port);
    const bodies = Array.from({ length: 10_000 }, (_, id) => track(id, { event: `E${id}` }));
    client.write(bodies.map((body) => rawPost(body, [`X-Signature: ${sign(body, SECRET)}`])).join(''));
    await page.getByText('10,000 requests').waitFor({ timeout: 60_000 });
    const count = await requests(page).count();
    expect(count).toBeLessThan(60);
    expect(await requests(page).first().getAttribute('aria-setsize')).toBe('10000');
    await page.keyboard.press('j');
    await page.locator('#opened-title').getByText('E9999').waitFor();
    await page.keyboard.press('G');
    await page.locator('#opened-title').getByText('E0', { exact: true }).waitFor();
    await requests(page, { selected: true }).waitFor();
    // A new request on top does not move the selection.
    await listen.post(track('new', { event: 'On top' }));
    await page.getByText('10,001 requests').waitFor();
    expect(await requests(page, { selected: true }).getAttribute('aria-posinset')).toBe('10001');
    await page.getByRole('searchbox').fill('event:e123');
    await page.getByText('11 of 10,001 requests').waitFor();
    expect(complaints).toEqual([]);
    client.socket.destroy();
  });

  it('reports that older requests were evicted, and shows further requests', async () => {
    const inbox = new Inbox({
      host: '127.0.0.1',
      scheme: 'http',
      page: await builtPage(),
      hasSecret: false,
      programName: 'hooks',
      replay: () => Promise.reject(new TypeError('Not asked for here')),
      limits: { requests: 3 },
    });
    const receiver = await startReceiver({
      secrets: [],
      serveOwn: inbox.serve,
      onRequest: (request) => inbox.add(request),
    });
    onTestFinished(async () => {
      inbox.close();
      await receiver.close();
    });
    const { page } = await openPage(inbox.open(receiver));
    for (let id = 1; id <= 5; id++) {
      await fetch(receiver.url, { method: 'POST', body: track(id, { event: `E${id}` }) });
      await requests(page, { name: new RegExp(`E${id},`) }).waitFor();
    }
    await page.getByText('2 older requests were evicted').waitFor();
    await page.getByText('3 requests').waitFor();
    expect((await rows(page)).map((text) => text.slice(0, 2))).toEqual(['E5', 'E4', 'E3']);
  });

  it('reports a lost connection, and offers to reload', async () => {
    const port = String(await freePort());
    const flags = ['listen', '--port', port, '-o', 'json', '--ui'];
    const listen = startHooks(flags, { timeoutMs: 60_000 });
    const { inbox } = await nextJson<{ inbox: string }>(listen);
    const { page } = await openPage(inbox);
    await page.getByText('Live', { exact: true }).waitFor();
    await listen.stop();
    await page.getByText('Connection lost').waitFor();
    // After a restart on the same port the token differs, so the page must be reloaded.
    const again = startHooks(flags, { timeoutMs: 60_000 });
    onTestFinished(() => void again.stop());
    await again.lines.next();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it.each(['light', 'dark'] as const)('is readable in %s, wide and narrow', async (colorScheme) => {
    const listen = await listening();
    await listen.post(track(1), { 'X-Signature': 'x' });
    await listen.post(track(2), {});
    await listen.post(track(3));
    const { page } = await openPage(listen.inbox, { colorScheme, viewport: { width: 390, height: 800 } });
    await page.getByText('3 requests').waitFor();
    for (let row = 0; row < 3; row++) {
      await requests(page).nth(row).click();
      await page.locator('#opened-title').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
      expect(await page.evaluate(LOW_CONTRAST)).toEqual([]);
      await page.getByRole('button', { name: 'All requests' }).click();
      expect(await page.evaluate(LOW_CONTRAST)).toEqual([]);
    }
    const back = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(Number(/\d+/.exec(back)?.[0]) > 128).toBe(colorScheme === 'light');
  });

  it('is closed to other pages of the same browser', async () => {
    const forward = await receiving();
    const listen = await listening(['--forward', forward.url]);
    await listen.post(track('CANARY'));
    const token = /token&quot;:&quot;([\w-]+)/.exec(await (await fetch(listen.inbox)).text())?.[1] ?? '';
    const evil = await evilPage();
    for (const url of [
      listen.inbox,
      `${listen.inbox}/requests/1?token=${token}`,
      `${listen.inbox}/events?token=${token}`,
    ]) {
      expect(
        await evil.page.evaluate(`fetch(${JSON.stringify(url)}).then((r) => r.text(), (e) => e.name)`),
      ).toBe('TypeError');
    }
    const replay = `fetch('${listen.inbox}/requests/1/replay?token=${token}', { method: 'POST', mode: 'no-cors', body: '{}' })`;
    await evil.page.evaluate(`${replay}.catch(() => {})`);
    expect(forward.requests).toHaveLength(1);
    await evil.page.evaluate(`(() => {
      const frame = document.createElement('iframe');
      frame.src = '${listen.inbox}';
      document.body.append(frame);
      return new Promise((loaded) => (frame.onload = loaded));
    })()`);
    const frame = evil.page.frames().find((each) => each !== evil.page.mainFrame());
    expect(await frame?.content()).not.toContain('inbox');
    // DNS rebinding: the name of the other page resolves to this machine, so only the host name differs.
    const rebound = await openPage(listen.inbox.replace('127.0.0.1', 'evil.example'));
    expect(await rebound.page.content()).toContain('this host name does not belong to the inbox');
    expect(await rebound.page.content()).not.toContain(token);
  });
});

function expectSame(forward: Receiving, other: Receiving, body: Uint8Array): void {
  for (const request of [...forward.requests, ...other.requests]) {
    expect(Buffer.from(request.body).equals(body)).toBe(true);
    expect(request.verdict).toBe('valid');
    expect(request.rawHeaders).toContain('Bearer CANARY');
  }
  expect(headerNames(other)).toEqual(headerNames(forward));
}

/** Reads the script and the style that the binary serves. */
async function builtPage(): Promise<PageParts> {
  const [script = '', style = ''] = await Promise.all(
    ['page.js', 'page.css'].map((name) => readFile(join(ROOT, 'dist/inbox', name), 'utf8')),
  );
  return { script, style };
}

function headerNames({ requests: received }: Receiving): string[] {
  return received.at(-1)?.rawHeaders.filter((_, at) => at % 2 === 0) ?? [];
}

async function evilPage(): Promise<Opened> {
  const headers = ['Content-Type: text/html'];
  const { url } = await started(answers(200, { headers, body: '<!doctype html><body>evil' }));
  return openPage(url);
}

/** Evaluated in the page: returns the visible texts whose contrast is below 4.5 (WCAG 2.2, 1.4.3). */
const LOW_CONTRAST = `(() => {
  const channel = (value) => {
    const part = value / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = parse(getComputedStyle(each).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const faded = (element) => {
    let opacity = 1;
    for (let each = element; each; each = each.parentElement) opacity *= Number(getComputedStyle(each).opacity);
    return opacity;
  };
  const low = [];
  for (const element of document.querySelectorAll('#inbox *')) {
    const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join('');
    const box = element.getBoundingClientRect();
    const opacity = faded(element);
    if (text === '' || box.width < 2 || opacity === 0) continue;
    const back = behind(element);
    const color = parse(getComputedStyle(element).color).slice(0, 3);
    const seen = color.map((value, index) => value * opacity + back[index] * (1 - opacity));
    const [one, other] = [luminance(seen), luminance(back)].toSorted((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < 4.5) low.push(element.className + ' "' + text + '" ' + ratio.toFixed(2));
  }
  return low;
})()`;
