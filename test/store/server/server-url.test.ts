import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/errors.ts';
import { schemeOf } from '../../../src/store/server/scheme.ts';
import { assertServerUrl } from '../../../src/store/server/server-url.ts';
import { openServer } from '../../../src/store/server/open-server.ts';

function assertUrl(url: string): void {
  const scheme = schemeOf(url);
  if (scheme === undefined) throw new Error(`no server: ${url}`);
  assertServerUrl(url, { scheme, place: url });
}

describe('the URL of a server', () => {
  it.each([
    'redis://host',
    'redis://host/',
    'redis:///2',
    'REDISS://user:p%2Fw@[::1]:6379/15?family=6',
    'redis://host?db=3',
    'postgres://host:5432/database?sslmode=verify-full',
    'postgres:///database',
    'postgres://user:pass@/database?host=/run/postgresql',
    'postgresql://%2Frun%2Fpostgresql/database',
  ])('is %s', (url) => {
    expect(() => assertUrl(url)).not.toThrow();
  });

  it.each([
    'redis://:canary@host/abc',
    'redis://:canary@host/5%20',
    'redis://:canary@host/1.5',
    'redis://:canary@host/-1',
    'redis://:canary@host/1/2',
    'redis://:canary@host?db=abc',
    'redis://:canary@host:99999',
    'redis://:canary%zz@host',
    'redis:6379',
    'postgres://user:canary@host:99999/x',
  ])('is not %s', async (url) => {
    const error: unknown = await openServer(url).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).message).toMatch(/^Expected `store` to be a URL like (redis|postgres):/); // as expected above
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('canary');
  });
});
