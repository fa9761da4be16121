import { spawnSync } from 'node:child_process';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { afterEachFile } from '../clean-ups.ts';
import { hasTool } from '../external-tool.ts';

/** Names of the program, which differ between systems. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const found = NAMES.find((name) => spawnSync(name, ['--version']).status === 0);

/** Whether a browser is installed. */
export const hasBrowser = hasTool(found ?? 'chromium', '--version');

let browser: Promise<Browser> | undefined;
afterEachFile(async () => {
  const opened = await browser;
  browser = undefined;
  await opened?.close();
});

/** Starts Chromium, once for each test file. It resolves evil.example to this machine. */
function launched(): Promise<Browser> {
  const executablePath = spawnSync('sh', ['-c', `command -v ${found}`])
    .stdout.toString()
    .trim();
  browser ??= chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--host-resolver-rules=MAP evil.example 127.0.0.1'],
  });
  return browser;
}

export interface Opened {
  readonly page: Page;
  /** Problems of the page: errors, what its content policy blocked, dialogs that opened. */
  readonly complaints: string[];
}

/** Opens a page that is closed when its test ends. */
export async function openPage(url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const opened = await openSharedPage(url, options);
  onTestFinished(() => opened.page.context().close());
  return opened;
}

/** Opens a page for several tests. It is closed when their file ends. */
export async function openSharedPage(url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await (await launched()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url);
  return { page, complaints };
}
