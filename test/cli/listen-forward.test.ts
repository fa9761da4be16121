import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectRejected } from './expect-rejected.ts';
import { argv } from '../end-to-end/argv.ts';
import { dripsBody, endlessBody } from '../hostile-receivers.ts';
import { freePort } from '../free-port.ts';
import { RawConnection } from '../receiver/raw-connection.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { nextUrl } from '../end-to-end/running-command.ts';
import { listeningBy } from '../end-to-end/listening-by.ts';
import { hooks, startHooks, type HooksOptions } from './run-in-process.ts';

const listening = (args: readonly string[], options: HooksOptions = {}) =>
  listeningBy(startHooks, args, options);

async function upstream(
  answer: (response: ServerResponse, request: IncomingMessage) => void = (response) => response.end('ok'),
) {
  const requests: { readonly request: IncomingMessage; readonly body: Buffer }[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests.push({ request, body: await buffer(request) });
    answer(response, request);
  };
  const server = createServer((request, response) => void take(request, response));
  onTestFinished(() => server.close().closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/webhook`, port, requests };
}

describe('hooks listen --forward', () => {
  it('forwards the exact body and headers to the URL, and returns the response', async () => {
    const to = await upstream((response) => response.writeHead(418, { 'retry-after': '7' }).end('I say no'));
    const listen = await listening(['--forward', `${to.url}?a=b`]);
    const body = Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a, 0x7d]);
    const client = await RawConnection.open(Number(new URL(listen.url).port));
    client.write(
      `POST /elsewhere HTTP/1.1\r\nHost: sender.example\r\nX-One: 1\r\nx-ONE: 2\r\nAuthorization: Bearer CANARY\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    client.write(Buffer.concat([Buffer.from('6\r\n'), body, Buffer.from('\r\n0\r\n\r\n')]));
    expect(await client.until(/I say no/)).toMatch(/^HTTP\/1\.1 418 .*retry-after: 7\r\n/s);
    const [came] = to.requests;
    expect(came?.body.equals(body)).toBe(true);
    expect(came?.request.url).toBe('/webhook?a=b');
    expect(came?.request.headers.host).toBe(`127.0.0.1:${to.port}`);
    expect(came?.request.rawHeaders.join('|')).toContain('X-One|1|x-ONE|2|Authorization|Bearer CANARY');
    expect(await listen.nextLine()).toMatchObject({
      status: 418,
      forwarded: {
        url: `${to.url}?a=b`,
        status: 418,
        retryAfter: '7',
        reply: 'I say no',
        ms: expect.any(Number),
      },
    });
    const { stdout, stderr } = await listen.stop();
    expect(stderr).toContain(`Forwarding to ${to.url}?a=b`);
    expect(stdout + stderr).not.toContain('CANARY');
  });

  it.each([200, 500])('masks a secret that a response with %d repeats', async (status) => {
    const to = await upstream((response) => response.writeHead(status).end('expected it with s3cretCANARY'));
    const listen = await listening(['--forward', to.url, '--secret', 's3cretCANARY']);
    const answer = await fetch(listen.url, { method: 'POST', body: '{}' });
    expect(await answer.text()).toBe('expected it with ***');
    expect(await listen.nextLine()).toMatchObject({ forwarded: { status, reply: 'expected it with ***' } });
    expect((await listen.stop()).stdout).not.toContain('CANARY');
  });

  it.each([200, 500])('masks credentials of its URL that a response with %d repeats', async (status) => {
    const to = await upstream((response, { rawHeaders, url = '' }) => {
      const dump = [url, ...rawHeaders].join('\n');
      const base64 = ['', 'x', 'xy'].map((before) => btoa(before + dump));
      response.writeHead(status).end([dump, ...base64].join('\n'));
    });
    const { host } = new URL(to.url);
    const listen = await listening(['--forward', `http://me:hiddenCANARY@${host}/?token=tokenCANARY`, '-v']);
    const headers = { 'x-api-key': 'keyCANARY' };
    const answer = await (await fetch(listen.url, { method: 'POST', body: '{}', headers })).text();
    const { stdout, stderr } = await listen.stop();
    const shown = answer + stdout + stderr;
    const secrets = ['hiddenCANARY', 'tokenCANARY', 'keyCANARY', btoa('me:hiddenCANARY')];
    // The characters of base64 that do not depend on the bytes before and after.
    const inBase64 = secrets.flatMap((secret) =>
      ['', 'x', 'xy'].map((before) => btoa(before + secret).slice(4, -4)),
    );
    const telling = ['CANARY', ...secrets, ...inBase64];
    expect(answer).toContain('x-api-key');
    expect(telling.filter((secret) => shown.includes(secret))).toEqual([]);
  });

  it('asks for an uncompressed response, even if the sender accepts gzip', async () => {
    const to = await upstream((response, { headers }) => {
      const isPlain = headers['accept-encoding'] === 'identity';
      response.end(isPlain ? 'plain' : gzipSync('packed'));
    });
    const listen = await listening(['--forward', to.url]);
    const headers = { 'Accept-Encoding': 'gzip' };
    const answer = await fetch(listen.url, { method: 'POST', body: '{}', headers });
    expect(await answer.text()).toBe('plain');
  });

  it('responds as --respond says if that is given', async () => {
    const to = await upstream();
    const listen = await listening(['--forward', to.url, '--respond', '503,202@delay=20ms']);
    const statuses = [];
    for (let sent = 0; sent < 2; sent++) {
      statuses.push((await fetch(listen.url, { method: 'POST', body: '{}' })).status);
    }
    expect(statuses).toEqual([503, 202]);
    expect(await listen.nextLine()).toMatchObject({ status: 503, forwarded: { status: 200, reply: 'ok' } });
    expect(to.requests).toHaveLength(2);
  });

  it('forwards neither rejected requests nor other methods than POST', async () => {
    const to = await upstream();
    const listen = await listening(['--forward', to.url, '--secret', 's', '--require-signature']);
    expect((await fetch(listen.url, { method: 'POST', body: '{}' })).status).toBe(401);
    expect((await fetch(listen.url, { method: 'PUT', body: '{}' })).status).toBe(405);
    expect(to.requests).toEqual([]);
  });

  it.each([
    ['never ends', () => endlessBody(200), 502, 'protocol', 'is longer than 256 KiB'],
    ['drips', () => dripsBody(200), 504, 'timeout', 'did not end within 2 s'],
  ])(
    'responds with %3$i when the body of the response %s, and says why',
    async (_how, start, status, code, why) => {
      const to = await start();
      try {
        const listen = await listening(['--forward', to.url]);
        const response = await fetch(listen.url, { method: 'POST', body: '{}' });
        const text = `${code}: it responded with 200, but the body ${why}\n`;
        expect([response.status, await response.text()]).toEqual([status, text]);
        const { stderr, stdout } = await listen.stop();
        expect(stdout + stderr).toContain(why);
      } finally {
        await to.close();
      }
    },
  );

  it('responds with 504 before its sender gives up, and prints the cause', async () => {
    const to = await upstream(() => {});
    const listen = await listening(['--forward', to.url]);
    const response = await fetch(listen.url, {
      method: 'POST',
      body: '{}',
      signal: AbortSignal.timeout(5_000),
    });
    expect([response.status, await response.text()]).toEqual([
      504,
      'timeout: connected, but no response within 4500 ms\n',
    ]);
    expect(await listen.nextLine()).toMatchObject({ status: 504, forwarded: { error: 'timeout' } });
  });

  it('responds with 502 if no receiver listens, and prints the cause', async () => {
    const to = `http://127.0.0.1:${await freePort()}/x`;
    const running = startHooks(['listen', '--port', '0', '--forward', to]);
    const url = await nextUrl(running);
    const response = await fetch(url, { method: 'POST', body: '{}' });
    expect([response.status, await response.text()]).toEqual([502, expect.stringMatching(/^refused: .*\n$/)]);
    const { stdout } = await running.stop();
    expect(stdout).toContain(`    forwarded: cannot connect to ${to} in `);
  });

  it('escapes the control characters of a response', async () => {
    const to = await upstream((response) => response.writeHead(500).end('\u001b[2J\u009b31m bad \u202e'));
    const running = startHooks(['listen', '--port', '0', '--forward', to.url]);
    const url = await nextUrl(running);
    await fetch(url, { method: 'POST', body: '{}' });
    const { stdout } = await running.stop();
    expect(stdout).toContain('response: \\u001b[2J\\u009b31m bad \\u202e');
    // eslint-disable-next-line no-control-regex -- the test is about control characters
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });

  it.each([1, 2])('aborts and reports %i forwarded requests when their sender disconnects', async (count) => {
    const answers: ServerResponse[] = [];
    const to = await upstream((response) => answers.push(response));
    const listen = await listening(['--forward', to.url]);
    const client = await RawConnection.open(Number(new URL(listen.url).port));
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'.repeat(count));
    await until(() => answers.length === count, 'the requests to be passed on');
    const left = Promise.all(answers.map((answer) => once(answer, 'close')));
    client.socket.destroy();
    await left;
    for (const _ of answers) expect(await listen.nextLine()).toMatchObject({ answered: 'nothing' });
  });

  it('sends the user and password of the URL instead of the sender’s, and prints neither', async () => {
    const to = await upstream();
    const listen = await listening(['--forward', to.url.replace('//', '//me:CANARY@')]);
    await fetch(listen.url, { method: 'POST', body: '{}', headers: { authorization: 'Bearer other' } });
    expect(to.requests[0]?.request.headers.authorization).toBe(
      `Basic ${Buffer.from('me:CANARY').toString('base64')}`,
    );
    const { stdout, stderr } = await listen.stop();
    expect(stdout + stderr).not.toContain('CANARY');
  });

  it.each(['ftp://a/', 'a.example:3000'])('rejects %s', async (url) => {
    await expectRejected(
      ['listen', '--port', '18787', '--forward', url],
      `error: Expected an http:// or https:// URL, got \`${url}\` (--forward)`,
    );
  });

  it.each([
    ['localhost'],
    ['LOCALHOST.'],
    ['hooks.localhost'],
    ['127.1'],
    ['0.0.0.0'],
    ['[::]'],
    ['[::1]'],
    ['[::ffff:127.0.0.1]'],
    ['[0:0:0:0:0:ffff:7f00:1]'],
    ['[::ffff:0.0.0.0]'],
    ['[fd00:0::1]', 'FD00::1'],
  ])('rejects forwarding to itself by the name of %s', async (name, host = '127.0.0.1') => {
    const args = argv`--host ${host} --port 18787 --within 10ms --forward http://${name}:18787/`;
    const error = 'error: Expected the URL of another receiver, got that of this one (--forward)';
    await expectRejected(['listen', ...args], error);
  });

  const addresses = Object.values(networkInterfaces()).flatMap((each = []) => each);
  const [lan] = addresses.filter(({ family, internal }) => family === 'IPv4' && !internal);

  it.runIf(lan !== undefined).each(['0.0.0.0', '::', lan?.address ?? ''])(
    'rejects forwarding to itself by an address of its network, or by its name: listening on %s',
    async (host) => {
      for (const target of [lan?.address ?? '', hostname()]) {
        const to = `http://${target}:18787/`;
        const words = ['--host', host, '--port', '18787', '--within', '10ms', '--forward', to];
        await expectRejected(['listen', ...words], 'got that of this one (--forward)');
      }
    },
  );

  it('forwards to the same port of a name of another machine or without an address', async () => {
    const port = String(await freePort());
    for (const target of ['192.0.2.1', 'nowhere.invalid']) {
      const to = `http://${target}:${port}/`;
      // It listens, and nothing comes.
      const { code } = await hooks(['listen', '--port', port, '--within', '10ms', '--forward', to]);
      expect(code).toBe(1);
    }
  });
});

describe('hooks listen --self-signed', () => {
  it('gets messages only from a sender that trusts its certificate', async () => {
    const listen = await listening(['--self-signed', '--secret', 's']);
    expect(listen.url).toMatch(/^https:/);
    const certificate = String(listen.ready['certificate']);
    expect(new X509Certificate(certificate).checkIP('127.0.0.1')).toBe('127.0.0.1');
    const send = ['send', 'track', '--event', 'A', '--user-id', 'u', '--secret', 's', '--url', listen.url];
    const refused = await hooks([...send, '--retry-for', '0', '-o', 'json']);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('"error":"tls-self-signed"');
    const cwd = temporaryFolder({ 'ca.pem': certificate, '.hooksrc.yaml': 'delivery: { ca: ./ca.pem }\n' });
    expect((await hooks(send, { cwd })).code).toBe(0);
    expect(await listen.nextLine()).toMatchObject({ type: 'track', verdict: 'valid', status: 200 });
    const forwarding = await listening(['--forward', listen.url], { cwd });
    expect((await fetch(forwarding.url, { method: 'POST', body: '{}' })).status).toBe(200);
    await forwarding.stop();
    const { stderr } = await listen.stop();
    expect(stderr).toContain('does not trust the certificate');
    expect(stderr).toContain(new X509Certificate(certificate).fingerprint256);
  });

  it('suggests no command if a signature is required', async () => {
    const listen = startHooks(['listen', '--self-signed', '--port', '0', '--secret', 's']);
    await listen.lines.next();
    expect((await listen.stop()).stderr).not.toContain('Try:');
  });
});

describe('hooks listen -v -o json', () => {
  it('contains the headers, with secret headers masked', async () => {
    const listen = await listening(['-v']);
    const digest = createHash('sha1').digest('hex');
    await fetch(listen.url, {
      method: 'POST',
      body: '{}',
      headers: { 'X-Signature': digest, Cookie: 'CANARY', 'X-Api-Key': 'CANARY' },
    });
    const { headers } = (await listen.nextLine()) as { headers: [string, string][] };
    expect(headers.map(([name, value]) => [name.toLowerCase(), value])).toEqual(
      expect.arrayContaining([
        ['x-signature', digest],
        ['cookie', '***'],
        ['x-api-key', '***'],
      ]),
    );
  });
});
