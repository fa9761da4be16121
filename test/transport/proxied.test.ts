import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificates, type Certificates } from '../certificates.ts';
import { answers, answersOk, diesWhenReused, neverAnswers } from '../hostile-receivers.ts';
import { proxyServer, type ProxyServer } from './proxy-server.ts';
import { newTransport, requestTo, SHORT_MS, started } from './sending.ts';
import { until } from '../until.ts';

let certificates: Certificates;

beforeAll(async () => {
  certificates = await makeCertificates();
});

afterAll(() => certificates.remove());

const behind = ({ origin }: ProxyServer) =>
  newTransport({ proxyEnv: { HTTPS_PROXY: origin }, caFile: certificates.caFile });

describe('a request to an http: receiver behind a proxy', () => {
  it('is sent to the proxy with its whole URL and the right Host', async () => {
    const proxy = await started(proxyServer());
    const receiver = await started(answers(503, { body: 'busy' }));
    const url = `http://receiver.test:${receiver.port}/hook`;
    const transport = newTransport({ proxyEnv: { HTTP_PROXY: proxy.origin } });
    expect(await transport.send(requestTo(url))).toMatchObject({ status: 503, body: 'busy' });
    expect(proxy.asked).toEqual([`POST ${url}`]);
    expect(receiver.requests[0]?.head).toContain(`host: receiver.test:${receiver.port}`);
    expect(receiver.requests[0]?.body.toString()).toBe('{}');
  });

  it('keeps the connection to the proxy open', async () => {
    const proxy = await started(proxyServer());
    const receiver = await started(answersOk());
    const transport = newTransport({ proxyEnv: { HTTP_PROXY: proxy.origin } });
    for (const path of ['a', 'b']) {
      await transport.send(requestTo(`http://receiver.test:${receiver.port}/${path}`));
    }
    expect(proxy.asked).toHaveLength(2);
    expect(proxy.openConnections).toBe(1);
  });

  it('goes directly to loopback', async () => {
    const proxy = await started(proxyServer());
    const receiver = await started(answersOk());
    const transport = newTransport({ proxyEnv: { HTTP_PROXY: proxy.origin } });
    expect(await transport.send(requestTo(receiver.url))).toMatchObject({ status: 200 });
    expect(proxy.asked).toEqual([]);
  });
});

describe('a request to an https: receiver behind a proxy', () => {
  it('goes through a tunnel, in which the certificate is checked against the receiver', async () => {
    const proxy = await started(proxyServer());
    const receiver = await started(answersOk({ certificate: certificates.good }));
    const transport = behind(proxy);
    const send = (host: string) => transport.send(requestTo(`https://${host}:${receiver.port}/hook`));
    expect(await send('receiver.test')).toMatchObject({ status: 200 });
    expect(await send('receiver.test')).toMatchObject({ status: 200 });
    expect(await send('stranger.test')).toMatchObject({
      error: 'tls-hostname',
      detail: expect.stringContaining(`, through the proxy ${proxy.origin}`),
    });
    expect(proxy.asked).toEqual([
      `CONNECT receiver.test:${receiver.port}`,
      `CONNECT stranger.test:${receiver.port}`,
    ]);
    expect(receiver.requests).toHaveLength(2);
  });

  it('is repeated on a fresh tunnel when a reused one dies', async () => {
    const proxy = await started(proxyServer());
    const receiver = await started(diesWhenReused({ certificate: certificates.good }));
    const transport = behind(proxy);
    const url = `https://receiver.test:${receiver.port}/hook`;
    await transport.send(requestTo(url));
    expect(await transport.send(requestTo(url))).toMatchObject({ status: 200, reconnected: true });
  });

  it('has one timeout, and leaves no connection behind', async () => {
    const proxy = await started(proxyServer());
    const receiver = await started(neverAnswers({ certificate: certificates.good }));
    const transport = behind(proxy);
    const url = `https://receiver.test:${receiver.port}/hook`;
    expect(await transport.send(requestTo(url, { timeoutMs: SHORT_MS }))).toMatchObject({ error: 'timeout' });
    await until(
      () => receiver.openConnections === 0 && proxy.openConnections === 0,
      'the connections to be closed',
    );
  });
});

describe.each([
  ['http', 'HTTP_PROXY'],
  ['https', 'HTTPS_PROXY'],
])('a proxy for %s:', (scheme, variable) => {
  const url = `${scheme}://receiver.test:1/hook`;
  const through = (proxy: ProxyServer, userinfo = '') =>
    newTransport({ proxyEnv: { [variable]: `http://${userinfo}${proxy.host}` } });

  it('with a password gets it from its URL, and the password is never shown', async () => {
    const proxy = await started(proxyServer({ status: 407 }));
    const result = await through(proxy, 'me:s%20cret@').send(requestTo(url));
    expect(proxy.authorizations).toEqual([`Basic ${Buffer.from('me:s cret').toString('base64')}`]);
    expect(result).toMatchObject({
      error: 'refused',
      detail: `the proxy responded with 407 Proxy Authentication Required, through the proxy ${proxy.origin} (${variable})`,
    });
  });

  it('that never responds ends in a timeout', async () => {
    const proxy = await started(proxyServer({ silent: true }));
    const result = await through(proxy).send(requestTo(url, { timeoutMs: SHORT_MS }));
    expect(result).toMatchObject({ error: 'timeout' });
    await until(() => proxy.openConnections === 0, 'the connections to be closed');
  });

  it('that is unreachable is named', async () => {
    const proxy = await proxyServer();
    await proxy.close();
    expect(await through(proxy).send(requestTo(url))).toMatchObject({
      error: 'refused',
      detail: `the connection was refused (ECONNREFUSED ${proxy.host}), through the proxy ${proxy.origin} (${variable})`,
    });
  });
});
