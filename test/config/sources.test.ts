import { describe, expect, it } from 'vitest';
import { failureOf, settingsWith } from './settings-with.ts';

/** A destination with a file of issuers. */
function trusting(ca: string): string {
  return `{ webhooks: [http://a], delivery: { ca: /${ca}.pem } }`;
}

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

  it('does not need the variables of a disabled destination', async () => {
    const off = '{ enabled: false, sharedSecret: "${UNSET}", webhooks: ["http://${UNSET}"] }';
    const settings = await settingsWith({
      files: { '.hooksrc': `sources: { web: { destinations: { Off: ${off} } } }` },
    });
    expect(settings.sources['web']?.destinations['Off']).toMatchObject({ enabled: false, webhooks: [] });
  });

  it('rejects a destination named All', async () => {
    const settings = await settingsWith({
      files: { '.hooksrc': 'sources: { web: { destinations: { All: { webhooks: [http://a] } } } }' },
    });
    expect(() => settings.sources).toThrow('A destination cannot be named `All`');
  });

  it('trusts for a tracking API the issuers of the destination that --url would replace', async () => {
    const sources = [
      `web: { destinations: { Archive: ${trusting('archive')}, Webhooks: ${trusting('webhooks')} } }`,
      `app: { destinations: { Only: ${trusting('only')} } }`,
      `shop: { destinations: { One: ${trusting('one')}, Two: ${trusting('two')} } }`,
    ];
    const settings = await settingsWith({ files: { '.hooksrc': `sources: { ${sources.join(', ')} }` } });
    expect(settings.connection('web')).toEqual({ caFile: '/webhooks.pem' });
    expect(settings.connection('app')).toEqual({ caFile: '/only.pem' });
    expect(settings.connection('shop')).toEqual({});
  });

  it('reads several sources with their destinations', async () => {
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

  it('does not apply variables to all sources', async () => {
    const env = { ONLY: 'only', HOOKS_URL: 'http://env', HOOKS_SECRET: 'env', HOOKS_WRITE_KEY: 'env' };
    const { sources } = await settingsWith({ files: { '.hooksrc': web }, env });
    expect(JSON.stringify(sources)).not.toContain('env');
  });

  it('applies the secret of a variable to a source with one destination', async () => {
    const settings = await settingsWith({ files: { '.hooksrc': web }, env: { HOOKS_SECRET: 'env' } });
    expect(settings.source('app').destinations['Only']?.sharedSecrets).toEqual(['env']);
    expect(settings.source('web').destinations['Webhooks']?.sharedSecrets).toEqual(['one']);
  });

  it('sends only to the URLs of a variable, signed like the destination Webhooks', async () => {
    const settings = await settingsWith({ files: { '.hooksrc': web }, env: { HOOKS_URL: 'http://env' } });
    expect(settings.source('web').destinations).toMatchObject({
      Webhooks: { enabled: true, sharedSecrets: ['one'], webhooks: [{ url: 'http://env' }] },
    });
    expect(Object.keys(settings.source('web').destinations)).toEqual(['Webhooks']);
  });

  it("merges with the user's long form, setting by setting", async () => {
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

  it("overrides the user's short form, and is overridden by the project's short form", async () => {
    const long = 'sources: { web: { destinations: {} } }';
    const short = 'webhooks: [http://short]';
    const longFirst = await settingsWith({ files: { '.hooksrc': long, 'user/hooks/config.yaml': short } });
    expect(longFirst.sources).toEqual({ web: { destinations: {} } });
    const shortFirst = await settingsWith({ files: { '.hooksrc': short, 'user/hooks/config.yaml': long } });
    expect(shortFirst.sourceNames).toEqual(['default']);
  });

  it('suggests a source for an unknown name', async () => {
    const settings = await settingsWith({ files: { '.hooksrc': web } });
    expect(await failureOf(() => settings.source('wep'))).toMatchObject({
      message: 'Unknown source `wep`',
      hint: 'did you mean web?',
      origin: '--source',
    });
    expect(await failureOf(() => settings.source('toString'))).toMatchObject({ hint: 'there are: web, app' });
  });
});
