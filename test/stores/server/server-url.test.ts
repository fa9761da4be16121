import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConfigError } from '../../../src/errors.ts';
import { openServer } from '../../../src/stores/server/open-server.ts';
import { readServerUrl } from '../../../src/stores/server/server-url.ts';

/** `*`, of a command; a handshake's record; the length of a start-up message, whose first byte is 0. */
const [FIRST_OF_REDIS, FIRST_OF_TLS, FIRST_OF_POSTGRES] = [0x2a, 0x16, 0x00];

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
    expect(() => readServerUrl(url)).not.toThrow();
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
    'mysql://user:canary@host/x',
  ])('is not %s', async (url) => {
    const error: unknown = await openServer(url).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).message).toMatch(/^Expected `store` to be a URL like (redis|postgres):/); // as expected above
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('canary');
  });
});

it.each([
  ['redis://:canary#1@host', '# as %23'],
  ['redis://:12/canary@host/0', '/ as %2F'],
  ['postgres://user:12/canary@host/db', '/ as %2F'],
  ['redis://:can ary%@host/x', 'a space as %20, % as %25'],
])('says how to write the password of %s', (url, forms) => {
  expect(() => readServerUrl(url)).toThrow(
    expect.objectContaining({ hint: `in its user and password, write ${forms}` }),
  );
});

describe('the scheme of a server', () => {
  it.each([
    ['redis', FIRST_OF_REDIS],
    ['REDIS', FIRST_OF_REDIS],
    ['rediss', FIRST_OF_TLS],
    ['REDISS', FIRST_OF_TLS],
    ['RediSS', FIRST_OF_TLS],
    ['POSTGRES', FIRST_OF_POSTGRES],
  ])('is case-insensitive: %s', async (scheme, first) => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // it listens on a port
    const heard = firstByte(once(server, 'connection') as Promise<[Socket]>);
    const url = `${scheme}://:canary@127.0.0.1:${port}/0`;
    const opened = openServer(url, { responseMs: 500 }).catch((caught: unknown) => caught);
    expect(await heard).toBe(first);
    expect(await opened).toMatchObject({
      message: expect.stringContaining(` ${scheme.toLowerCase()}://***@127.0.0.1:${port}/0 `) as string,
    });
  });
});

/** What a client says, and no more. */
async function firstByte(connection: Promise<[Socket]>): Promise<number | undefined> {
  const [socket] = await connection;
  const [bytes] = (await once(socket, 'data')) as [Buffer]; // without an encoding
  socket.destroy();
  return bytes[0];
}
