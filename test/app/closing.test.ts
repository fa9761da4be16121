import { describe, expect, it, onTestFinished } from 'vitest';
import { createDeliveryPipeline } from '../../src/app/pipeline/delivery-pipeline.ts';
import type { Pipeline } from '../../src/app/pipeline/pipeline.ts';
import { createTrackingApiPipeline } from '../../src/app/pipeline/tracking-api-pipeline.ts';
import { neverAnswers, receiver, type HostileReceiver } from '../hostile-receivers.ts';
import { until } from '../until.ts';
import { deliver } from './set-up.ts';

const SLOW_MS = 50;

function answersSlowly(): Promise<HostileReceiver> {
  return receiver((socket) => {
    const timer = setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), SLOW_MS);
    socket.once('close', () => clearTimeout(timer));
  });
}

const pipelines = {
  'a delivery pipeline': (url: string) => createDeliveryPipeline({ webhooks: [url] }),
  'a pipeline to a tracking API': (endpoint: string) =>
    createTrackingApiPipeline({ endpoint, writeKey: 'key', timeoutMs: 30_000 }),
};

type Ending = (pipeline: Pipeline) => Promise<void>;
const close: Ending = (pipeline) => pipeline.close();
const interrupt: Ending = (pipeline) => pipeline.interrupt(0);
/** A grace time longer than a test may take: an end within the test was cut short. */
const interruptLater: Ending = (pipeline) => pipeline.interrupt(600_000);

describe.each(Object.entries(pipelines))('%s', (_name, create) => {
  async function begin(starting: Promise<HostileReceiver>) {
    const server = await starting;
    onTestFinished(() => server.close());
    const pipeline = create(server.url);
    const outcome = deliver(pipeline, 'm1');
    await until(() => server.requests.length === 1, 'the request');
    return { server, pipeline, outcome };
  }

  it('that is closed twice at once resolves both calls', async () => {
    const { server, pipeline, outcome } = await begin(answersSlowly());
    await Promise.all([pipeline.close(), pipeline.close()]);
    expect(await outcome).toMatchObject({ outcome: 'delivered' });
    await until(() => server.openConnections === 0, 'the connections to be closed');
    await pipeline.close();
  });

  it.each([
    ['closed and then interrupted', close, interrupt],
    ['interrupted and then closed', interrupt, close],
    ['interrupted twice', interrupt, interrupt],
    ['interrupted twice, the second time with a shorter grace', interruptLater, interrupt],
    ['interrupted twice, the first time with a shorter grace', interrupt, interruptLater],
  ])('that is %s resolves both calls at once', async (_how, first, second) => {
    const { server, pipeline, outcome } = await begin(neverAnswers());
    await Promise.all([first(pipeline), second(pipeline)]);
    expect(await outcome).toMatchObject({ outcome: 'unsent' });
    await until(() => server.openConnections === 0, 'the connections to be closed');
  });

  it('that is interrupted while close() waits resolves both calls', async () => {
    const { pipeline, outcome } = await begin(neverAnswers());
    const closed = pipeline.close();
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    await Promise.all([pipeline.interrupt(SLOW_MS), closed]);
    expect(await outcome).toMatchObject({ outcome: 'unsent' });
  });
});

it('a delivery pipeline whose receiver never responds closes when its retry window is over', async () => {
  const server = await neverAnswers();
  onTestFinished(() => server.close());
  const settled: string[] = [];
  const pipeline = createDeliveryPipeline({
    webhooks: [server.url],
    delivery: { timeoutMs: 50, retryForMs: 200 },
    client: { flushAt: 1 },
    onEvent: ({ kind }) => void settled.push(kind),
  });
  const receipts = Array.from({ length: 100 }, () => pipeline.client.track({ userId: 'u', event: 'E' }));
  const outcome = deliver(pipeline, 'm1');
  await pipeline.close();
  expect((await Promise.all(receipts)).every(({ accepted }) => accepted)).toBe(true);
  expect(await outcome).toMatchObject({ outcome: 'failed' });
  expect(settled.filter((kind) => kind === 'settled')).toHaveLength(101);
  await until(() => server.openConnections === 0, 'the connections to be closed');
});

it('a pipeline to a tracking API that never responds closes when its retry window is over', async () => {
  const server = await neverAnswers();
  onTestFinished(() => server.close());
  const warnings: Error[] = [];
  const warned = (warning: Error): unknown => warnings.push(warning);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const pipeline = createTrackingApiPipeline({
    endpoint: server.url,
    writeKey: 'key',
    timeoutMs: 50,
    retryForMs: 200,
    // All batches wait for their retries and listen to the same signals.
    maxInFlight: 30,
    client: { flushAt: 1 },
  });
  const receipts = Array.from({ length: 1_000 }, () => pipeline.client.track({ userId: 'u', event: 'E' }));
  await pipeline.close();
  expect((await Promise.all(receipts)).some(({ accepted }) => accepted)).toBe(false);
  await until(() => server.openConnections === 0, 'the connections to be closed');
  expect(warnings).toEqual([]);
});
