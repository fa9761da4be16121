import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answersOk, dripsBody } from '../hostile-receivers.ts';
import { makeSendingProgram, type SendingProgram } from './sending-program.ts';
import { newTransport, requestTo, started } from './sending.ts';
import { until } from '../until.ts';

let program: SendingProgram;

beforeAll(async () => {
  program = await makeSendingProgram();
});

afterAll(() => program.remove());

describe('a process that has sent a request', () => {
  it('exits by itself with an idle connection open', async () => {
    const receiver = await started(answersOk());
    const sent = await program.send({ url: receiver.url, leavesOpen: true }, {});
    expect(sent).toMatchObject({ result: { status: 200 }, stderr: '' });
  });

  it('exits by itself after close() during a response', async () => {
    const receiver = await started(dripsBody());
    const sent = await program.send({ url: receiver.url }, {});
    expect(sent).toMatchObject({ result: { status: 200 }, stderr: '' });
  });
});

describe('close()', () => {
  it('leaves no socket during a response', async () => {
    // Test files share a process, and an earlier one may have sockets that are still closing.
    const before = sockets().length;
    const receivers = [await started(answersOk()), await started(dripsBody())];
    const transport = newTransport();
    for (const { url } of receivers) await transport.send(requestTo(url, { timeoutMs: 60_000 }));
    expect(sockets().length).toBeGreaterThan(before);
    await transport.close();
    // The receivers' ends of the connections are in this process too.
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await until(() => sockets().length <= before, 'the connections to be closed');
  });
});

function sockets(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap');
}
