import { describe, expect, it } from 'vitest';
import { KEYS, fieldOf } from '../../../src/config/table/fields.ts';
import { loadSettings, type Settings } from '../../../src/config/settings.ts';
import { configTemplate } from '../../../src/config/table/template.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const ENV = { HOME: '/nonexistent', HOOKS_SECRET: 's3cret', HOOKS_WRITE_KEY: 'key' };
const TEMPLATE = configTemplate({
  urls: ['http://localhost:3000/webhook'],
  inForce: { sharedSecret: '${HOOKS_SECRET}' },
});

async function settingsOf(text: string, env: Record<string, string> = ENV): Promise<Settings> {
  const cwd = temporaryFolder({ '.hooksrc.yaml': text });
  return loadSettings({ flags: {}, env, cwd });
}

/** The template with every setting and group uncommented. */
function inForce(text: string): string {
  return text.replaceAll(/^# {0,1}( *(?:[a-zA-Z]+:(?: \S+)?|# .*))$/gm, '$1');
}

describe('the template of a config', () => {
  it('loads unchanged, with the requested settings', async () => {
    const settings = await settingsOf(TEMPLATE);
    expect(settings.sources['default']?.destinations['Webhooks']).toMatchObject({
      webhooks: [{ url: 'http://localhost:3000/webhook' }],
      sharedSecrets: ['s3cret'],
    });
    expect(settings.endpoint).toBeUndefined();
  });

  it('loads with private addresses allowed', async () => {
    const text = configTemplate({
      urls: ['http://localhost:3000/'],
      inForce: { 'delivery.allowPrivate': 'true' },
    });
    const settings = await settingsOf(text);
    expect(settings.sources['default']?.destinations['Webhooks']?.delivery).toMatchObject({
      allowPrivate: true,
    });
  });

  it('needs no variable if there is no secret', async () => {
    const settings = await settingsOf(configTemplate({ urls: ['https://a.example'], inForce: {} }), {
      HOME: '/nonexistent',
    });
    expect(settings.sources['default']?.destinations['Webhooks']?.sharedSecrets).toEqual([]);
  });

  it('has every setting of the short form', () => {
    for (const key of KEYS.filter((each) => fieldOf(each).longFormOnly !== true)) {
      expect(TEMPLATE, key).toMatch(new RegExp(`^[# ]*${key.split('.').at(-1)}:`, 'm'));
    }
  });

  it('loads with each comment in force, and then has the defaults', async () => {
    const [text = ''] = inForce(TEMPLATE).split(/\n# Every destination/);
    const settings = await settingsOf(text);
    const rows = settings.list().filter(({ key }) => key !== 'dataDir');
    expect(rows.filter(({ origin }) => origin === 'default')).toEqual([]);
    for (const { key, value } of rows) {
      const field = KEYS.find((each) => each === key);
      const standard = field && fieldOf(field).default;
      if (field !== undefined && standard !== undefined) {
        expect(fieldOf(field).kind.parse(value, { name: key }), key).toEqual(standard);
      }
    }
  });

  it('has a long form that loads', async () => {
    const [, long = ''] = TEMPLATE.split(/^# Several sources.*\n/m);
    const settings = await settingsOf(long.replaceAll(/^# /gm, ''), {
      ...ENV,
      WEB_WRITE_KEY: 'web',
      MAIL_SECRET: 'mail',
    });
    expect(settings.sources['web']?.writeKey).toBe('web');
  });
});
