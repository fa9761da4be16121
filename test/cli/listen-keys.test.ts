import { describe, expect, it } from 'vitest';
import { receiving, SECRET } from '../end-to-end/receiving.ts';
import { until } from '../until.ts';
import { listening } from './listening-at-terminal.ts';
import { startHooks } from './run-in-process.ts';

const BODY = JSON.stringify({ type: 'track', userId: 'u1', event: 'Signup', properties: { plan: 'pro' } });

async function post(url: string, body = BODY, headers: Record<string, string> = {}): Promise<void> {
  await fetch(url, { method: 'POST', body, headers });
}

describe('keys of hooks listen', () => {
  it('are listed at the start, on a terminal only', async () => {
    const { running, screen } = await listening();
    expect(screen()).toContain('Keys: c copies the last request as curl');
    expect(running.terminal).toEqual(['raw']);
    expect(await running.stop()).toMatchObject({ code: 0 });
    expect(running.terminal).toEqual(['raw', 'cooked']);
    const piped = startHooks(['listen', '--port', '0']);
    await piped.lines.next();
    await until(() => piped.stderr().includes('Try:'), 'the first lines');
    expect(piped.stderr()).not.toContain('Keys:');
    await piped.stop();
    expect(piped.terminal).toEqual([]);
  });

  it('are off with -o json', async () => {
    const json = startHooks(['listen', '--port', '0', '-o', 'json'], { terminalColumns: 80, hasKeys: true });
    await json.lines.next();
    await json.stop();
    expect(json.terminal).toEqual([]);
  });

  it.each(['q', '\u0004'])('exit with 0: %j', async (key) => {
    const { running } = await listening();
    running.press(key);
    expect(await running.exited).toMatchObject({ code: 0 });
    expect(running.terminal).toEqual(['raw', 'cooked']);
  });

  it('exit with 1 if requests are expected', async () => {
    const { running } = await listening(['--count', '2']);
    running.press('q');
    expect(await running.exited).toMatchObject({ code: 1 });
  });

  it.each([
    ['\u0003', 'SIGINT'],
    ['\u001c', 'SIGQUIT'],
  ])('restore the terminal, and send %j as %s to the whole process group', async (key, signal) => {
    const { running } = await listening();
    running.press(key);
    await running.exited;
    expect(running.terminal).toEqual(['raw', 'cooked', signal]);
  });

  it('suspend it with Ctrl-Z, and work again afterwards', async () => {
    const { running, url, screen } = await listening();
    running.press('\u001a');
    await until(() => running.terminal.length === 4, 'the end of the suspension');
    expect(running.terminal).toEqual(['raw', 'cooked', 'SIGTSTP', 'raw']);
    await post(url);
    running.press('c');
    await until(() => screen().includes('curl '), 'the copy');
    running.press('q');
    expect(await running.exited).toMatchObject({ code: 0 });
    expect(running.terminal.at(-1)).toBe('cooked');
  });

  it('restore the terminal on SIGTERM, and report that no request arrived yet', async () => {
    const { running, screen } = await listening();
    running.press('c');
    running.press('r');
    await until(() => screen().split('No request has been shown yet').length === 3, 'both sentences');
    await running.stop('SIGTERM');
    expect(running.terminal).toEqual(['raw', 'cooked']);
  });

  it('work each if one read returns several', async () => {
    const { running, screen } = await listening();
    running.press('cc');
    await until(() => screen().split('No request has been shown yet').length === 3, 'both sentences');
    running.press('/');
    running.press('event=XY\u007f\u007fOrder');
    await until(() => screen().endsWith('filter: event=Order'), 'the filter');
    running.press('\u001bq');
    expect(await running.exited).toMatchObject({ code: 0 });
  });

  it('ignore pasted text and arrow keys', async () => {
    const { running, screen } = await listening();
    running.press('quit c r');
    running.press('\u001b[A');
    running.press('\u001bOP');
    running.press('x');
    await until(() => screen().split('Keys:').length === 3, 'the help');
    expect(await running.stop()).toMatchObject({ code: 0 });
    expect(screen()).not.toContain('No request');
  });

  it('filter the following requests, with the filter below the lines while typed', async () => {
    const { running, url, screen } = await listening();
    for (const key of ['/', 'e', 'v', 'ent=X', '\u007f', 'Order']) running.press(key);
    await until(() => screen().endsWith('filter: event=Order'), 'the filter');
    await post(url);
    await until(() => screen().includes('track "Signup"'), 'the first request');
    expect(screen().endsWith('\r\u001b[Kfilter: event=Order')).toBe(true);
    running.press('\r');
    await until(
      () => screen().includes('Showing requests with a message of event=Order'),
      'the filter to apply',
    );
    await post(url, BODY.replace('Signup', 'Hidden'));
    await post(url, BODY.replace('Signup', 'Order'));
    await until(() => screen().includes('track "Order"'), 'the request that matches');
    expect(screen()).not.toContain('Hidden');
    running.press('/');
    running.press('userId>>');
    running.press('\r');
    await until(() => screen().includes('error:'), 'the error');
    running.press('/');
    running.press('typed in vain');
    running.press('\u001b');
    running.press('/');
    running.press('\r');
    await until(() => screen().includes('Showing every request'), 'the filter to end');
    await post(url, BODY.replace('Signup', 'Seen'));
    await until(() => screen().includes('track "Seen"'), 'the request that was hidden before');
    expect(await running.stop()).toMatchObject({ code: 0 });
  });

  it('send a request again, to this receiver or to the URL of --forward', async () => {
    const alone = await listening(['--secret', SECRET]);
    await post(alone.url);
    await until(() => alone.screen().includes('track "Signup"'), 'the request');
    alone.running.press('r');
    await until(() => alone.screen().split('track "Signup"').length === 3, 'the request again');
    await until(() => /sent again: 200 OK from http/.test(alone.screen()), 'the response');
    const to = await receiving();
    const passing = await listening(['--forward', `${to.url}/hook`]);
    await post(passing.url, BODY, { 'x-kept': 'yes' });
    await until(() => to.requests.length === 1, 'the forwarded request');
    await until(() => passing.screen().includes('forwarded: 200'), 'its line');
    passing.running.press('r');
    await until(() => to.requests.length === 2, 'the request that is sent again');
    expect(to.bodies()).toEqual([BODY, BODY]);
    expect(to.requests[1]?.rawHeaders).toContain('x-kept');
  });
});

describe('the line below a request', () => {
  it.each([
    ['the properties of a message', BODY, '    {"plan":"pro"}\n'],
    [
      'the body if it is not a message',
      '{\n "id": "evt_1",\n "type": "invoice.paid"\n}',
      '    { "id": "evt_1", "type": "invoice.paid" }\n',
    ],
    [
      'escaped control characters and a shortened write key',
      '{"a":"\u202e\u001b","writeKey":"wk-canary"}',
      '    {"a":"\\u202e\\u001b","writeKey":"…nary"}\n',
    ],
    ['the beginning of a wide body', `{"id":"${'注'.repeat(100)}"}`, `    {"id":"${'注'.repeat(34)}…\n`],
  ])('prints %s', async (_, body, line) => {
    const { running, url, screen } = await listening();
    await post(url, body);
    await until(() => screen().includes(line), 'the line');
    expect(screen()).not.toContain('wk-canary');
    await running.stop();
  });
});
