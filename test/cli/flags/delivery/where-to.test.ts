import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
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
  const { signal } = new AbortController();
  const input = { stdin: Readable.from([Buffer.from(stdin)]), stdinFd: undefined, signal };
  const io = {
    ...input,
    note: () => {},
    isQuiet: false,
    stderr: process.stderr,
    stderrIsTty: false,
    cwd: folder,
  };
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

  it('are those of the named source', async () => {
    expect(await whereTo('--source web', { config: LONG })).toMatchObject({
      source: 'web',
      sources: { web: { destinations: { Webhooks: { sharedSecrets: ['web'] } } } },
    });
  });
});

describe('the choice of webhooks or a tracking API', () => {
  const api = { HOOKS_ENDPOINT: 'http://api', HOOKS_WRITE_KEY: 'k' };
  const configured = 'endpoint: http://api\nwriteKey: k';

  it.each<[string, Given, object]>([
    ['', { config: `${CONFIG}\n${configured}` }, { kind: 'webhooks' }],
    ['', { env: { HOOKS_URL: 'http://a', ...api } }, { kind: 'webhooks' }],
    ['--url http://a', { config: CONFIG, env: api }, { kind: 'webhooks' }],
    ['', { config: CONFIG, env: api }, { kind: 'tracking-api' }],
    ['', { config: configured }, { kind: 'tracking-api', endpoint: 'http://api', retryForMs: 30_000 }],
    ['--write-key k', { config: `${CONFIG}\n${configured}` }, { kind: 'tracking-api', writeKey: 'k' }],
    ['--endpoint http://api', { env: { SEGMENT_WRITE_KEY: 's' } }, { writeKey: 's' }],
    [
      '--endpoint http://api --source web --timeout 2s',
      { config: LONG },
      { writeKey: 'web-key', timeoutMs: 2_000 },
    ],
  ])('with the flags %j and %j is %j', async (argv, given, expected) => {
    expect(await whereTo(argv, given)).toMatchObject(expected);
  });
});

describe('a tracking API', () => {
  it('has the URL of --endpoint', async () => {
    expect(
      await whereTo('--endpoint http://api --write-key k --retry-for 1m --concurrency 4', { config: CONFIG }),
    ).toEqual({
      kind: 'tracking-api',
      endpoint: 'http://api',
      writeKey: 'k',
      retryForMs: 60_000,
      timeoutMs: undefined,
      concurrency: 4,
      connection: {},
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
});

describe('the target', () => {
  it.each([
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
    ['--url http://a --header A:1 --header a:2', '`--header` a is given twice'],
    ['--url a.example:3000', 'Expected `--url` to be a URL with http or https, got a.example:3000'],
    ['--url http://a#b', 'Expected `--url` to be a URL without a fragment, got http://a#b'],
    ['--url http://a --timeout 5', 'Expected `--timeout` to have a unit, got 5'],
    ['--url http://a --retry-for soon', 'Expected `--retry-for` to be a duration, got soon'],
    ['--url http://a --concurrency 0', 'Expected `--concurrency` to be from 1 to 1024, got 0'],
    ['--url http://a --concurrency many', 'Expected `--concurrency` to be a whole number, got many'],
    ['--url http://a --secret-file none', 'the secret cannot be read: there is no such file (--secret-file)'],
    [
      '--url http://a --secret-file - --secret-file -',
      'Standard input can be read only once, but is needed for `--secret-file` twice',
    ],
    ['--loopback --timeout 1h', 'Expected `--timeout` to be from 1ms to 30s, got 1h'],
    ['--source wep', 'Unknown source `wep`'],
  ])('rejects %j', async (argv, message) => {
    expect(await messageOf(argv, { stdin: 'x' })).toBe(message);
  });

  it.each([
    ['', 'Expected `--source` to name one of the sources: web, app'],
    ['--source app', 'Every destination of the source `app` is disabled'],
  ])('rejects %j with two sources', async (argv, message) => {
    expect(await messageOf(argv, { config: LONG })).toBe(message);
  });
});

it('reads a secret file from the current folder of the command', async () => {
  const folder = temporaryFolder({});
  await writeFile(join(folder, 'absolute'), 's');
  expect(await whereTo(`--loopback --secret-file ${join(folder, 'absolute')}`)).toMatchObject({
    secrets: ['s'],
  });
});
