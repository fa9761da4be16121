import { describe, expect, it } from 'vitest';
import { BLOCKED_ADDRESS } from '../../src/transport/network-error.ts';
import { answersOk } from '../hostile-receivers.ts';
import { newTransport, requestTo, started } from './sending.ts';

describe('a receiver that cannot be reached', () => {
  it('on a port without a listener is refused', async () => {
    const receiver = await answersOk();
    await receiver.close();
    expect(await newTransport().send(requestTo(receiver.url))).toMatchObject({
      error: 'refused',
      detail: `the connection was refused (ECONNREFUSED 127.0.0.1:${receiver.port})`,
    });
  });

  it('by a name with several addresses is refused when all of them are', async () => {
    const receiver = await answersOk();
    await receiver.close();
    const url = `http://localhost:${receiver.port}/`;
    expect(await newTransport().send(requestTo(url))).toMatchObject({ error: 'refused' });
  });

  it('by a name that does not exist is a dns error', async () => {
    const result = await newTransport().send(requestTo('http://name.invalid/', { timeoutMs: 25_000 }));
    expect(result).toMatchObject({ error: 'dns', detail: expect.stringContaining('name.invalid') });
  });

  it('because its address is not allowed is a blocked address, and no connection is made', async () => {
    const receiver = await started(answersOk());
    const transport = newTransport({
      lookup: (_hostname, _options, answered) =>
        answered(Object.assign(new Error('127.0.0.1 is loopback'), { code: BLOCKED_ADDRESS }), ''),
    });
    const result = await transport.send(requestTo(`http://somewhere.test:${receiver.port}/`));
    expect(result).toMatchObject({ error: 'blocked-address', detail: '127.0.0.1 is loopback' });
    expect(receiver.connections).toBe(0);
  });

  it('is reached at the address that a lookup of our own gives', async () => {
    const receiver = await started(answersOk());
    const transport = newTransport({
      lookup: (_hostname, _options, answered) => answered(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    const result = await transport.send(requestTo(`http://somewhere.test:${receiver.port}/`));
    expect(result).toMatchObject({ status: 200 });
    expect(receiver.requests[0]?.head).toContain(`host: somewhere.test:${receiver.port}`);
  });
});
