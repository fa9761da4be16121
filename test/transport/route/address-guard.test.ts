import type { LookupAddress } from 'node:dns';
import { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily, type LookupFunction } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { guardedLookup, type AddressRule } from '../../../src/transport/route/address-guard.ts';
import { whyNotPublic } from '../../../src/transport/route/public-address.ts';
import { answersOk, closesIdle, diesWhenReused } from '../../hostile-receivers.ts';
import { makeCertificates } from '../../certificates.ts';
import { proxyServer } from '../proxy-server.ts';
import { newTransport, requestTo, SHORT_MS, started } from '../sending.ts';
import { until } from '../../until.ts';

const BLOCKED = { kind: 'failure', error: 'blocked-address' };
const PUBLIC = '8.8.8.8';
const onlyThat: AddressRule = (address) => (address === PUBLIC ? undefined : 'other');

/** Replaces public and private addresses, which no test connects to, by two addresses of this machine, one of them rejected. */
const notTheSecond: AddressRule = (address) => (address === '127.0.0.2' ? 'the second' : undefined);

const IPV6 = ['[::1]', '[::]', '[0:0::1]'];

describe('a receiver with an address that is not public', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '017700000001',
    '%31%32%37.0.0.1',
    '127。0。0。1',
    '①②⑦.⓪.⓪.①',
    '0',
    '0.0.0.0',
    '[::ffff:127.0.0.1]',
    '[0:0:0:0:0:ffff:7f00:1]',
    'localhost',
    'LOCALHOST',
    ...IPV6,
  ])('is reached as %s by default, but not with public addresses only', async (host) => {
    const receiver = await started(answersOk({ host: IPV6.includes(host) ? '::1' : '127.0.0.1' }));
    const request = requestTo(`http://${host}:${receiver.port}/`);
    expect(await newTransport().send(request)).toMatchObject({ status: 200 });
    const before = receiver.connections;
    const result = await newTransport({ addresses: 'public' }).send(request);
    expect(result).toMatchObject({ kind: 'failure', error: 'blocked-address', reconnected: false });
    expect(receiver.connections).toBe(before);
  });

  it.each([
    ['http://10.0.0.1/', '10.0.0.1 (private)'],
    ['http://0300.0250.1/', '192.168.0.1 (private)'],
    ['http://169.254.169.254/latest/meta-data/', '169.254.169.254 (cloud metadata)'],
    ['http://[fd00:ec2::254]/', 'fd00:ec2::254 (cloud metadata)'],
    ['http://[fd12:3456::1]/', 'fd12:3456::1 (unique-local)'],
    ['http://[64:ff9b::10.0.0.1]/', '64:ff9b::a00:1 (private)'],
    ['http://[::ffff:169.254.169.254]/', '::ffff:a9fe:a9fe (cloud metadata)'],
    ['http://[2002:a00:1::]/', '2002:a00:1:: (reserved)'],
    ['https://[::127.0.0.1]/', '::7f00:1 (reserved)'],
    ['https://4294967295/', '255.255.255.255 (broadcast)'],
  ])('at %s is rejected with a hint how to allow it', async (url, shown) => {
    expect(await newTransport({ addresses: 'public' }).send(requestTo(url))).toMatchObject({
      error: 'blocked-address',
      detail: `no connection to ${shown} without --allow-private`,
    });
  });

  it.each(['localhost.', 'hooks.localhost', 'intranet.test'])(
    'is rejected with the name %s, and its address is named',
    async (host) => {
      const receiver = await started(answersOk());
      const transport = newTransport({ addresses: 'public', lookup: answering(['127.0.0.1']) });
      expect(await transport.send(requestTo(`http://${host}:${receiver.port}/`))).toMatchObject({
        error: 'blocked-address',
        detail: `no connection to 127.0.0.1 (loopback), the address of ${host}, without --allow-private`,
      });
      expect(receiver.connections).toBe(0);
    },
  );

  it('with a host name is rejected with all of its addresses', async () => {
    const transport = newTransport({ addresses: 'public', lookup: answering(['::1', '10.0.0.1']) });
    expect(await transport.send(requestTo('https://both.test/'))).toMatchObject({
      error: 'blocked-address',
      detail:
        'no connection to ::1 (loopback) and 10.0.0.1 (private), the addresses of both.test, without --allow-private',
    });
  });

  it('receives no byte of a TLS handshake', async () => {
    const certificates = await makeCertificates();
    onTestFinished(() => certificates.remove());
    const receiver = await started(answersOk({ certificate: certificates.good }));
    const { caFile } = certificates;
    const transport = newTransport({ addresses: 'public', caFile, lookup: answering(['127.0.0.1']) });
    for (const host of ['127.0.0.1', 'receiver.test']) {
      expect(await transport.send(requestTo(`https://${host}:${receiver.port}/`))).toMatchObject(BLOCKED);
    }
    expect(receiver.connections).toBe(0);
  });

  it('is rejected every time, without open sockets', async () => {
    const transport = newTransport({ addresses: 'public' });
    const request = requestTo('http://127.0.0.1:9/');
    const results = await Promise.all(Array.from({ length: 50 }, () => transport.send(request)));
    expect(results.every((each) => each.kind === 'failure' && each.error === 'blocked-address')).toBe(true);
    await transport.close();
  });

  it('with a host name is rejected without happy eyeballs too', async () => {
    const usual = getDefaultAutoSelectFamily();
    onTestFinished(() => setDefaultAutoSelectFamily(usual));
    setDefaultAutoSelectFamily(false);
    const receiver = await started(answersOk());
    const url = `http://somewhere.test:${receiver.port}/`;
    const lookup = answering(['127.0.0.2', '127.0.0.1']);
    expect(await newTransport({ addresses: 'public', lookup }).send(requestTo(url))).toMatchObject(BLOCKED);
    expect(receiver.connections).toBe(0);
    expect(await newTransport({ addresses: notTheSecond, lookup }).send(requestTo(url))).toMatchObject({
      status: 200,
    });
  });
});

describe('a name with several addresses, some of which are rejected', () => {
  it.each([[['127.0.0.2', '127.0.0.1']], [['127.0.0.1', '127.0.0.2']], [['127.0.0.2', '::1', '127.0.0.1']]])(
    'is reached only at the allowed ones (%o)',
    async (addresses) => {
      const allowed = await started(answersOk());
      const { url, refused } = await twinOf(allowed);
      const transport = newTransport({ addresses: notTheSecond, lookup: answering(addresses) });
      expect(await transport.send(requestTo(url))).toMatchObject({ status: 200 });
      expect(refused.connections).toBe(0);
    },
  );

  it('is not reached at these if the others do not respond', async () => {
    const allowed = await started(answersOk());
    const { url, refused } = await twinOf(allowed);
    await allowed.close();
    const transport = newTransport({
      addresses: notTheSecond,
      lookup: answering(['127.0.0.1', '127.0.0.2', '::1']),
    });
    expect(await transport.send(requestTo(url))).toMatchObject({ error: 'refused' });
    expect(refused.connections).toBe(0);
  });
});

describe('a name whose address changes', () => {
  it('is looked up once per connection, so that the checked address is the one connected to', async () => {
    const receiver = await started(closesIdle());
    const { url, refused } = await twinOf(receiver);
    const lookup = changing([['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1'], ['127.0.0.2', '127.0.0.1']]);
    const transport = newTransport({ addresses: notTheSecond, lookup });
    const seen: unknown[] = [];
    for (let sent = 1; sent <= 4; sent++) {
      const result = await transport.send(requestTo(url));
      seen.push(result.kind === 'failure' ? result.error : result.status);
      await until(() => receiver.openConnections === 0, 'the connections to be closed');
    }
    expect(seen).toEqual([200, 'blocked-address', 200, 200]);
    expect(lookup.calls).toBe(4);
    expect(refused.connections).toBe(0);
  });

  it('is checked again when a reused connection dies and the request is repeated', async () => {
    const receiver = await started(diesWhenReused());
    const { url, refused } = await twinOf(receiver);
    const lookup = changing([['127.0.0.1'], ['127.0.0.2']]);
    const transport = newTransport({ addresses: notTheSecond, lookup });
    expect(await transport.send(requestTo(url))).toMatchObject({ status: 200 });
    expect(await transport.send(requestTo(url))).toMatchObject({
      error: 'blocked-address',
      detail:
        'no connection to 127.0.0.2 (the second), the address of somewhere.test, without --allow-private',
      reconnected: true,
    });
    expect(refused.connections).toBe(0);
  });

  it('keeps its allowed connection without another lookup', async () => {
    const receiver = await started(answersOk());
    const { url, refused } = await twinOf(receiver);
    const lookup = changing([['127.0.0.1'], ['127.0.0.2']]);
    const transport = newTransport({ addresses: notTheSecond, lookup });
    for (let sent = 1; sent <= 3; sent++) {
      expect(await transport.send(requestTo(url))).toMatchObject({ status: 200 });
    }
    expect([receiver.connections, refused.connections, lookup.calls]).toEqual([1, 0, 1]);
  });
});

describe('a proxy', () => {
  it.each(['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'])(
    'in %s is rejected if addresses are checked, without showing its password',
    (key) => {
      const proxyEnv = { [key]: 'http://me:hidden@proxy.test:3128' };
      expect(() => newTransport({ addresses: 'public', proxyEnv })).toThrow(
        expect.objectContaining({
          name: 'ConfigError',
          key,
          message: `${key} names a proxy, but the addresses that a proxy connects to cannot be checked`,
          hint: expect.stringMatching(/^((?!hidden).)*--allow-proxy((?!hidden).)*$/),
        }),
      );
    },
  );

  it('that is set later is not used', async () => {
    const proxy = await started(proxyServer());
    const proxyEnv: NodeJS.ProcessEnv = {};
    const transport = newTransport({ addresses: 'public', proxyEnv, lookup: answering(['127.0.0.1']) });
    proxyEnv['HTTP_PROXY'] = proxy.origin;
    expect(await transport.send(requestTo('http://receiver.test/'))).toMatchObject(BLOCKED);
    expect(proxy.asked).toEqual([]);
  });

  it('that is allowed carries requests unchecked, and may have a private address itself', async () => {
    const proxy = await started(proxyServer());
    const receiver = await started(answersOk());
    const proxyEnv = { HTTP_PROXY: proxy.origin };
    const transport = newTransport({ addresses: 'public', allowProxy: true, proxyEnv });
    const url = `http://10.0.0.1:${receiver.port}/hook`;
    expect(await transport.send(requestTo(url))).toMatchObject({ status: 200 });
    expect(proxy.asked).toEqual([`POST ${url}`]);
  });

  it('that is allowed leaves direct connections checked', async () => {
    const proxy = await started(proxyServer());
    const receiver = await started(answersOk());
    const proxyEnv = { HTTP_PROXY: proxy.origin, NO_PROXY: '10.0.0.1' };
    const transport = newTransport({ addresses: 'public', allowProxy: true, proxyEnv });
    for (const url of [receiver.url, 'http://10.0.0.1/']) {
      expect(await transport.send(requestTo(url, { timeoutMs: SHORT_MS }))).toMatchObject(BLOCKED);
    }
    expect(receiver.connections).toBe(0);
    expect(proxy.asked).toEqual([]);
  });
});

describe('guardedLookup', () => {
  it('returns one address or all, depending on its options', async () => {
    const guarded = guardedLookup(onlyThat, answering(['10.0.0.1', PUBLIC]));
    expect(await asked(guarded, { all: true })).toEqual([null, [{ address: PUBLIC, family: 4 }], undefined]);
    expect(await asked(guarded, { all: false })).toEqual([null, PUBLIC, 4]);
  });

  it('passes on its options, but asks for all addresses', async () => {
    const seen: unknown[] = [];
    const lookup: LookupFunction = (_hostname, options, answered) => {
      seen.push(options);
      answered(null, []);
    };
    await asked(guardedLookup(onlyThat, lookup), { family: 6, hints: 1, all: false });
    expect(seen).toEqual([{ family: 6, hints: 1, all: true }]);
  });

  it('passes on the failure of a lookup', async () => {
    const failure = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    const lookup: LookupFunction = (_hostname, _options, answered) => answered(failure, '');
    expect((await asked(guardedLookup(onlyThat, lookup), { all: true }))[0]).toBe(failure);
  });

  it.each(['localhost.', 'hooks.localhost', 'Hooks.LOCALHOST.'])(
    'looks up localhost instead of %s, which a resolver may not know or may query in the network',
    async (hostname) => {
      const names: string[] = [];
      const lookup: LookupFunction = (name, _options, answered) => {
        names.push(name);
        answered(null, '127.0.0.1', 4);
      };
      await new Promise((resolve) => guardedLookup(whyNotPublic, lookup)(hostname, {}, resolve));
      await new Promise((resolve) => guardedLookup(whyNotPublic, lookup)('notlocalhost', {}, resolve));
      expect(names).toEqual(['localhost', 'notlocalhost']);
    },
  );

  it('checks the result of a lookup that always returns one address', async () => {
    expect((await asked(guardedLookup(onlyThat, alwaysGivesOne), { all: true }))[0]).toMatchObject({
      code: 'ERR_HOOKS_BLOCKED_ADDRESS',
    });
  });
});

const alwaysGivesOne: LookupFunction = (_hostname, _options, answered) => answered(null, '10.0.0.1', 4);

function asked(lookup: LookupFunction, options: Parameters<LookupFunction>[1]): Promise<unknown[]> {
  return new Promise((resolve) =>
    lookup('some.test', options, (...answer) => resolve([...answer.slice(0, 2), answer[2]])),
  );
}

/** Another receiver on the same port of 127.0.0.2, and the URL of a name for both. */
async function twinOf({ port }: { readonly port: number }) {
  const refused = await started(answersOk({ host: '127.0.0.2', port }));
  return { refused, url: `http://somewhere.test:${port}/` };
}

function answering(addresses: readonly string[]): LookupFunction {
  return changing([addresses]);
}

/** A name server that returns its answers one after another, and repeats the last one. */
function changing(answers: readonly (readonly string[])[]): LookupFunction & { readonly calls: number } {
  let calls = 0;
  const lookup: LookupFunction = (_hostname, { all }, answered) => {
    const addresses = (answers[calls++] ?? answers.at(-1) ?? []).map(toLookupAddress);
    if (all) answered(null, addresses);
    else answered(null, addresses[0]?.address ?? '', addresses[0]?.family);
  };
  return Object.defineProperty(lookup, 'calls', { get: () => calls }) as typeof lookup & { calls: number }; // Just defined.
}

function toLookupAddress(address: string): LookupAddress {
  return { address, family: address.includes(':') ? 6 : 4 };
}
