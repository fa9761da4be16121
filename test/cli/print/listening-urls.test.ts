import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { listeningText, listeningUrls } from '../../../src/cli/print/listening-urls.ts';
import { startHooks, type RunningHooks } from '../run-in-process.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const REST = { netmask: '', mac: '', internal: false, cidr: null };
const v4 = (address: string): NetworkInterfaceInfo => ({ ...REST, address, family: 'IPv4' });
const v6 = (address: string): NetworkInterfaceInfo => ({ ...REST, address, family: 'IPv6', scopeid: 0 });
const INTERFACES = { lo: [v4('127.0.0.1'), v6('::1')], eth0: [v4('10.0.0.5'), v6('fd00::5'), v6('fe80::1')] };
const IPV4_URLS = ['https://127.0.0.1:8443', 'https://10.0.0.5:8443'];

const bold = (text: string): string => `*${text}*`;

describe('listeningUrls', () => {
  it.each([
    ['0.0.0.0', IPV4_URLS],
    ['0', IPV4_URLS],
    ['::', [IPV4_URLS[0], 'https://[::1]:8443', IPV4_URLS[1], 'https://[fd00::5]:8443']],
    ['127.0.0.1', undefined],
    ['::1', undefined],
    ['localhost', undefined],
  ])('of a server on %s are %j', (host, urls) => {
    expect(listeningUrls('https://127.0.0.1:8443', host, INTERFACES)).toEqual(urls);
  });

  it('are printed one a line, the one for this machine first', () => {
    const [url = ''] = IPV4_URLS;
    expect(listeningText('Listening on', { url, urls: IPV4_URLS }, bold)).toBe(
      'Listening on *https://127.0.0.1:8443*\n         and *https://10.0.0.5:8443*\n',
    );
    expect(listeningText('Listening on', { url }, bold)).toBe('Listening on *https://127.0.0.1:8443*\n');
  });
});

const ENV = { HOOKS_URL: 'http://127.0.0.1:9/', HOOKS_WRITE_KEY: 'k', HOOKS_DATA_DIR: temporaryFolder() };

function start(command: string, ...flags: readonly string[]): RunningHooks {
  return startHooks([command, '--port', '0', '--host', '0.0.0.0', ...flags], { env: ENV });
}

describe.each(['listen', 'serve'])('hooks %s --host 0.0.0.0', (command) => {
  it('prints the addresses on which it listens', async () => {
    const running = start(command, '-o', 'json', ...(command === 'serve' ? ['--no-deliver'] : []));
    const { value = '' } = await running.lines.next();
    const { url, urls } = JSON.parse(value) as { readonly url: string; readonly urls: readonly string[] };
    const { port } = new URL(url);
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(urls).toEqual(ipv4Addresses().map((address) => `http://${address}:${port}`));
    for (const each of urls) expect((await fetch(`${each}/healthz`)).status).toBeLessThan(500);
    expect(await running.stop('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('prints them for people, one a line', async () => {
    const running = start(command, ...(command === 'serve' ? ['--no-deliver'] : []));
    const { value = '' } = await running.lines.next();
    const [, label = '', port = ''] = /^(.* on) http:\/\/127\.0\.0\.1:(\d+)$/.exec(value) ?? [];
    const { stdout } = await running.stop('SIGTERM');
    const others = ipv4Addresses().filter((address) => address !== '127.0.0.1');
    const lines = others.map((address) => `${'and'.padStart(label.length)} http://${address}:${port}`);
    expect(stdout.trimEnd().split('\n').slice(1)).toEqual(lines);
  });
});

function ipv4Addresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((each = []) => each);
  return addresses.filter(({ family }) => family === 'IPv4').map(({ address }) => address);
}
