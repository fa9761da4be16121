import { describe, expect, it, onTestFinished } from 'vitest';
import { type Pipeline } from '../../../src/app/pipeline/pipeline.ts';
import { createTrackingApiPipeline } from '../../../src/app/pipeline/tracking-api-pipeline.ts';
import { createRecordingTransport, type RecordedRequest } from '../../../src/app/recording-transport.ts';
import type { Receipt } from '../../../src/client/sink.ts';
import { after, answer, failure } from '../../engine/harness.ts';
import { FakeClock } from '../../fake-clock.ts';
import { deliver, fakeTransport, isPending, type Receiver } from '../set-up.ts';

const ENDPOINT = 'http://api.example';

function setUp(receiver: Receiver, options = {}) {
  const clock = new FakeClock();
  const transport = fakeTransport(receiver);
  const parts = { endpoint: ENDPOINT, writeKey: 'key', timeoutMs: 5_000, transport, clock, random: () => 0 };
  const pipeline = createTrackingApiPipeline({ ...parts, ...options });
  onTestFinished(() => pipeline.interrupt(0));
  return { pipeline, transport, clock };
}

describe('a pipeline to a tracking API', () => {
  it('reports a message as delivered when its batch is accepted', async () => {
    const { pipeline, transport } = setUp(() => answer(200));
    expect(await deliver(pipeline, 'm1')).toMatchObject({
      messageId: 'm1',
      outcome: 'delivered',
      destinations: [{ name: 'tracking API', attempts: [{ url: `${ENDPOINT}/v1/batch`, status: 200 }] }],
    });
    await pipeline.close();
    expect(transport.isClosed()).toBe(true);
  });

  it('reports a message as failed if the response lists it as rejected', async () => {
    const { pipeline } = setUp(() =>
      answer(200, { body: '{"rejected":[{"index":0,"code":"bad","message":"no"}]}' }),
    );
    expect(await deliver(pipeline, 'm1')).toMatchObject({
      outcome: 'failed',
      refusal: { code: 'bad', reason: 'no' },
    });
  });

  it('gives an attempt 5 seconds by default', async () => {
    const { pipeline, transport } = setUp(() => answer(200), { timeoutMs: undefined });
    await deliver(pipeline, 'm1');
    expect(transport.requests[0]?.timeoutMs).toBe(5_000);
  });

  it('passes caFile to the transport and rejects a missing file', async () => {
    const { pipeline, transport } = setUp(() => answer(200), { caFile: '/ca.pem' });
    await deliver(pipeline, 'm1');
    expect(transport.requests[0]?.connection?.caFile).toBe('/ca.pem');
    expect(() => setUp(() => answer(200), { caFile: '/no/ca.pem', transport: undefined })).toThrow(
      'to be a file that can be read, got /no/ca.pem',
    );
  });

  it('reports each retry', async () => {
    const retries: unknown[] = [];
    const { pipeline, clock } = setUp((_request, turn) => answer(turn === 0 ? 503 : 200), {
      onRetry: (retry: unknown) => retries.push(retry),
    });
    const outcome = deliver(pipeline, 'm1');
    await clock.advance(10_000);
    expect(await outcome).toMatchObject({
      outcome: 'delivered',
      destinations: [{ attempts: [{ status: 503 }, { status: 200 }] }],
    });
    expect(retries).toMatchObject([{ attempts: 1, messages: 1, reason: `503 from ${ENDPOINT}/v1/batch` }]);
  });

  it.each([
    [900, 'delivered'],
    [1_100, 'unsent'],
  ])('gives an attempt of %i ms the grace time of an interruption: %s', async (ms, outcome) => {
    const clock = new FakeClock();
    const { pipeline, transport } = setUp((request) => after(clock, ms, request, answer(200)), { clock });
    const delivered = deliver(pipeline, 'm1');
    expect(await isPending(delivered)).toBe(true);
    const interrupted = pipeline.interrupt(1_000);
    await clock.advance(1_000);
    await interrupted;
    expect(await delivered).toMatchObject({ outcome });
    expect([transport.requests.length, transport.isClosed(), clock.pendingTimers]).toEqual([1, true, 0]);
  });

  it('leaves no timer if it is interrupted twice or after close()', async () => {
    const clock = new FakeClock();
    const { pipeline } = setUp((request) => after(clock, 5_000, request, answer(200)), { clock });
    const outcome = deliver(pipeline, 'm1');
    const interrupted = [pipeline.interrupt(2_000), pipeline.interrupt(1_000)];
    await clock.advance(1_000);
    await Promise.all(interrupted);
    expect(await outcome).toMatchObject({ outcome: 'unsent' });
    expect(clock.pendingTimers).toBe(0);
    await pipeline.interrupt(1_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it('reports messages that wait for a retry or a first attempt as unsent when it is interrupted', async () => {
    const { pipeline, transport, clock } = setUp(() => answer(503));
    const outcomes = [deliver(pipeline, 'm1'), deliver(pipeline, 'm2')];
    await isPending(outcomes[0] ?? Promise.resolve());
    await pipeline.interrupt(0);
    expect(await Promise.all(outcomes)).toMatchObject([
      { messageId: 'm1', outcome: 'unsent', destinations: [{ attempts: [{ status: 503 }] }] },
      { messageId: 'm2', outcome: 'unsent', destinations: [{ attempts: [] }] },
    ]);
    expect([transport.requests.length, clock.pendingTimers]).toEqual([1, 0]);
  });
});

/** Sends thirty tracks; with `flushAt: 1` each is a batch. */
function trackThirty(pipeline: Pipeline): Promise<Receipt>[] {
  return Array.from({ length: 30 }, () => pipeline.client.track({ userId: 'u', event: 'E' }));
}

describe('a pipeline to a tracking API that is closed', () => {
  it.each([
    [30_000, 35_000],
    [0, 10_000],
    [undefined, 130_000],
  ])('ends against a dead endpoint, with retryForMs %j within %i ms', async (retryForMs, endsWithin) => {
    const clock = new FakeClock();
    const { pipeline, transport } = setUp(
      (request) => after(clock, request.timeoutMs, request, failure('timeout')),
      { clock, retryForMs, client: { flushAt: 1 } },
    );
    const receipts = trackThirty(pipeline);
    await clock.advance(0);
    const closed = pipeline.close();
    expect(await isPending(closed)).toBe(true);
    await clock.advance(endsWithin);
    expect(await isPending(closed)).toBe(false);
    const given = await Promise.all(receipts);
    expect(given[0]).toMatchObject({ accepted: false, code: 'timeout' });
    expect(given.at(-1)).toEqual({
      accepted: false,
      messageId: given.at(-1)?.messageId,
      code: 'aborted',
      reason: 'not sent: the client was closed while the tracking API failed',
      attempts: [],
    });
    expect([transport.isClosed(), clock.pendingTimers]).toEqual([true, 0]);
  });

  it('does not give up a slow endpoint that fails for less than retryForMs', async () => {
    const clock = new FakeClock();
    const { pipeline } = setUp(
      (request, turn) => after(clock, 500, request, answer(turn % 2 === 0 ? 503 : 200)),
      { clock, retryForMs: 2_000, timeoutMs: 1_000, client: { flushAt: 1 } },
    );
    const receipts = trackThirty(pipeline);
    const closed = pipeline.close();
    await clock.advance(60_000);
    await closed;
    expect((await Promise.all(receipts)).every(({ accepted }) => accepted)).toBe(true);
  });

  it('shortens the wait of Retry-After and makes the last attempt at the end', async () => {
    const { pipeline, clock } = setUp(
      (_request, turn) => (turn === 0 ? answer(429, { retryAfter: '600' }) : answer(200)),
      { client: { flushAt: 1 } },
    );
    const receipts = trackThirty(pipeline);
    await clock.advance(1_000);
    const closed = pipeline.close();
    await clock.advance(130_000);
    await closed;
    expect((await Promise.all(receipts)).every(({ accepted }) => accepted)).toBe(true);
  });
});

it('a recording transport reports every request as delivered without sending it', async () => {
  const recorded: RecordedRequest[] = [];
  const transport = createRecordingTransport((request) => recorded.push(request));
  const request = { url: ENDPOINT, headers: ['A', 'b'], body: Buffer.from('{}'), timeoutMs: 5_000 };
  expect(await transport.send(request)).toMatchObject({ kind: 'response', status: 200 });
  expect(recorded).toEqual([{ url: ENDPOINT, headers: ['A', 'b'], body: Buffer.from('{}') }]);
  await transport.close();
});
