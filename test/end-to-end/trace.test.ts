import { describe, expect, it } from 'vitest';
import { createDeliveryPipeline } from '../../src/index.ts';
import { hooks, startHooks } from '../cli/run-in-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { nextJson, nextUrl } from './running-command.ts';
import { basic } from '../service/serving.ts';
import { AT, headerOf, jsonLines, receiving, track, type Receiving } from './receiving.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CAME = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, tracestate: 'rojo=1, congo=2' };
const TRACEPARENT = /^00-(?<traceId>[\da-f]{32})-(?<spanId>[\da-f]{16})-01$/;

interface Ids {
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
}

/** Returns the ids of the received requests, in the order of arrival. */
function arrived({ requests }: Receiving): readonly Ids[] {
  return requests.map((request) => ({ ...TRACEPARENT.exec(headerOf(request, 'traceparent') ?? '')?.groups }));
}

function attemptIds(line: Record<string, unknown> | undefined): readonly Ids[] {
  const attempts = (line?.['attempts'] ?? []) as Ids[];
  return attempts.map(({ traceId, spanId }) => ({ traceId, spanId }));
}

function configFor({ url }: Receiving, delivery: object = { traceparent: true }): string {
  const webhooks = [{ url, headers: {} as Record<string, string> }];
  return temporaryFolder({
    '.hooksrc.json': JSON.stringify({ writeKey: 'wk', webhooks, delivery, store: 'sqlite:./queue.db' }),
  });
}

const delivery = { traceparent: true };
const message = { type: 'track', userId: 'u1', event: 'Signup', timestamp: AT } as const;

describe('delivery.traceparent', () => {
  it('makes send start a trace with a span for each attempt, and print both ids', async () => {
    const to = await receiving({ respond: '503,200' });
    const { stdout, code } = await hooks(['send', '--json', track(1), '-o', 'json'], { cwd: configFor(to) });
    expect(code).toBe(0);
    const ids = arrived(to);
    expect(ids).toHaveLength(2);
    expect(ids[0]?.traceId).toMatch(/^[\da-f]{32}$/);
    expect(ids[1]?.traceId).toBe(ids[0]?.traceId);
    expect(ids[1]?.spanId).not.toBe(ids[0]?.spanId);
    expect(to.requests.map((request) => headerOf(request, 'tracestate'))).toEqual([undefined, undefined]);
    expect(attemptIds(jsonLines(stdout)[0])).toEqual(ids);
  });

  it('is off by default, and adds the header to --dry-run', async () => {
    const to = await receiving();
    const off = await hooks(['send', '--json', track(1), '-o', 'json'], { cwd: configFor(to, {}) });
    expect(off.stdout).not.toContain('traceId');
    expect(arrived(to)).toEqual([{}]);
    const on = await hooks(['send', '--json', track(1), '--dry-run'], { cwd: configFor(to) });
    expect(on.stdout).toMatch(/^traceparent: 00-[\da-f]{32}-[\da-f]{16}-01$/m);
  });

  it('does not replace a configured traceparent', async () => {
    const to = await receiving();
    const header = ['--header', `traceparent: ${CAME.traceparent}`];
    const args = ['send', '--json', track(1), '--url', to.url, ...header, '-o', 'json'];
    const { stdout } = await hooks(args, { cwd: configFor(to) });
    expect(headerOf(to.requests[0] ?? never(), 'traceparent')).toBe(CAME.traceparent);
    expect(attemptIds(jsonLines(stdout)[0])).toEqual([{}]);
  });

  it('continues the trace and tracestate of a call to serve in the process of a worker', async () => {
    const to = await receiving({ respond: '503,200' });
    const cwd = configFor(to);
    const args = ['--port', '0', '--allow-private', '-o', 'json', '-v'];
    const ingest = startHooks(['serve', ...args, '--no-deliver'], { cwd });
    const url = await nextUrl(ingest);
    expect(await statusOf(url, CAME)).toBe(200);
    await ingest.stop('SIGTERM');
    const worker = startHooks(['worker', '--allow-private', '-o', 'json', '-v'], { cwd });
    await until(() => to.requests.length === 2, 'both attempts');
    await worker.lines.next();
    const settled = await nextJson(worker);
    await worker.stop('SIGTERM');
    const ids = arrived(to);
    expect(ids.map(({ traceId }) => traceId)).toEqual([TRACE, TRACE]);
    expect(new Set([...ids.map(({ spanId }) => spanId), '00f067aa0ba902b7']).size).toBe(3);
    expect(to.requests.map((request) => headerOf(request, 'tracestate'))).toEqual(
      ids.map(() => 'rojo=1,congo=2'),
    );
    expect(attemptIds(settled)).toEqual(ids);
  });

  it('ignores a malformed traceparent of a call, and shows the new ids in the log and in queue show', async () => {
    const to = await receiving({ respond: '400' });
    const cwd = configFor(to);
    const running = startHooks(['serve', '--port', '0', '--allow-private', '-o', 'json', '-v'], { cwd });
    const url = await nextUrl(running);
    expect(await statusOf(url, { ...CAME, traceparent: CAME.traceparent.toUpperCase() })).toBe(200);
    await until(() => to.requests.length === 1, 'the attempt');
    const { stderr } = await running.stop('SIGTERM');
    const [ids] = arrived(to);
    expect(ids?.traceId).toMatch(/^[\da-f]{32}$/);
    expect(ids?.traceId).not.toBe(TRACE);
    expect(to.requests.map((request) => headerOf(request, 'tracestate'))).toEqual([undefined]);
    expect(stderr).toContain(`"traceId":"${ids?.traceId}","spanId":"${ids?.spanId}"`);
    const listed = await hooks(['queue', 'list', '-o', 'json'], { cwd });
    const [{ id } = { id: '' }] = jsonLines(listed.stdout);
    const shown = await hooks(['queue', 'show', String(id)], { cwd });
    expect(shown.stdout).toContain(`  trace    ${ids?.traceId} span ${ids?.spanId}\n`);
    const asJson = await hooks(['queue', 'show', String(id), '-o', 'json'], { cwd });
    expect(attemptIds(jsonLines(asJson.stdout)[0])).toEqual([ids]);
  });

  it('works in the library with the queue in memory', async () => {
    const to = await receiving();
    const pipeline = createDeliveryPipeline({ webhooks: [to.url], delivery });
    const outcome = await pipeline.deliver({ message });
    await pipeline.close();
    const attempts = outcome.destinations.flatMap(({ attempts: made }) => made);
    expect(attempts.map(({ traceId, spanId }) => ({ traceId, spanId }))).toEqual(arrived(to));
    expect(attempts[0]?.traceId).toMatch(/^[\da-f]{32}$/);
  });
});

describe('the parent of a message', () => {
  it('is read by send from its environment', async () => {
    const to = await receiving();
    const cwd = configFor(to);
    const send = (env: Record<string, string>) => hooks(['send', '--json', track(1)], { cwd, env });
    await send({ TRACEPARENT: CAME.traceparent, TRACESTATE: CAME.tracestate });
    await send({ TRACEPARENT: `${CAME.traceparent}-more`, TRACESTATE: CAME.tracestate });
    const [given, malformed] = arrived(to);
    expect(given?.traceId).toBe(TRACE);
    expect(given?.spanId).not.toBe('00f067aa0ba902b7');
    expect(malformed?.traceId).toMatch(/^(?!4bf92f)[\da-f]{32}$/);
    const states = to.requests.map((request) => headerOf(request, 'tracestate'));
    expect(states).toEqual(['rojo=1,congo=2', undefined]);
  });

  it('is kept in the queue by send --queue', async () => {
    const to = await receiving();
    const cwd = configFor(to);
    const env = { TRACEPARENT: CAME.traceparent };
    expect(await hooks(['send', '--json', track(1), '--queue'], { cwd, env })).toMatchObject({ code: 0 });
    const worker = startHooks(['worker', '--allow-private', '-o', 'json'], { cwd });
    await until(() => to.requests.length === 1, 'the attempt');
    await worker.stop('SIGTERM');
    expect(arrived(to)).toMatchObject([{ traceId: TRACE }]);
  });

  it('is given with each message in the library, and does not change the body', async () => {
    const to = await receiving();
    const pipeline = createDeliveryPipeline({ webhooks: [to.url], delivery, client: { flushAt: 1 } });
    const { type: _type, ...event } = message;
    await Promise.all([
      pipeline.deliver({ message, ...CAME }),
      pipeline.client.track(event, { traceparent: CAME.traceparent.replace(TRACE, 'a'.repeat(32)) }),
      pipeline.client.track(event),
    ]);
    await pipeline.close();
    const ids = arrived(to).map(({ traceId }) => traceId);
    expect(new Set(ids).size).toBe(3);
    expect(ids).toEqual(expect.arrayContaining([TRACE, 'a'.repeat(32)]));
    expect(to.bodies().join()).not.toContain('trace');
  });

  it('makes the library throw if it is malformed, and nothing is queued', async () => {
    const to = await receiving();
    const pipeline = createDeliveryPipeline({ webhooks: [to.url], delivery });
    for (const traceparent of ['', 'none', `${CAME.traceparent}\r\nX: 1`]) {
      expect(() => pipeline.deliver({ message, traceparent })).toThrow(
        'Expected `traceparent` to be a header of W3C Trace Context, got',
      );
    }
    await pipeline.close();
    expect(to.requests).toEqual([]);
  });
});

async function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  const call = { method: 'POST', headers: { ...basic('wk'), ...headers }, body: track(1) };
  return (await fetch(`${url}/v1/track`, call)).status;
}

function never(): never {
  throw new Error('Expected a request');
}
