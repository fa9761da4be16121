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

describe('a process that has sent', () => {
  it('ends by itself, though an idle connection was left open', async () => {
    const receiver = await started(answersOk());
    const sent = await program.send({ url: receiver.url, leavesOpen: true }, {});
    expect(sent).toMatchObject({ result: { status: 200 }, stderr: '' });
  });

  it('ends by itself after close(), though a body was still coming', async () => {
    const receiver = await started(dripsBody());
    const sent = await program.send({ url: receiver.url }, {});
    expect(sent).toMatchObject({ result: { status: 200 }, stderr: '' });
  });
});

describe('close()', () => {
  it('leaves no socket, though a response was still coming', async () => {
    // Test files share a process, and one before may have left some that still close.
    const before = sockets().length;
    const receivers = [await started(answersOk()), await started(dripsBody())];
    const transport = newTransport();
    for (const { url } of receivers) await transport.send(requestTo(url, { timeoutMs: 60_000 }));
    expect(sockets().length).toBeGreaterThan(before);
    await transport.close();
    // Their ends of the connections are in this process too.
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await until(() => sockets().length <= before, 'the connections to be closed');
  });
});

function sockets(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap');
}
