// Needs curl and tmux.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { argv } from '../end-to-end/argv.ts';
import { headerOf, receiving } from '../end-to-end/receiving.ts';
import { hasTool } from '../external-tool.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { listening } from './listening-at-terminal.ts';

const HOOKS = fileURLToPath(new URL('../../bin/hooks.js', import.meta.url));
const CANARIES = ['tok-canary', 'bearer-canary', 'wk-canary'];
const HEADER = `'; touch pwned; ' %s \\101 "$(touch pwned)" \u009b31m\u00e9\t.`;
const PATH = `/hook'$(touch$IFS'pwned')?a=1&token=tok-canary`;

/** Posts bytes that fetch cannot send. */
function postRaw(url: string, body: string): Promise<void> {
  const { host, hostname, port } = new URL(url);
  const own = ['X-Evil', HEADER, 'Authorization', 'Bearer bearer-canary', 'X-Empty', ''];
  const headers = ['Host', host, 'Content-Length', String(Buffer.byteLength(body)), ...own];
  return new Promise((resolve, reject) => {
    request({ hostname, port, path: PATH, method: 'POST', headers }, (response) => {
      response.resume().on('end', resolve);
    })
      .on('error', reject)
      .end(Buffer.from(body)); // With a string, Node writes the headers in UTF-8, too.
  });
}

describe.skipIf(!hasTool('curl', '--version'))('a request that c copies as curl', () => {
  it.each([
    [
      'quotes and expansions',
      `{"id":"evt'; touch pwned; '","a":"$(touch pwned)\`touch pwned\` \\\\ ! %s\\n"}`,
    ],
    ['a write key', `{"writeKey":"wk-canary'","a":"'$(touch pwned)'","b":{"writeKey" : "wk-canary'"}}`],
    ['control characters', `{"a":"\u202e\u009b31m"}\u0000\r\n\t'`],
    ['no text', '\u0000'],
  ])('is the same when a shell runs it, and has no secret in it: %s', async (_, body) => {
    const { running, url, screen } = await listening();
    const to = await receiving();
    await postRaw(url, body);
    await until(() => screen().includes('POST'), 'the request');
    running.press('c');
    await until(() => screen().includes('Copied'), 'the copy');
    await running.stop();
    // eslint-disable-next-line no-control-regex -- the sequence of a terminal
    const sequence = /\u001b\]52;c;([\w+/=]+)\u0007/.exec(screen());
    const command = Buffer.from(sequence?.[1] ?? '', 'base64').toString();
    expect(screen()).toContain(`${command}\n`);
    // eslint-disable-next-line no-control-regex -- the test is that there are none
    expect(command).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    for (const canary of CANARIES) expect(command).not.toContain(canary);
    expect(screen().replaceAll(/\s+/g, ' ')).toContain('set HOOKS_TOKEN, HOOKS_AUTHORIZATION');
    const cwd = temporaryFolder();
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOOKS_TOKEN: 'tok-canary',
      HOOKS_AUTHORIZATION: 'Bearer bearer-canary',
      HOOKS_WRITE_KEY: `wk-canary'`,
    };
    const shell = spawn('sh', ['-c', command.replace(url, to.url)], {
      cwd,
      env,
      stdio: 'ignore',
      timeout: 20_000,
    });
    await once(shell, 'close');
    const [got] = to.requests;
    expect(got?.path).toBe(PATH);
    expect(got && headerOf(got, 'x-evil')).toBe(HEADER);
    expect(got && headerOf(got, 'x-empty')).toBe('');
    expect(got && headerOf(got, 'authorization')).toBe('Bearer bearer-canary');
    expect(to.bodies()).toEqual([body]);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe.skipIf(!hasTool('tmux', '-V'))('the keys of hooks listen in a shell', () => {
  it.each(['q', 'C-c', 'C-d'])('%s ends it and restores the terminal', async (key) => {
    const shell = await pane();
    shell.keys(key);
    await shell.shows(/Stopped after/);
    await expectRestored(shell);
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('%s ends it and restores the terminal', async (signal) => {
    const shell = await pane();
    process.kill(shell.pid(), signal);
    await shell.shows(/Stopped after/);
    await expectRestored(shell);
  });

  it('are off after Ctrl-Z and bg, and on again after fg', async () => {
    const shell = await pane();
    shell.keys('C-z');
    await shell.shows(/Stopped {2,}sh/);
    shell.keys('echo "[$((40 + 2))]"', 'Enter');
    await shell.shows('[42]'.replaceAll(/[[\]]/g, '.'));
    shell.keys('bg', 'Enter');
    shell.keys('echo "[$((50 + 2))]"', 'Enter');
    await shell.shows('.52.');
    shell.keys('fg', 'Enter');
    await shell.shows(/fg\n.*hooks listen/s);
    await until(() => {
      shell.keys('c');
      return shell.tmux('capture-pane', '-p').includes('No request has been shown yet');
    }, 'keys');
    shell.keys('q');
    await shell.shows('Stopped after');
    await expectRestored(shell);
  });

  it('are off if it is started in the background, and on after fg', async () => {
    const shell = await pane();
    shell.keys('q');
    await shell.shows('Stopped after');
    shell.keys('clear', 'Enter');
    shell.keys('sh ./hooks listen --port 0 &', 'Enter');
    await shell.shows('Try:');
    shell.keys('echo "[$((60 + 2))]"', 'Enter');
    await shell.shows('.62.');
    expect(shell.tmux('capture-pane', '-p')).not.toMatch(/Keys:|Stopped/);
    shell.keys('fg', 'Enter');
    await shell.shows('Keys:');
    shell.keys('c');
    await shell.shows('No request has been shown yet');
    shell.keys('q');
    await shell.shows('Stopped after');
    await expectRestored(shell);
  });
});

async function pane() {
  const cwd = temporaryFolder({ hooks: `#!/bin/sh\nexec '${process.execPath}' '${HOOKS}' "$@"\n` });
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', join(cwd, 'tmux'), ...args], { encoding: 'utf8' });
  onTestFinished(() => void tmux('kill-server'));
  const shell = 'env PS1="ready> " bash --norc -i';
  tmux(...argv`-f /dev/null new-session -d -x 100 -y 40 -c ${cwd} ${shell}`);
  const shows = (text: string | RegExp): Promise<void> =>
    until(() => tmux('capture-pane', '-p').search(text) !== -1, String(text), { seconds: 30 });
  const keys = (...words: string[]): void => void tmux('send-keys', ...words);
  await shows('ready>');
  keys(`sh ./hooks listen --port 0`, 'Enter');
  await shows('Keys:');
  const panePid = tmux('display', '-p', '#{pane_pid}').trim();
  return {
    tmux,
    keys,
    shows,
    pid: () => Number(execFileSync('pgrep', ['-P', panePid], { encoding: 'utf8' }).trim()),
  };
}

/** Expects the shell to echo and run a typed command, which needs a terminal that is not in raw mode. */
async function expectRestored({ tmux, keys, shows }: Awaited<ReturnType<typeof pane>>): Promise<void> {
  tmux('clear-history');
  keys('clear; echo "exit $?: $(stty -a | grep -o "[-]*icanon\\|[-]*isig\\|[-]*echo ")"', 'Enter');
  await shows(/exit 0: isig\nicanon\necho/);
}
