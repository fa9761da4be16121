import { onTestFinished } from 'vitest';
import { causeCodeOf, quotationOf } from '../../src/diagnosis/explain.ts';
import type { EngineEvent } from '../../src/engine/engine-event.ts';
import { Engine, type EngineOptions } from '../../src/engine/engine.ts';
import { DELIVERY_DEFAULTS, type DeliveryOptions, type Sources } from '../../src/engine/options.ts';
import type { OutgoingMessage } from '../../src/message/outgoing-message.ts';
import type { Delivery } from '../../src/queue/delivery.ts';
import { MemoryQueue } from '../../src/stores/memory/memory-queue.ts';
import type { Queue } from '../../src/queue/queue.ts';
import type {
  NetworkError,
  Transport,
  TransportRequest,
  TransportResult,
} from '../../src/transport/transport.ts';
import { FakeClock } from '../fake-clock.ts';

export const A = 'http://a.example/hook';
export const B = 'http://b.example/hook';
export const C = 'http://c.example/hook';

export interface Request extends TransportRequest {
  readonly at: number;
}

/** Decides the result of a request; `turn` counts the requests to the URL from 0. */
export type Receiver = (request: Request, turn: number) => TransportResult | Promise<TransportResult>;

export interface Harness {
  readonly clock: FakeClock;
  readonly queue: Queue;
  readonly engine: Engine;
  readonly requests: readonly Request[];
  readonly events: readonly EngineEvent[];
  /** Submits one message and returns the id of its delivery. */
  send(fields?: Partial<OutgoingMessage>): Promise<string>;
  /** The same, and lets this much time pass. */
  sendAndAdvance(ms: number): Promise<void>;
  /** The settled deliveries, in order. */
  settled(): readonly Delivery[];
  /** The only settled delivery. */
  onlySettled(): Delivery;
}

export interface HarnessOptions extends Partial<
  Pick<EngineOptions, 'random' | 'pollMs' | 'newId' | 'unknownLanes'>
> {
  readonly urls?: readonly string[];
  readonly secrets?: readonly string[];
  readonly delivery?: Partial<DeliveryOptions>;
  readonly sources?: Sources;
  readonly clock?: FakeClock;
  readonly queue?: Queue;
  readonly onEvent?: (event: EngineEvent) => void;
}

/** An engine that is not started, with a memory queue, a function as transport, and a clock moved by hand. Ends with the test. */
export function createHarness(receiver: Receiver, options: HarnessOptions = {}): Harness {
  const { urls = [A], secrets = [], delivery = {}, random = () => 0.5, onEvent, pollMs, newId } = options;
  const clock = options.clock ?? new FakeClock();
  const queue = options.queue ?? new MemoryQueue(clock);
  const { transport, requests } = fakeTransport(receiver, clock);
  const events: EngineEvent[] = [];
  const engine = new Engine({
    sources: options.sources ?? oneSource(urls, { secrets, delivery }),
    queue,
    transport,
    clock,
    random,
    userAgent: 'hooks-cli/0.0.0',
    ...(queue instanceof MemoryQueue && { makeDue: async (lane) => queue.makeDue(lane) }),
    loadCauses: () => Promise.resolve({ causeCodeOf, quotationOf }),
    unknownLanes: options.unknownLanes,
    ...(pollMs !== undefined && { pollMs }),
    ...(newId !== undefined && { newId }),
    onEvent: (event) => {
      events.push(event);
      onEvent?.(event);
    },
  });
  onTestFinished(() => engine.abort());
  const settled = (): readonly Delivery[] =>
    events.flatMap((event) => (event.kind === 'settled' ? [event.delivery] : []));
  let sent = 0;
  const send: Harness['send'] = async (fields) => {
    const message = { messageId: `m${sent++}`, type: 'track', body: BODY, orderKeys: [], ...fields };
    const [submitted] = await engine.submit('web', [message]);
    return submitted?.deliveries[0]?.id ?? '';
  };
  return {
    clock,
    queue,
    engine,
    requests,
    events,
    settled,
    onlySettled: () => {
      const [only, ...others] = settled();
      if (only === undefined || others.length > 0) {
        throw new Error(`${others.length + 1} or no deliveries settled`);
      }
      return only;
    },
    send,
    sendAndAdvance: async (ms) => {
      await send();
      await clock.advance(ms);
    },
  };
}

/** The same, started. */
export function startHarness(receiver: Receiver, options?: HarnessOptions): Harness {
  const harness = createHarness(receiver, options);
  harness.engine.start();
  return harness;
}

export const BODY = new TextEncoder().encode('{"version":1,"type":"track"}');

export const ENTRY: OutgoingMessage = { messageId: 'm1', type: 'track', body: BODY, orderKeys: [] };

export function entries(count: number): OutgoingMessage[] {
  return Array.from({ length: count }, () => ENTRY);
}

export function oneSource(
  urls: readonly string[],
  { secrets = [], delivery = {} }: { secrets?: readonly string[]; delivery?: Partial<DeliveryOptions> } = {},
): Sources {
  return {
    web: {
      destinations: {
        Webhooks: {
          enabled: true,
          sharedSecrets: secrets,
          webhooks: urls.map((url) => ({ url, headers: {} })),
          delivery: { ...DELIVERY_DEFAULTS, ...delivery },
        },
      },
    },
  };
}

function fakeTransport(
  receiver: Receiver,
  clock: FakeClock,
): { transport: Transport; requests: readonly Request[] } {
  const requests: Request[] = [];
  const turns = new Map<string, number>();
  const send = async (request: TransportRequest): Promise<TransportResult> => {
    const turn = turns.get(request.url) ?? 0;
    turns.set(request.url, turn + 1);
    const seen = { ...request, at: clock.now() };
    requests.push(seen);
    return receiver(seen, turn);
  };
  return { transport: { send, close: () => Promise.resolve() }, requests };
}

export function answer(status: number, fields: { retryAfter?: string; body?: string } = {}): TransportResult {
  return { kind: 'response', status, ms: 7, reconnected: false, ...fields };
}

export function failure(error: NetworkError): TransportResult {
  return { kind: 'failure', error, detail: `it was ${error}`, ms: 7, reconnected: false };
}

/** Returns the result after `ms` of fake time, or `aborted` when the signal of the request is aborted. */
export function after(
  clock: FakeClock,
  ms: number,
  request: TransportRequest,
  result: TransportResult,
): Promise<TransportResult> {
  return new Promise((resolve) => {
    const { signal } = request;
    const cut = (): void => {
      cancel();
      resolve(failure('aborted'));
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', cut);
      resolve(result);
    });
    signal?.addEventListener('abort', cut);
  });
}

/** A receiver that responds only when told. */
export function heldReceiver(): {
  receiver: Receiver;
  release: (result: TransportResult) => void;
  waiting: () => number;
} {
  const held: ((result: TransportResult) => void)[] = [];
  return {
    receiver: (request) =>
      new Promise((resolve) => {
        held.push(resolve);
        request.signal?.addEventListener('abort', () => resolve(failure('aborted')));
      }),
    release: (result) => held.shift()?.(result),
    waiting: () => held.length,
  };
}
