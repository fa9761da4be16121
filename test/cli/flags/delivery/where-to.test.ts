import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { claimStdin, type StdinIo } from '../../../../src/cli/stdin.ts';
import {
  addWhereToFlags,
  resolveWhereTo,
  type WhereTo,
  type WhereToFlags,
} from '../../../../src/cli/flags/delivery/where-to.ts';
import { loadSettings } from '../../../../src/config/settings.ts';
import { failureOf } from '../../../config/settings-with.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

interface Given {
  /** The project's `.hooksrc`. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly files?: Readonly<Record<string, string>>;
}

function stdinOf(chunks: readonly unknown[]): StdinIo {
  const { signal } = new AbortController();
  return { stdin: Readable.from(chunks), stdinFd: undefined, signal, note: () => {}, isQuiet: false };
}

/** Parses the flags with commander, as `send` and `replay` do, and resolves the target. */
async function whereTo(
  argv: string,
  { config, env = {}, stdin = '', files = {} }: Given = {},
): Promise<WhereTo> {
  const folder = temporaryFolder(config === undefined ? files : { ...files, '.hooksrc': config });
  const command = new Command('send').exitOverride();
  addWhereToFlags(command);
  command.parse(argv === '' ? [] : argv.split(' ').map((word) => word.replaceAll('_', ' ')), {
    from: 'user',
  });
  const settings = await loadSettings({ flags: {}, env: { HOME: folder, ...env }, cwd: folder });
  const io = { ...stdinOf([Buffer.from(stdin)]), cwd: folder };
  return resolveWhereTo(command.opts<WhereToFlags>(), settings, io);
}

/** A target with these options of the source `default`'s destination `Webhooks`. */
function withWebhooks(options: object): object {
  return { kind: 'webhooks', sources: { default: { destinations: { Webhooks: options } } } };
}

const messageOf = async (argv: string, given?: Given): Promise<string> =>
  (await failureOf(() => whereTo(argv, given))).message;

const CONFIG = `
webhooks: [http://config]
sharedSecret: config
delivery: { timeout: 7s, retryFor: 1h }
`;
const LONG = `
sources:
  web: { writeKey: web-key, destinations: { Webhooks: { webhooks: [http://web], sharedSecret: web } } }
  app: { destinations: { A: { enabled: false, webhooks: [http://app] } } }
`;

/** The delivery settings with the config of a project. */
const delivery = async (argv: string) => {
  const to = await whereTo(argv, { config: CONFIG });
  return to.kind === 'webhooks' ? to.sources['default']?.destinations['Webhooks']?.delivery : undefined;
};

describe('webhooks', () => {
  it('are those of --url, with the headers given to each', async () => {
    const flags = '--url http://a --url http://b --header X-A:_1 --header Authorization:Bearer_a:b';
    const headers = { 'X-A': '1', Authorization: 'Bearer a:b' };
    const webhooks = [
      { url: 'http://a', headers },
      { url: 'http://b', headers },
    ];
    expect(await whereTo(flags, { config: CONFIG })).toMatchObject({
      source: 'default',
      ...withWebhooks({ sharedSecrets: ['config'], webhooks }),
    });
  });

  it('are those of HOOKS_URL, else of the config', async () => {
    expect(await whereTo('', { config: CONFIG, env: { HOOKS_URL: 'http://env' } })).toMatchObject(
      withWebhooks({ webhooks: [{ url: 'http://env' }] }),
    );
    expect(await whereTo('', { config: CONFIG })).toMatchObject(
      withWebhooks({ webhooks: [{ url: 'http://config' }] }),
    );
  });

  it('are retried for 30s at the prompt, even if the config sets a longer time for services', async () => {
    expect(await delivery('')).toMatchObject({ retryForMs: 30_000, timeoutMs: 7_000, concurrency: 32 });
    expect(await delivery('--retry-for 0 --timeout 1ms --concurrency 2 --strategy broadcast')).toMatchObject({
      retryForMs: 0,
      timeoutMs: 1,
      concurrency: 2,
      strategy: 'broadcast',
    });
  });

  it('are signed by the secrets of flags in their order, from files without their last newline', async () => {
    const to = await whereTo('--secret-file a --secret b --secret-file -', {
      config: CONFIG,
      env: { HOOKS_SECRET: 'env' },
      files: { a: 'one\n\n' },
      stdin: 'three\r\n',
    });
    expect(to).toMatchObject(withWebhooks({ sharedSecrets: ['one\n', 'b', 'three'] }));
  });

  it('are signed by HOOKS_SECRET when no flag gives a secret', async () => {
    const to = await whereTo('--url http://a', { config: CONFIG, env: { HOOKS_SECRET: 'env' } });
    expect(to).toMatchObject(withWebhooks({ sharedSecrets: ['env'] }));
  });

  it('are those of the named source', async () => {
    expect(await whereTo('--source web', { config: LONG })).toMatchObject({
      source: 'web',
      sources: { web: { destinations: { Webhooks: { sharedSecrets: ['web'] } } } },
    });
  });

  it('take precedence over an endpoint of the same config', async () => {
    const config = `${CONFIG}\nendpoint: http://api\nwriteKey: k`;
    const env = { HOOKS_URL: 'http://a', HOOKS_ENDPOINT: 'http://api', HOOKS_WRITE_KEY: 'k' };
    expect(await whereTo('', { config })).toMatchObject({ kind: 'webhooks' });
    expect(await whereTo('', { env })).toMatchObject({ kind: 'webhooks' });
  });
});

describe('a tracking API', () => {
  it('has the URL of --endpoint', async () => {
    expect(await whereTo('--endpoint http://api --write-key k --retry-for 1m', { config: CONFIG })).toEqual({
      kind: 'tracking-api',
      endpoint: 'http://api',
      writeKey: 'k',
      retryForMs: 60_000,
      timeoutMs: undefined,
      concurrency: undefined,
      connection: {},
    });
  });

  it('gets the write key of a variable or of the source', async () => {
    expect(await whereTo('--endpoint http://api', { env: { SEGMENT_WRITE_KEY: 's' } })).toMatchObject({
      writeKey: 's',
    });
    expect(
      await whereTo('--endpoint http://api --source web --timeout 2s --concurrency 4', { config: LONG }),
    ).toMatchObject({ writeKey: 'web-key', timeoutMs: 2_000, concurrency: 4 });
  });

  it('is the configured one if there are no webhooks', async () => {
    expect(await whereTo('', { config: 'endpoint: http://api\nwriteKey: k' })).toMatchObject({
      kind: 'tracking-api',
      endpoint: 'http://api',
      retryForMs: 30_000,
    });
  });

  it('is that of HOOKS_ENDPOINT even if the config has webhooks', async () => {
    const env = { HOOKS_ENDPOINT: 'http://api', HOOKS_WRITE_KEY: 'k' };
    expect(await whereTo('', { config: CONFIG, env })).toMatchObject({ kind: 'tracking-api' });
    expect(await whereTo('--url http://a', { config: CONFIG, env })).toMatchObject({ kind: 'webhooks' });
  });

  it('is the configured one if only --write-key is given', async () => {
    expect(await whereTo('--write-key k', { config: `${CONFIG}\nendpoint: http://api` })).toMatchObject({
      kind: 'tracking-api',
      writeKey: 'k',
    });
  });
});

/** Two destinations, none of which is called `Webhooks`. */
function twoDestinations(one: string, other: string): string {
  return `
sources:
  web:
    destinations:
      A: { webhooks: [http://a], sharedSecret: ${one} }
      B: { webhooks: [http://b], sharedSecret: ${other} }
`;
}

/** The secrets that the loopback receiver verifies with, and those of its destinations. */
async function loopbackSecrets(config: string, argv = '--loopback'): Promise<unknown> {
  const to = await whereTo(argv, { config });
  if (to.kind !== 'loopback') throw new Error(`expected loopback, got ${to.kind}`);
  const { web } = to.deliverTo('http://127.0.0.1:1/').sources;
  return [to.secrets, Object.values(web?.destinations ?? {}).map((each) => each.sharedSecrets)];
}

describe('loopback', () => {
  it('signs with the secret that all destinations share, and with no configured secret if they differ', async () => {
    expect(await loopbackSecrets(twoDestinations('s', 's'))).toEqual([['s'], [['s']]]);
    expect(await loopbackSecrets(twoDestinations('s', 't'))).toEqual([[], [[]]]);
    expect(await loopbackSecrets(twoDestinations('s', 's'), '--loopback --secret own')).toEqual([
      ['own'],
      [['own']],
    ]);
  });

  it('delivers to the URL of its receiver, signed as configured', async () => {
    const to = await whereTo('--loopback --timeout 1s', { config: CONFIG, env: { HOOKS_URL: 'http://env' } });
    if (to.kind !== 'loopback') throw new Error(`expected loopback, got ${to.kind}`);
    expect(to.secrets).toEqual(['config']);
    expect(to.deliverTo('http://127.0.0.1:9')).toMatchObject(
      withWebhooks({
        enabled: true,
        sharedSecrets: ['config'],
        webhooks: [{ url: 'http://127.0.0.1:9', headers: {} }],
        delivery: { timeoutMs: 1_000, retryForMs: 30_000 },
      }),
    );
  });

  it('needs no config', async () => {
    expect(await whereTo('--loopback')).toMatchObject({ kind: 'loopback', secrets: [] });
    expect(await whereTo('--loopback --secret s')).toMatchObject({ secrets: ['s'] });
  });

  it('rejects a wrong flag before the receiver starts', async () => {
    expect(await messageOf('--loopback --timeout 1h')).toBe(
      'Expected `--timeout` to be from 1ms to 30s, got 1h',
    );
  });
});

describe('the target', () => {
  it.each([
    ['--loopback --url http://a', '`--loopback` and `--url` cannot be given together'],
    ['--loopback --endpoint http://a', '`--loopback` and `--endpoint` cannot be given together'],
    ['--loopback --write-key k', '`--loopback` and `--write-key` cannot be given together'],
    ['--endpoint http://a --url http://b', '`--endpoint` and `--url` cannot be given together'],
    ['--write-key k --url http://b', '`--write-key` and `--url` cannot be given together'],
    ['--endpoint http://a', 'A tracking API needs a write key, but none is given'],
    ['--write-key k', '`--write-key` is for a tracking API, but no endpoint is given'],
    [
      '--endpoint http://a --write-key k --secret s',
      '`--secret` is for webhooks; a tracking API has no use for it',
    ],
    [
      '--endpoint http://a --write-key k --strategy fallback',
      '`--strategy` is for webhooks; a tracking API has no use for it',
    ],
    ['--header A:_1', '`--header` is for `--url`, which is not given'],
    ['--loopback --header A:_1', '`--header` is for `--url`, which is not given'],
    ['--url http://a --header A', "Expected `--header` to be 'Name: value', got no name and colon"],
    ['--url http://a --header :1', "Expected `--header` to be 'Name: value', got no name and colon"],
    ['--url http://a --header A:1\r\nB:2', '`--header` A holds a line break'],
    ['--url http://a --header A:1 --header a:2', '`--header` a is given twice'],
    ['--url ftp://a', 'Expected `--url` to be a URL with http or https, got ftp://a'],
    ['--url a.example:3000', 'Expected `--url` to be a URL with http or https, got a.example:3000'],
    ['--url http://a#b', 'Expected `--url` to be a URL without a fragment, got http://a#b'],
    [Array(6).fill('--url http://a').join(' '), 'Expected `--url` to have at most 5 webhooks, got 6'],
    ['--url http://a --timeout 31s', 'Expected `--timeout` to be from 1ms to 30s, got 31s'],
    ['--url http://a --timeout 5', 'Expected `--timeout` to have a unit, got 5'],
    ['--url http://a --retry-for soon', 'Expected `--retry-for` to be a duration, got soon'],
    ['--url http://a --concurrency 0', 'Expected `--concurrency` to be from 1 to 1024, got 0'],
    ['--url http://a --concurrency many', 'Expected `--concurrency` to be a whole number, got many'],
    ['--url http://a --secret-file none', 'the secret cannot be read: there is no such file (--secret-file)'],
    [
      '--url http://a --secret-file - --secret-file -',
      'Standard input can be read only once, but is needed for `--secret-file` twice',
    ],
    ['--url http://a --secret-file empty', 'The secret is empty (from --secret-file empty)'],
    ['--source wep', 'Unknown source `wep`'],
  ])('rejects %j', async (argv, message) => {
    expect(await messageOf(argv, { files: { empty: '\n' }, stdin: 'x' })).toBe(message);
  });

  it('rejects an empty secret', async () => {
    const command = new Command('send');
    addWhereToFlags(command);
    command.parse(['--url', 'http://a', '--secret', ''], { from: 'user' });
    const folder = temporaryFolder({});
    const settings = await loadSettings({ flags: {}, env: { HOME: folder }, cwd: folder });
    const io = { ...stdinOf([]), cwd: folder };
    await expect(resolveWhereTo(command.opts<WhereToFlags>(), settings, io)).rejects.toMatchObject({
      message: 'The secret is empty (from --secret)',
    });
    expect(await messageOf('--url http://a', { env: { HOOKS_SECRET: '' } })).toBe(
      '`HOOKS_SECRET` is an empty secret',
    );
  });

  it('suggests a source', async () => {
    expect(await failureOf(() => whereTo('--source wbe', { config: LONG }))).toMatchObject({
      message: 'Unknown source `wbe`',
      hint: 'did you mean `web`?',
    });
  });

  it('asks for one of several sources', async () => {
    expect(await messageOf('', { config: LONG })).toBe(
      'Expected `--source` to name one of the sources: web, app',
    );
  });

  it('reports a source whose destinations are all disabled', async () => {
    expect(await messageOf('--source app', { config: LONG })).toBe(
      'Every destination of the source `app` is disabled',
    );
  });

  it('lists every fix if there is no destination', async () => {
    const { message, hint } = await failureOf(() => whereTo(''));
    expect(message).toBe('There is no destination to send to');
    for (const way of ['--url', 'HOOKS_URL', 'config', '--loopback']) expect(hint).toContain(way);
  });

  it.each([
    '--url https://user:canary@a#x',
    '--url ftp://user:canary@a',
    '--url http://a --header Authorization:canary\r\nX:1',
    '--url http://a --header canary',
    '--url http://a --secret canary --timeout 5',
    '--endpoint ftp://canary@a --write-key canary',
    '--write-key canary',
  ])('shows no secret of %j', async (argv) => {
    const { message, hint = '' } = await failureOf(() => whereTo(argv));
    expect(message + hint).not.toContain('canary');
  });
});

describe('standard input', () => {
  it('can be read by one flag only', () => {
    const io = stdinOf(['x']);
    expect(claimStdin(io, '--json')).toBe(io.stdin);
    expect(() => claimStdin(io, '--secret-file')).toThrow(
      'Standard input can be read only once, but is needed for both `--json` and `--secret-file`',
    );
  });

  it('ends when the command is interrupted', async () => {
    const interruption = new AbortController();
    const stdin = new Readable({ read() {} });
    const io = { ...stdinOf([]), stdin, signal: interruption.signal };
    const reading = claimStdin(io, '-').toArray();
    interruption.abort('SIGINT');
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
  });
});

it('reads a secret file from the current folder of the command', async () => {
  const folder = temporaryFolder({});
  await writeFile(join(folder, 'absolute'), 's');
  expect(await whereTo(`--loopback --secret-file ${join(folder, 'absolute')}`)).toMatchObject({
    secrets: ['s'],
  });
});
