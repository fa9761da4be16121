import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { examineFailure, networkCauseOf } from '../../../src/diagnosis/explain.ts';
import { predictions, quotedProbes } from '../../../src/diagnosis/network/network-causes.ts';
import { PROBES } from '../../../src/transport/probes/probes.ts';
import { listening, startHttp, type Respond } from '../../answers/counterparts.ts';

type Failure = Partial<Parameters<typeof examineFailure>[0]> & {
  readonly url: string;
  readonly error: string;
};

function examine(failure: Failure): ReturnType<typeof examineFailure> {
  return examineFailure({ env: {}, signal: new AbortController().signal, timeoutMs: 2_000, ...failure });
}

const HANDSHAKE = 0x16;
/** A fatal alert of TLS: handshake_failure. */
const TLS_ALERT = '\u0015\u0003\u0003\0\u0002\u0002(';

async function serving(respond: Respond): Promise<number> {
  const { port, close } = await startHttp(respond);
  onTestFinished(close);
  return port;
}

async function accepting(onSocket: (socket: Socket) => void): Promise<number> {
  const { port, close } = await listening(createServer(onSocket));
  onTestFinished(close);
  return port;
}

describe('the predictions', () => {
  it('name only probes that exist', () => {
    const names = predictions().flatMap(({ shows }) => shows.map(([probe]) => probe));
    expect(names.filter((name) => !Object.hasOwn(PROBES, name))).toEqual([]);
  });

  it('have a sentence whose facts are all known', () => {
    const facts = { url: 'http://a.example/hook' };
    const left = predictions().flatMap(({ code }) => {
      const shown = Object.fromEntries(
        quotedProbes(code).map((name) => [name, Object.hasOwn(PROBES, name) ? 'x' : `{${name}}`]),
      );
      const { says, fix } = networkCauseOf({ error: code }, { ...facts, shown }) ?? {};
      return /\{\w+\}/.exec(`${says} ${fix}`)?.[0] ?? [];
    });
    expect(left).toEqual([]);
  });

  it('are different for each cause', () => {
    const texts = predictions().map(({ shows }) => shows.join(' '));
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
  });
});

describe('after a refused connection', () => {
  it('names the port of this machine that speaks HTTP', async () => {
    const port = await serving(() => ({}));
    const asked = port % 10 === 9 ? port - 1 : port + 1;
    const found = await examine({ url: `http://127.0.0.1:${asked}/`, error: 'refused' });
    expect(found).toMatchObject({
      cause: 'nothing-listens',
      shown: { others: expect.stringContaining(String(port)) },
    });
  });

  it('blames nothing but the port of another machine', async () => {
    const url = 'http://hooks.test:1/';
    const found = await examine({ url, error: 'refused', lookUp: async () => ({ address: '192.0.2.77' }) });
    const shown = { addressed: 'hooks.test (192.0.2.77)' };
    expect(found).toMatchObject({ cause: 'refused-there', shown });
  });
});

describe('after a broken connection', () => {
  it.each<[cause: string, respond: Respond]>([
    ['closes-message', ({ method }) => (method === 'OPTIONS' ? {} : 'reset')],
    ['silent', () => 'close'],
  ])('tells apart what the server does with OPTIONS: %s', async (cause, respond) => {
    const port = await serving(respond);
    expect(await examine({ url: `http://127.0.0.1:${port}/hook`, error: 'reset' })).toMatchObject({ cause });
  });

  it('says that the receiver ended if its port refuses connections since', async () => {
    const { port, close } = await startHttp(() => ({}));
    await close();
    const found = await examine({ url: `http://127.0.0.1:${port}/hook`, error: 'reset' });
    expect(found).toMatchObject({ cause: 'died' });
  });
});

describe('after a response of the server behind the port', () => {
  const failed = { error: 'http-4xx', status: 400 };

  it.each<[told: string, cause: string | undefined, scheme: string, hello: string]>([
    ['wants-tls', 'upstream-tls', 'http', ''],
    ['wants-tls', undefined, 'http', TLS_ALERT],
    ['wants-tls', 'upstream-tls', 'https', TLS_ALERT],
    ['wants-client-certificate', 'upstream-certificate', 'http', ''],
    ['wants-client-certificate', undefined, 'https', TLS_ALERT],
  ])('explains %s as %s for %s and a TLS hello that gets %j', async (told, cause, scheme, hello) => {
    const port = await accepting((socket) =>
      socket
        .on('error', () => {})
        .once('data', (bytes) => {
          socket.end(bytes[0] === HANDSHAKE ? hello : 'HTTP/1.1 400 Bad Request\r\n\r\n', 'latin1');
        }),
    );
    const found = await examine({ ...failed, url: `${scheme}://127.0.0.1:${port}/hook`, cause: told });
    expect(found?.cause).toBe(cause);
  });
});

/** Responds to OPTIONS by route, as frameworks do. */
function routing(routes: Readonly<Record<string, string>>, otherwise = 404): Respond {
  return ({ path }) => {
    const allow = routes[path];
    return allow === undefined ? { status: otherwise } : { headers: { allow } };
  };
}

describe('after a 404', () => {
  it.each<[cause: string | undefined, path: string, respond: Respond]>([
    ['route-near', '/hook', routing({ '/hook/': 'POST' })],
    ['route-near', '/hook/', routing({ '/hook': 'POST' })],
    ['route-near', '/hook', routing({ '/api/hook': 'GET, POST' })],
    ['route-near', '/v1/hook', routing({ '/hook': 'POST' })],
    ['route-near', '/', routing({ '/': 'GET', '/webhook': 'POST' })],
    ['route-there', '/hook', routing({ '/hook': 'POST' })],
    ['route-without-post', '/hook', routing({ '/hook': 'GET, HEAD' })],
    // A server that responds to every OPTIONS alike, or has no route near, shows nothing.
    [undefined, '/hook', routing({}, 204)],
    [undefined, '/hook', routing({}, 401)],
    [undefined, '/hook', routing({ '/other': 'POST' })],
  ])('%s: %s', async (cause, path, respond) => {
    const methods = new Set<string>();
    const port = await serving((request) => {
      methods.add(request.method);
      return respond(request);
    });
    const failure = {
      url: `http://127.0.0.1:${port}${path}`,
      error: 'http-4xx',
      status: 404,
      cause: 'not-found',
    };
    const found = await examine(failure);
    expect(found?.cause).toBe(cause);
    expect([...methods]).toEqual(['OPTIONS']);
  });

  it('does not examine a response whose own words explain it', async () => {
    let count = 0;
    const port = await serving(() => ({ status: 404 + count++ }));
    const url = `http://127.0.0.1:${port}/hook`;
    expect(await examine({ url, error: 'http-4xx', status: 403, cause: 'wants-token' })).toBeUndefined();
    expect(count).toBe(0);
  });
});

describe('with a proxy', () => {
  it('that closes each connection is no HTTP proxy', async () => {
    const proxy = await accepting((socket) => socket.on('error', () => {}).destroy());
    const env = { https_proxy: `http://127.0.0.1:${proxy}` };
    const found = await examine({ url: 'https://hooks.test/', error: 'reset', env });
    const shown = { tunnel: 'closes the connection after' };
    expect(found).toEqual({ cause: 'no-proxy', shown, proxy: 'https_proxy' });
  });
});
