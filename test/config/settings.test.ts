import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { layerOf } from '../../src/config/layer.ts';
import { loadSettings } from '../../src/config/settings.ts';
import { DELIVERY_DEFAULTS } from '../../src/engine/options.ts';
import { failureOf, folderWith, settingsWith } from './folder.ts';

const PACKAGE = { 'package.json': '{}' };

describe('precedence', () => {
  const user = {
    'user/hooks/config.yaml':
      'delivery: { timeout: 1s, concurrency: 1, strategy: broadcast }\nstore: sqlite:./u.db',
  };
  const project = { '.hooksrc': 'delivery: { timeout: 2s, concurrency: 2 }\nwebhooks: [http://project]' };

  it('has defaults without any file', async () => {
    const settings = await settingsWith({});
    expect(settings.files).toEqual([]);
    expect(settings.sources).toEqual({ default: { destinations: {} } });
    expect(settings.client).toEqual({ flushAt: 20, flushAfterMs: 5000, maxQueued: 10000, whenFull: 'wait' });
    expect(settings.retention).toEqual({ deliveredMs: 86_400_000, deadMs: 2_592_000_000 });
    expect(settings.endpoint).toBeUndefined();
    expect(settings.store).toBeUndefined();
    expect(settings.writeKey('default')).toBeUndefined();
  });

  it('merges the levels setting by setting: the project over the user over defaults', async () => {
    const settings = await settingsWith({ files: { ...user, ...project } });
    expect(settings.files).toEqual(['.hooksrc', 'user/hooks/config.yaml']);
    expect(settings.sources['default']?.destinations['Webhooks']?.delivery).toEqual({
      ...DELIVERY_DEFAULTS,
      timeoutMs: 2000,
      concurrency: 2,
      strategy: 'broadcast',
    });
    expect(settings.originOf('delivery.timeout')).toBe('.hooksrc');
    expect(settings.originOf('store')).toBe('user/hooks/config.yaml');
    expect(settings.originOf('client.flushAt')).toBeUndefined();
  });

  it('takes variables before files', async () => {
    const settings = await settingsWith({
      files: {
        '.hooksrc': 'webhooks: [http://file]\nsharedSecret: file\nwriteKey: file\nendpoint: http://file',
      },
      env: {
        HOOKS_URL: ' http://env/1\n\thttp://env/2 ',
        HOOKS_SECRET: 'env',
        HOOKS_WRITE_KEY: 'env',
        SEGMENT_WRITE_KEY: 'other',
        HOOKS_ENDPOINT: 'http://env',
      },
    });
    expect(settings.sources['default']).toMatchObject({
      writeKey: 'env',
      destinations: {
        Webhooks: { sharedSecrets: ['env'], webhooks: [{ url: 'http://env/1' }, { url: 'http://env/2' }] },
      },
    });
    expect(settings.endpoint).toBe('http://env');
    expect(settings.originOf('webhooks')).toBe('HOOKS_URL');
  });

  it('takes flags before variables', async () => {
    const settings = await settingsWith({
      files: project,
      env: { HOOKS_URL: 'http://env', HOOKS_SECRET: 'env' },
    });
    const flags = layerOf(
      {
        webhooks: { name: '--url', value: ['http://flag'] },
        sharedSecret: { name: '--secret', value: ['flag'] },
        'delivery.timeout': { name: '--timeout', value: '3s' },
        'delivery.health.failures': { name: '--never', value: undefined },
      },
      '/',
    );
    expect(settings.source('default', flags)).toMatchObject({
      destinations: {
        Webhooks: {
          sharedSecrets: ['flag'],
          webhooks: [{ url: 'http://flag' }],
          delivery: { timeoutMs: 3000, concurrency: 2, health: { failures: 10 } },
        },
      },
    });
  });

  it('takes the second name of the write key when the first is empty', async () => {
    const settings = await settingsWith({ env: { HOOKS_WRITE_KEY: '', SEGMENT_WRITE_KEY: 'segment' } });
    expect(settings.writeKey('default')).toBe('segment');
  });

  it('takes an empty variable as unset, but never an empty secret as none', async () => {
    const files = { '.hooksrc': 'webhooks: [http://file]\nsharedSecret: file' };
    const settings = await settingsWith({
      files,
      env: { HOOKS_URL: ' ', HOOKS_ENDPOINT: '', HOOKS_CONFIG: '' },
    });
    expect(settings.originOf('webhooks')).toBe('.hooksrc');
    expect(settings.endpoint).toBeUndefined();
    const unsigned = await settingsWith({ files, env: { HOOKS_SECRET: '' } });
    expect(() => unsigned.sources).toThrow('`HOOKS_SECRET` is an empty secret');
    const signed = layerOf({ sharedSecret: { name: '--secret', value: ['flag'] } }, '/');
    expect(unsigned.secrets('default', signed)).toEqual(['flag']);
  });
});

describe('config files', () => {
  const files = {
    '.hooksrc': 'store: sqlite:/project.db',
    'user/hooks/config.yaml': 'store: sqlite:/user.db\nclient: { flushAt: 3 }',
    'named.json': '{ "store": "sqlite:/named.db" }',
    'other.json': '{ "store": "sqlite:/other.db" }',
  };

  it('takes the one that a flag names, and that one only', async () => {
    const settings = await settingsWith({ files, config: 'named.json', env: { HOOKS_CONFIG: 'other.json' } });
    expect(settings.store).toBe('sqlite:/named.db');
    expect(settings.client.flushAt).toBe(20);
    expect(settings.files).toEqual(['named.json']);
  });

  it('takes the one that HOOKS_CONFIG names', async () => {
    const settings = await settingsWith({ files, env: { HOOKS_CONFIG: 'other.json' } });
    expect(settings.files).toEqual(['other.json']);
  });

  it('takes none when told so', async () => {
    const settings = await settingsWith({ files, config: false, env: { HOOKS_CONFIG: 'other.json' } });
    expect(settings.files).toEqual([]);
    expect(settings.store).toBeUndefined();
  });

  it('names a file that is not there', async () => {
    await expect(settingsWith({ config: 'none.yaml' })).rejects.toThrow(
      'The config file none.yaml does not exist',
    );
    await expect(settingsWith({ config: '' })).rejects.toThrow('Expected `--config` to be a file');
  });

  it('finds the project config from a folder below, and reads its paths from where it is', async () => {
    const folder = await folderWith({
      ...PACKAGE,
      '.hooksrc': 'store: sqlite:./hooks.db\nwebhooks: [http://a]\ndelivery: { ca: ./ca.pem }',
    });
    await mkdir(join(folder, 'a/b'), { recursive: true });
    const settings = await loadSettings({ flags: {}, env: { HOME: folder }, cwd: join(folder, 'a/b') });
    expect(settings.files).toEqual(['../../.hooksrc']);
    expect(settings.store).toBe(`sqlite:${folder}/hooks.db`);
    expect(settings.sources['default']?.destinations['Webhooks']?.delivery.caFile).toBe(`${folder}/ca.pem`);
  });

  it.each(['redis://host:6379/0', 'postgres://host/db', 'sqlite:/abs/hooks.db', 'sqlite::memory:'])(
    'leaves the store %s as it is',
    async (store) => {
      const settings = await settingsWith({
        files: { 'c.json': JSON.stringify({ store }) },
        config: 'c.json',
      });
      expect(settings.store).toBe(store);
    },
  );

  it('keeps what it has where HOOKS_DATA_DIR says, else in the data folder of the user', async () => {
    expect((await settingsWith({ env: { HOOKS_DATA_DIR: '/data' } })).dataDir).toBe('/data');
    expect((await settingsWith({ env: { XDG_DATA_HOME: '/xdg' } })).dataDir).toBe('/xdg/hooks');
    expect((await settingsWith({})).dataDir).toMatch(/hooks$/);
  });
});

/** What is said of this project config. */
const broken = async (text: string) =>
  (await failureOf(() => settingsWith({ files: { '.hooksrc.yaml': text } }))).message;

describe('values', () => {
  it.each([
    ['delivery: { timeout: -1 }', 'Expected `delivery.timeout` to be from 1ms to 30s, got -1'],
    ['delivery: { timeout: 0 }', 'Expected `delivery.timeout` to be from 1ms to 30s, got 0'],
    ['delivery: { timeout: 31s }', 'Expected `delivery.timeout` to be from 1ms to 30s, got 31s'],
    ['delivery: { timeout: 5000 }', 'Expected `delivery.timeout` to have a unit, got 5000'],
    ['delivery: { timeout: [] }', 'Expected `delivery.timeout` to be a duration, got a list'],
    ['delivery: { concurrency: 1025 }', 'Expected `delivery.concurrency` to be from 1 to 1024, got 1025'],
    ['delivery: { concurrency: 1.5 }', 'Expected `delivery.concurrency` to be a whole number, got 1.5'],
    ['delivery: { strategy: both }', 'Expected `delivery.strategy` to be fallback or broadcast, got both'],
    [
      'delivery: { health: { failures: 0 } }',
      'Expected `delivery.health.failures` to be from 1 to 1000000, got 0',
    ],
    ['client: { flushAt: 0 }', 'Expected `client.flushAt` to be from 1 to 1000, got 0'],
    ['webhooks: http://a', 'Expected `webhooks` to be a list, got a string'],
    ['webhooks: [a, b]', 'Expected `webhooks[0]` to be a URL, got a'],
    ['webhooks: [http://a, "ftp://b"]', 'Expected `webhooks[1]` to be a URL with http or https, got ftp://b'],
    ['webhooks: ["http://a/#b"]', 'Expected `webhooks[0]` to be a URL without a fragment, got http://a/#b'],
    ['webhooks: [http://a, b, c, d, e, f]', 'Expected `webhooks` to hold at most 5 webhooks, got 6'],
    ['webhooks: [{ headers: {} }]', 'Expected `webhooks[0].url` to be a URL, got nothing'],
    ['webhooks: [{ url: http://a, header: {} }]', 'Unknown setting `webhooks[0].header`'],
    [
      'webhooks: [{ url: http://a, headers: { X: 1 } }]',
      'Expected `webhooks[0].headers.X` to be a string, got a number',
    ],
    [
      'webhooks: [{ url: http://a, headers: { X: "a\\r\\nb" } }]',
      '`webhooks[0].headers.X` holds a line break',
    ],
    ['sharedSecret: ""', '`sharedSecret` is an empty secret'],
    ['sharedSecret: [a, ""]', '`sharedSecret[1]` is an empty secret'],
    ['sharedSecret: []', 'Expected `sharedSecret` to hold a secret, got an empty list'],
    ['sharedSecret: 12345', 'Expected `sharedSecret` to be a string, got a number'],
    ['endpoint: nowhere', 'Expected `endpoint` to be a URL, got nowhere'],
    [
      'sources: { web: { destinations: { A: { enabled: 1 } } } }',
      'Expected `sources.web.destinations.A.enabled` to be true or false, got 1',
    ],
  ])('refuses %j', async (text, message) => {
    expect(await broken(text)).toBe(`${message} (from .hooksrc.yaml)`);
  });

  it('calls a variable by its name', async () => {
    const settings = await settingsWith({ env: { HOOKS_URL: 'http://a nowhere' } });
    expect(() => settings.sources).toThrow(/^Expected `HOOKS_URL` to be a URL, got nowhere$/);
  });

  it.each([
    'webhooks: ["https://user:canary@host#x"]',
    'webhooks: ["ftp://user:canary@host"]',
    'webhooks: ["//user:canary@host"]',
    'webhooks: [{ url: http://a, headers: { Authorization: [canary] } }]',
    'sharedSecret: [canary, 5]',
    'sharedSecret: { canary: 1 }',
    'sharedSecret: canary${',
    'writeKey: [canary]',
    'endpoint: "ftp://canary@x"',
  ])('shows no secret of %j', async (text) => {
    const failure = await failureOf(() => settingsWith({ files: { '.hooksrc.yaml': text } }));
    expect(`${failure.message} ${failure.hint}`).not.toContain('canary');
  });
});

describe('references', () => {
  const files = {
    '.hooksrc': `
webhooks: ["http://\${HOST}/hook"]
sharedSecret: \${SECRET}
writeKey: \${KEY}
endpoint: \${ENDPOINT}
delivery: { timeout: "\${TIMEOUT}", concurrency: "\${N}" }
client: { flushAfter: "\${AFTER}" }
`,
  };

  it('are taken from the environment when a setting is used', async () => {
    const env = { HOST: 'a.example', SECRET: 's', TIMEOUT: '7s', N: '7', KEY: 'k' };
    const settings = await settingsWith({ files, env });
    expect(settings.sources['default']).toMatchObject({
      writeKey: 'k',
      destinations: {
        Webhooks: {
          sharedSecrets: ['s'],
          webhooks: [{ url: 'http://a.example/hook' }],
          delivery: { timeoutMs: 7000, concurrency: 7 },
        },
      },
    });
  });

  it('may be unset while nobody uses the setting', async () => {
    const settings = await settingsWith({ files, env: { HOST: 'a', TIMEOUT: '1s', N: '1' } });
    const secret = layerOf({ sharedSecret: { name: '--secret', value: ['flag'] } }, '/');
    expect(settings.source('default', secret).destinations['Webhooks']?.sharedSecrets).toEqual(['flag']);
  });

  it('name variable, key and file when they are unset and used', async () => {
    const settings = await settingsWith({ files });
    const failure = await failureOf(() => settings.endpoint);
    expect(failure).toMatchObject({
      message: '`endpoint` needs the environment variable ENDPOINT, which is not set (from .hooksrc)',
      hint: 'set it: export ENDPOINT=…',
      key: 'endpoint',
      origin: '.hooksrc',
    });
    expect(() => settings.sources).toThrow('`writeKey` needs the environment variable KEY');
    expect(() => settings.client).toThrow('`client.flushAfter` needs the environment variable AFTER');
  });

  it('are checked once they are filled in', async () => {
    const env = { HOST: 'a', SECRET: '', TIMEOUT: '40s', N: '1' };
    const settings = await settingsWith({ files, env });
    expect(() => settings.secrets('default')).toThrow('`sharedSecret` is an empty secret (from .hooksrc)');
    expect(() =>
      settings.source('default', layerOf({ sharedSecret: { name: '--secret', value: 's' } }, '/')),
    ).toThrow('Expected `delivery.timeout` to be from 1ms to 30s, got 40s (from .hooksrc)');
  });

  it('are not looked for in flags and variables', async () => {
    const settings = await settingsWith({ env: { HOOKS_URL: 'http://a', HOOKS_SECRET: 'a${B}' } });
    expect(settings.secrets('default')).toEqual(['a${B}']);
  });
});

describe('the long form', () => {
  const web = `
sources:
  web:
    writeKey: web-key
    destinations:
      Webhooks: { sharedSecret: one, webhooks: [http://one], delivery: { timeout: 1s } }
      Archive: { enabled: false, webhooks: [http://two] }
  app:
    destinations:
      Only: { sharedSecret: "\${ONLY}", webhooks: [http://only] }
`;

  it('gives several sources with their destinations by name', async () => {
    const settings = await settingsWith({ files: { '.hooksrc': web }, env: { ONLY: 'only' } });
    expect(settings.sourceNames).toEqual(['web', 'app']);
    expect(settings.defaultSource).toBeUndefined();
    expect(settings.sources).toMatchObject({
      web: {
        writeKey: 'web-key',
        destinations: {
          Webhooks: { enabled: true, sharedSecrets: ['one'], delivery: { timeoutMs: 1000 } },
          Archive: { enabled: false, sharedSecrets: [], delivery: { timeoutMs: 5000 } },
        },
      },
      app: { destinations: { Only: { webhooks: [{ url: 'http://only', headers: {} }] } } },
    });
  });

  it('does not take variables for all of its sources', async () => {
    const env = { ONLY: 'only', HOOKS_URL: 'http://env', HOOKS_SECRET: 'env', HOOKS_WRITE_KEY: 'env' };
    const { sources } = await settingsWith({ files: { '.hooksrc': web }, env });
    expect(JSON.stringify(sources)).not.toContain('env');
  });

  it('takes the secret of a variable for a source with one destination', async () => {
    const settings = await settingsWith({ files: { '.hooksrc': web }, env: { HOOKS_SECRET: 'env' } });
    expect(settings.source('app').destinations['Only']?.sharedSecrets).toEqual(['env']);
    expect(settings.source('web').destinations['Webhooks']?.sharedSecrets).toEqual(['one']);
  });

  it('sends to the URLs of a variable only, signed as the destination Webhooks', async () => {
    const settings = await settingsWith({ files: { '.hooksrc': web }, env: { HOOKS_URL: 'http://env' } });
    expect(settings.source('web').destinations).toMatchObject({
      Webhooks: { enabled: true, sharedSecrets: ['one'], webhooks: [{ url: 'http://env' }] },
    });
    expect(Object.keys(settings.source('web').destinations)).toEqual(['Webhooks']);
  });

  it('is merged with the long form of the user, setting by setting', async () => {
    const user =
      'sources: { web: { destinations: { Webhooks: { delivery: { concurrency: 3 } } } }, own: {} }';
    const settings = await settingsWith({
      files: { '.hooksrc': web, 'user/hooks/config.yaml': user },
      env: { ONLY: 'x' },
    });
    expect(settings.sourceNames).toEqual(['web', 'app', 'own']);
    expect(settings.sources['web']?.destinations['Webhooks']?.delivery).toMatchObject({
      timeoutMs: 1000,
      concurrency: 3,
    });
  });

  it('hides the short form of the user, and is hidden by the short form of the project', async () => {
    const long = 'sources: { web: { destinations: {} } }';
    const short = 'webhooks: [http://short]';
    const longFirst = await settingsWith({ files: { '.hooksrc': long, 'user/hooks/config.yaml': short } });
    expect(longFirst.sources).toEqual({ web: { destinations: {} } });
    const shortFirst = await settingsWith({ files: { '.hooksrc': short, 'user/hooks/config.yaml': long } });
    expect(shortFirst.sourceNames).toEqual(['default']);
  });

  it('suggests a source for an unknown one', async () => {
    const settings = await settingsWith({ files: { '.hooksrc': web } });
    expect(await failureOf(() => settings.source('wep'))).toMatchObject({
      message: 'Unknown source `wep`',
      hint: 'did you mean `web`?',
      origin: '--source',
    });
    expect(await failureOf(() => settings.source('toString'))).toMatchObject({ hint: 'there are: web, app' });
  });
});

describe('settings', () => {
  it('are frozen to the last branch', async () => {
    const settings = await settingsWith({
      files: { '.hooksrc': 'webhooks: [{ url: http://a, headers: { X: y } }]' },
    });
    const webhook = settings.sources['default']?.destinations['Webhooks']?.webhooks[0];
    expect(Object.isFrozen(settings)).toBe(true);
    expect(Object.isFrozen(webhook?.headers)).toBe(true);
  });

  it('list every setting with its origin, secrets masked and references as written', async () => {
    const settings = await settingsWith({
      files: {
        '.hooksrc': `
sharedSecret: [canary, "\${SET}", "canary\${SET}"]
webhooks:
  - https://canary:canary@a.example/hook
  - { url: "https://\${UNSET}/", headers: { X-Env: staging, Authorization: canary, X-Api-Key: "\${UNSET}" } }
delivery: { timeout: 7s }
store: redis://:canary@host/0
`,
      },
      env: { SET: 'canary', HOOKS_WRITE_KEY: 'canary', HOOKS_ENDPOINT: 'https://canary@host/' },
    });
    const rows = settings.list();
    const row = (key: string) => rows.find((each) => each.key === key);
    expect(row('sharedSecret')).toEqual({
      key: 'sharedSecret',
      value: ['***', '${SET}', '***'],
      origin: '.hooksrc',
    });
    expect(row('webhooks')).toEqual({
      key: 'webhooks',
      value: [
        'https://***@a.example/hook',
        {
          url: 'https://${UNSET}/',
          headers: { 'X-Env': 'staging', Authorization: '***', 'X-Api-Key': '${UNSET}' },
        },
      ],
      origin: '.hooksrc',
      unset: ['UNSET'],
    });
    expect(row('delivery.timeout')).toEqual({ key: 'delivery.timeout', value: '7s', origin: '.hooksrc' });
    expect(row('delivery.retryFor')).toEqual({ key: 'delivery.retryFor', value: '4h', origin: 'default' });
    expect(row('delivery.concurrency')).toEqual({
      key: 'delivery.concurrency',
      value: 32,
      origin: 'default',
    });
    expect(row('writeKey')).toEqual({ key: 'writeKey', value: '***', origin: 'HOOKS_WRITE_KEY' });
    expect(row('endpoint')).toEqual({
      key: 'endpoint',
      value: 'https://***@host/',
      origin: 'HOOKS_ENDPOINT',
    });
    expect(JSON.stringify(rows)).not.toContain('canary');
  });

  it('list the settings of every source and destination', async () => {
    const settings = await settingsWith({
      files: {
        '.hooksrc': 'sources: { web: { writeKey: canary, destinations: { A: { sharedSecret: canary } } } }',
      },
    });
    const rows = settings.list();
    expect(rows).toContainEqual({ key: 'sources.web.writeKey', value: '***', origin: '.hooksrc' });
    expect(rows).toContainEqual({
      key: 'sources.web.destinations.A.sharedSecret',
      value: '***',
      origin: '.hooksrc',
    });
    expect(rows).toContainEqual({
      key: 'sources.web.destinations.A.enabled',
      value: true,
      origin: 'default',
    });
    expect(rows.map(({ key }) => key)).not.toContain('webhooks');
  });
});
