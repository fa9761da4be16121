import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DELIVERY_DEFAULTS } from '../../src/engine/options.ts';
import type { ConfigError } from '../../src/errors.ts';
import { layerOf } from '../../src/config/layer.ts';
import { loadSettings } from '../../src/config/settings.ts';
import { failureOf, settingsWith } from './settings-with.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const PACKAGE = { 'package.json': '{}' };

describe('precedence', () => {
  const user = {
    'user/hooks/config.yaml':
      'delivery: { timeout: 1s, concurrency: 1, strategy: broadcast }\nstore: sqlite:./u.db',
  };
  const project = { '.hooksrc': 'delivery: { timeout: 2s, concurrency: 2 }\nwebhooks: [http://project]' };

  it('uses defaults without any file', async () => {
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
      allowPrivate: false,
      idempotencyKey: true,
      traceparent: false,
    });
    expect(settings.originOf('delivery.timeout')).toBe('.hooksrc');
    expect(settings.originOf('store')).toBe('user/hooks/config.yaml');
    expect(settings.originOf('client.flushAt')).toBeUndefined();
  });

  it('prefers variables to files', async () => {
    const settings = await settingsWith({
      files: {
        '.hooksrc': 'webhooks: [http://file]\nsharedSecret: file\nwriteKey: file\nendpoint: http://file',
      },
      env: {
        HOOKS_URL: ' http://env/1,2 ,http://env/3\n\thttp://env/4,https://env/5 ',
        HOOKS_SECRET: 'env',
        HOOKS_WRITE_KEY: 'env',
        SEGMENT_WRITE_KEY: 'other',
        HOOKS_ENDPOINT: 'http://env',
      },
    });
    const urls = ['http://env/1,2', 'http://env/3', 'http://env/4', 'https://env/5'];
    const { destinations } = settings.source('default');
    expect(settings.writeKey('default')).toBe('env');
    const webhooks = urls.map((url) => ({ url }));
    expect(destinations['Webhooks']).toMatchObject({ sharedSecrets: ['env'], webhooks });
    expect(settings.endpoint).toBe('http://env');
    expect(settings.originOf('webhooks')).toBe('HOOKS_URL');
  });

  it('prefers flags to variables', async () => {
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
    expect(settings.source('default', flags).destinations['Webhooks']).toMatchObject({
      sharedSecrets: ['flag'],
      webhooks: [{ url: 'http://flag' }],
      delivery: { timeoutMs: 3000, concurrency: 2, health: { failures: 10 } },
    });
  });

  it('uses the second variable of the write key if the first is empty', async () => {
    const settings = await settingsWith({ env: { HOOKS_WRITE_KEY: '', SEGMENT_WRITE_KEY: 'segment' } });
    expect(settings.writeKey('default')).toBe('segment');
  });

  it('treats an empty variable as unset, but rejects an empty secret', async () => {
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

  it('are only the one that a flag names', async () => {
    const settings = await settingsWith({ files, config: 'named.json', env: { HOOKS_CONFIG: 'other.json' } });
    expect(settings.store).toBe('sqlite:/named.db');
    expect(settings.client.flushAt).toBe(20);
    expect(settings.files).toEqual(['named.json']);
  });

  it('have a name that is not empty', async () => {
    await expect(settingsWith({ config: '' })).rejects.toThrow('Expected `--config` to be a file');
  });

  it('keep the ~ of a path, which the store rejects', async () => {
    const settings = await settingsWith({ files: { '.hooksrc': 'store: sqlite:~/hooks.db' } });
    expect(settings.store).toBe('sqlite:~/hooks.db');
  });

  it('are found from a subfolder, and resolve paths from their own folder', async () => {
    const folder = temporaryFolder({
      ...PACKAGE,
      '.hooksrc': 'store: sqlite:./hooks.db\nwebhooks: [http://a]\ndelivery: { ca: ./ca.pem }',
    });
    await mkdir(join(folder, 'a/b'), { recursive: true });
    const settings = await loadSettings({ flags: {}, env: { HOME: folder }, cwd: join(folder, 'a/b') });
    expect(settings.files).toEqual(['../../.hooksrc']);
    expect(settings.store).toBe(`sqlite:${folder}/hooks.db`);
    expect(settings.sources['default']?.destinations['Webhooks']?.delivery.caFile).toBe(`${folder}/ca.pem`);
  });

  it('accept the scheme of a URL in any case', async () => {
    const folder = temporaryFolder({ '.hooksrc': 'store: SQLite:./hooks.db', 'a/b': '' });
    const settings = await loadSettings({
      flags: { config: '../.hooksrc' },
      env: { HOME: folder },
      cwd: join(folder, 'a'),
    });
    expect(settings.store).toBe(`SQLite:${folder}/hooks.db`);
  });

  it.each(['redis://host:6379/0', 'POSTGRES://host/db', 'sqlite:/abs/hooks.db', 'sqlite::memory:'])(
    'keep the store %s unchanged',
    async (store) => {
      const settings = await settingsWith({
        files: { 'c.json': JSON.stringify({ store }) },
        config: 'c.json',
      });
      expect(settings.store).toBe(store);
    },
  );

  it('use the data folder of HOOKS_DATA_DIR, else that of the user', async () => {
    expect((await settingsWith({ env: { HOOKS_DATA_DIR: '/data' } })).dataDir).toBe('/data');
    expect((await settingsWith({ env: { XDG_DATA_HOME: '/xdg' } })).dataDir).toBe('/xdg/hooks');
    expect((await settingsWith({})).dataDir).toMatch(/hooks$/);
  });
});

describe('warnings', () => {
  it.each([
    ['HOOKS_TIMEOUT', 'use --timeout or delivery.timeout in the config'],
    ['HOOKS_RETRY_FOR', 'use --retry-for or delivery.retryFor in the config'],
    ['HOOKS_FLUSH_AT', 'use client.flushAt in the config'],
    ['HOOKS_SHARED_SECRET', 'use HOOKS_SECRET or sharedSecret in the config'],
    ['HOOKS_SECERT', 'did you mean HOOKS_SECRET?'],
  ])('name the setting that %s is meant for', async (name, what) => {
    expect(await warningsOf({ [name]: 'x' })).toEqual([`warning: ${name} is not read: ${what}`]);
  });

  it.each(['HOOKS_TEAM', 'HOOKS_', 'TIMEOUT', 'WEBHOOKS_TIMEOUT'])('ignore %s', async (name) => {
    expect(await warningsOf({ [name]: 'x' })).toEqual([]);
  });

  it('name a file of NODE_EXTRA_CA_CERTS that cannot be read', async () => {
    const file = join(temporaryFolder({ 'ca.pem': '' }), 'ca.pem');
    expect(await warningsOf({ NODE_EXTRA_CA_CERTS: file })).toEqual([]);
    expect(await warningsOf({ NODE_EXTRA_CA_CERTS: `${file}x` })).toEqual([
      `warning: NODE_EXTRA_CA_CERTS names ${file}x, which cannot be read: there is no such file`,
    ]);
  });
});

describe('a config above the project', () => {
  it('is named, and not read', async () => {
    const files = { '.hooksrc.yaml': '{', 'a/package.json': '{}', 'a/b/x': '' };
    expect(await hintIn(files, 'a/b')).toBe(
      '../../.hooksrc.yaml is not read, because the search ends at the nearest package.json: -c ../../.hooksrc.yaml',
    );
    expect(await hintIn({ '.hooksrc': '{', 'a/x': '' }, 'a')).toContain(
      'no package.json is found: -c ../.hooksrc',
    );
  });

  it('is named beside and above the config that is read', async () => {
    const files = { '.hooksrc.yaml': '{', 'a/package.json': '{"hooks":{}}' };
    expect(await hintIn(files, 'a')).toBe(
      '../.hooksrc.yaml is not read, because package.json is read instead: -c ../.hooksrc.yaml',
    );
    expect(await hintIn({ ...files, 'a/.hooksrc.json': '{' }, 'a')).toBe(
      '.hooksrc.json is not read, because package.json is read instead: -c .hooksrc.json',
    );
  });

  it('is named for HOOKS_CONFIG, which hides it, and not for -c', async () => {
    const cwd = temporaryFolder({ '.hooksrc': '', 'other.json': '{}' });
    const env = { HOME: cwd, HOOKS_CONFIG: 'other.json' };
    const { unreadHint } = await loadSettings({ flags: {}, env, cwd });
    expect(unreadHint).toBe(
      '.hooksrc is not read, because other.json is read instead (HOOKS_CONFIG names it): -c .hooksrc',
    );
    expect((await loadSettings({ flags: { config: 'other.json' }, env, cwd })).unreadHint).toBeUndefined();
  });

  it('is not named if it is above the home folder', async () => {
    const folder = temporaryFolder({ '.hooksrc': '{', 'home/a/package.json': '{}' });
    const env = { HOME: join(folder, 'home') };
    const settings = await loadSettings({ flags: {}, env, cwd: join(folder, 'home/a') });
    expect(settings.unreadHint).toBeUndefined();
  });
});

describe('problems of one file', () => {
  it('are all reported, with the variables that are not set', async () => {
    const file = 'webhook: 1\nsharedSecret: ${UNSET}\nwebhooks: [htp:/x, "${URL}", nope, https://a.example/]';
    const failure = await failureOf(() => settingsWith({ files: { '.hooksrc': file }, env: { URL: 'x' } }));
    const { message, others } = failure as ConfigError; // the error of a config file
    expect([message, ...others.map((each) => each.message)]).toEqual([
      'Unknown setting `webhook` (from .hooksrc)',
      'Expected `webhooks[0]` to be a URL with http or https, got htp:/x (from .hooksrc)',
      'Expected `webhooks[2]` to be a URL, got nope (from .hooksrc)',
      '`sharedSecret` needs the environment variable UNSET, which is not set (from .hooksrc)',
    ]);
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
    const { destinations } = settings.source('default');
    expect(settings.writeKey('default')).toBe('k');
    expect(destinations['Webhooks']).toMatchObject({
      sharedSecrets: ['s'],
      webhooks: [{ url: 'http://a.example/hook' }],
      delivery: { timeoutMs: 7000, concurrency: 7 },
    });
  });

  it('can be unset while the setting is not used', async () => {
    const settings = await settingsWith({ files, env: { HOST: 'a', TIMEOUT: '1s', N: '1' } });
    const secret = layerOf({ sharedSecret: { name: '--secret', value: ['flag'] } }, '/');
    expect(settings.source('default', secret).destinations['Webhooks']?.sharedSecrets).toEqual(['flag']);
  });

  it('are reported with variable, key and file if they are unset and used', async () => {
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

  it('are validated after they are replaced', async () => {
    const env = { HOST: 'a', SECRET: '', TIMEOUT: '40s', N: '1' };
    const settings = await settingsWith({ files, env });
    expect(() => settings.secrets('default')).toThrow('`sharedSecret` is an empty secret (from .hooksrc)');
    expect(() =>
      settings.source('default', layerOf({ sharedSecret: { name: '--secret', value: 's' } }, '/')),
    ).toThrow('Expected `delivery.timeout` to be from 1ms to 30s, got 40s (from .hooksrc)');
  });

  it('are not replaced in flags and variables', async () => {
    const settings = await settingsWith({ env: { HOOKS_URL: 'http://a', HOOKS_SECRET: 'a${B}' } });
    expect(settings.secrets('default')).toEqual(['a${B}']);
  });
});

describe('settings', () => {
  it('are deeply frozen', async () => {
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
    for (const [key, value, origin] of [
      ['sharedSecret', ['***', '${SET}', '***'], '.hooksrc'],
      ['delivery.timeout', '7s', '.hooksrc'],
      ['delivery.retryFor', '4h', 'default'],
      ['delivery.concurrency', 32, 'default'],
      ['writeKey', '***', 'HOOKS_WRITE_KEY'],
      ['endpoint', 'https://***@host/', 'HOOKS_ENDPOINT'],
    ] as const) {
      expect(row(key)).toEqual({ key, value, origin });
    }
    expect(JSON.stringify(rows)).not.toContain('canary');
  });

  it('list files that a variable overrides, except references to the same variable', async () => {
    expect(await rowOfSecret('other')).toMatchObject({ origin: 'HOOKS_SECRET', hides: ['.hooksrc'] });
    expect(await rowOfSecret('${HOOKS_SECRET}')).not.toHaveProperty('hides');
  });

  it('list the settings of every source and destination', async () => {
    const settings = await settingsWith({
      files: {
        '.hooksrc': 'sources: { web: { writeKey: canary, destinations: { A: { sharedSecret: canary } } } }',
      },
    });
    const rows = settings.list();
    const masked = { value: '***', origin: '.hooksrc' };
    const destination = 'sources.web.destinations.A';
    expect(rows).toContainEqual({ key: 'sources.web.writeKey', ...masked });
    expect(rows).toContainEqual({ key: `${destination}.sharedSecret`, ...masked });
    expect(rows).toContainEqual({ key: `${destination}.enabled`, value: true, origin: 'default' });
    expect(rows.map(({ key }) => key)).not.toContain('webhooks');
  });
});

async function rowOfSecret(sharedSecret: string): Promise<unknown> {
  const files = { '.hooksrc': JSON.stringify({ sharedSecret }) };
  const settings = await settingsWith({ files, env: { HOOKS_SECRET: 'canary' } });
  return settings.list().find(({ key }) => key === 'sharedSecret');
}

/** The lines that loading the settings of an empty folder prints. */
async function warningsOf(env: Record<string, string>): Promise<string[]> {
  const lines: string[] = [];
  const cwd = temporaryFolder({});
  await loadSettings({ flags: {}, env: { HOME: cwd, ...env }, cwd, note: (line) => lines.push(line) });
  return lines;
}

async function hintIn(files: Record<string, string>, cwd: string): Promise<string | undefined> {
  return (await settingsWith({ files, cwd })).unreadHint;
}
