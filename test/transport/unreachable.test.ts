import { describe, expect, it } from 'vitest';
import { answersOk } from '../hostile-receivers.ts';
import { newTransport, requestTo, sendTo, started } from './sending.ts';

describe('a receiver that cannot be reached', () => {
  it('with several addresses fails as refused if each of them refuses connections', async () => {
    const receiver = await answersOk();
    await receiver.close();
    const url = `http://localhost:${receiver.port}/`;
    expect(await sendTo(url)).toMatchObject({ error: 'refused' });
  });

  it('with an unknown name fails as dns', async () => {
    const result = await sendTo('http://name.invalid/', { timeoutMs: 25_000 });
    expect(result).toMatchObject({ error: 'dns', detail: expect.stringContaining('name.invalid') });
  });

  it('is reached at the address of the given lookup', async () => {
    const receiver = await started(answersOk());
    const transport = newTransport({
      lookup: (_hostname, _options, answered) => answered(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    const result = await transport.send(requestTo(`http://somewhere.test:${receiver.port}/`));
    expect(result).toMatchObject({ status: 200 });
    expect(receiver.requests[0]?.head).toContain(`host: somewhere.test:${receiver.port}`);
  });
});
