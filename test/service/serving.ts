import { afterEach } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { DELIVERY_DEFAULTS, type DestinationOptions, type Sources } from '../../src/engine/options.ts';
import type { OpenQueue } from '../../src/stores/opened-queue.ts';
import { runService, type RunServiceOptions } from '../../src/app/service/run-service.ts';
import type { Delivery } from '../../src/queue/delivery.ts';
import type { Queue } from '../../src/queue/queue.ts';
import type { ReceivedRequest } from '../../src/receiver/received-request.ts';
import { startReceiver } from '../../src/app/explained.ts';
import { parseScript } from '../../src/receiver/response/script.ts';
import { openMemoryQueue } from './open-memory-queue.ts';

export { until } from '../until.ts';

export const WRITE_KEY = 'wk-of-the-web';
export const SECRET = 's3cret-of-the-test';

export interface Serving {
  readonly url: string;
  readonly port: number;
  /** The requests of the receiver, in order. */
  readonly received: readonly ReceivedRequest[];
  /** Every delivery that was added to the queue, including dead letters. */
  readonly added: readonly Delivery[];
  /** The log, parsed. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  close(): Promise<void>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ServingOptions extends Partial<Omit<RunServiceOptions, 'open'>> {
  /** The receiver's responses, in the syntax of `hooks listen --respond`. */
  readonly respond?: string;
  /** Replaces `add` of the queue. */
  readonly add?: (deliveries: readonly Delivery[], queue: Queue) => Promise<void>;
  readonly change?: (open: OpenQueue) => OpenQueue;
  /** Headers of the webhook. */
  readonly headers?: Readonly<Record<string, string>>;
}

const open: (() => Promise<void>)[] = [];

/** Closes everything that a test started at its end. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const close of open.splice(0).toReversed()) await close();
  });
}

/** Starts the service with a real receiver, both on free ports. */
export async function serving(options: ServingOptions = {}): Promise<Serving> {
  const received: ReceivedRequest[] = [];
  const receiver = await startReceiver({
    secrets: [SECRET],
    script: options.respond === undefined ? [] : parseScript(options.respond),
    onRequest: (request) => received.push(request),
  });
  open.push(() => receiver.close());
  const added: Delivery[] = [];
  const log: Record<string, unknown>[] = [];
  const queue = watched(openMemoryQueue(systemClock), added, options);
  const service = await runService({
    sources: sourcesTo(receiver.url, options.headers),
    host: '127.0.0.1',
    port: 0,
    deliver: true,
    allowPrivate: true,
    allowProxy: false,
    logLevel: 'debug',
    write: (line) => log.push(JSON.parse(line) as Record<string, unknown>),
    clock: systemClock,
    readPlan: () => Promise.reject(new Error('no plan')),
    ...options,
    open: options.change?.(queue) ?? queue,
  });
  open.push(() => service.close());
  const { url } = service;
  return {
    url,
    port: Number(new URL(url).port),
    received,
    added,
    log,
    post: (path, body, headers) => post(`${url}${path}`, body, headers),
    close: () => service.close(),
  };
}

/** Three sources: `web` has one destination, `app` a disabled one, `other` one with another name. */
export function sourcesTo(url: string, headers: Readonly<Record<string, string>> = {}): Sources {
  const destination: DestinationOptions = {
    enabled: true,
    sharedSecrets: [SECRET],
    webhooks: [{ url, headers }],
    delivery: DELIVERY_DEFAULTS,
  };
  return {
    web: { writeKey: WRITE_KEY, destinations: { Webhooks: destination } },
    app: { writeKey: 'wk-of-the-app', destinations: { Webhooks: { ...destination, enabled: false } } },
    other: { writeKey: 'wk-of-the-other', destinations: { Elsewhere: destination } },
  };
}

function watched(opened: OpenQueue, added: Delivery[], { add }: ServingOptions): OpenQueue {
  const { queue } = opened;
  const inner = queue.add.bind(queue);
  queue.add = async (deliveries) => {
    await (add === undefined ? inner(deliveries) : add(deliveries, { ...queue, add: inner }));
    added.push(...deliveries);
  };
  return opened;
}

async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = basic(WRITE_KEY),
): Promise<Reply> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url, {
    method: 'POST',
    body: raw ? Buffer.from(body as string) : JSON.stringify(body), // Buffer.from accepts strings and bytes
    headers: { 'content-type': 'application/json', ...headers },
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}

export function basic(writeKey: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` };
}

export function track(userId: string, fields: object = {}): object {
  return { type: 'track', userId, event: 'Signup', ...fields };
}

export function bodyOf({ body }: Pick<ReceivedRequest, 'body'>): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>;
}

/** One field of all bodies, sorted, because deliveries run concurrently. */
export function sorted(received: readonly ReceivedRequest[], field: string): readonly string[] {
  return received.map((request) => String(bodyOf(request)[field])).toSorted();
}

/** Delays every `add` to the queue until it is opened. */
export class Gate {
  isReached = false;
  open: () => void = () => undefined;
  readonly #opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });

  readonly add: NonNullable<ServingOptions['add']> = async (deliveries, queue) => {
    this.isReached = true;
    await this.#opened;
    await queue.add(deliveries);
  };
}
