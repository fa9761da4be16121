import { createDeletions, type Deletions } from '../deletion/request.ts';
import type { EngineEvent } from '../engine/engine-event.ts';
import { Engine, type EngineOptions } from '../engine/engine.ts';
import type { Sources } from '../engine/options.ts';
import { enabledDestinations } from '../engine/router.ts';
import type { Delivery } from '../queue/delivery.ts';
import { proxyVariable } from '../transport/route/proxy.ts';
import type { Transport } from '../transport/transport.ts';
import { createUndiciTransport } from '../transport/undici-transport.ts';
import { validateRoutes } from './validate-routes.ts';
import type { OpenQueue } from '../stores/opened-queue.ts';
import { USER_AGENT } from './version.ts';

/** The addresses that deliveries may connect to. */
export interface Reach {
  /** Whether webhooks may be at loopback, private, link-local and metadata addresses. */
  readonly allowPrivate: boolean;
  /** Whether to use a proxy although the addresses that the proxy connects to cannot be checked. */
  readonly allowProxy: boolean;
  /** Environment variables that name proxies (`HTTPS_PROXY` …). @default no proxy */
  readonly proxyEnv?: Readonly<NodeJS.ProcessEnv> | undefined;
}

export interface EngineParts extends Reach {
  readonly sources: Sources;
  /** The open queue; closed with the engine, or if the engine cannot be created. */
  readonly open: OpenQueue;
  readonly onEvent: (event: EngineEvent) => void;
  /** Called if the result of a delivery could not be recorded in its deletion request. */
  readonly onUnrecorded: (delivery: Delivery, error: unknown) => void;
  readonly unknownLanes?: EngineOptions['unknownLanes'];
  /** Sends the HTTP requests. @default the transport over undici */
  readonly transport?: Transport | undefined;
}

export interface OpenEngine {
  readonly engine: Engine;
  /** The deletion requests whose messages go through this engine. */
  readonly deletions: Deletions;
  /** Finishes the attempts in flight, leaves other deliveries in the queue, and releases queue, file and sockets. */
  readonly close: () => Promise<void>;
}

/** Interval at which to look for deliveries that other processes added. */
const POLL_MS = 250;

/**
 * Creates an engine over an open queue for `serve`, `worker` and `delete`, without starting it. Rejects with ConfigError.
 */
export async function openEngine(parts: EngineParts): Promise<OpenEngine> {
  try {
    return assemble(parts);
  } catch (error) {
    await parts.open.close();
    throw error;
  }
}

function assemble(parts: EngineParts): OpenEngine {
  const { sources, open, onEvent, onUnrecorded, unknownLanes } = parts;
  const transport = parts.transport ?? guardedTransport(parts);
  const engine = new Engine({
    sources,
    queue: open.queue,
    unknownLanes,
    transport,
    clock: open.clock,
    userAgent: USER_AGENT,
    pollMs: POLL_MS,
    makeDue: open.makeDue,
    loadCauses: () => import('../diagnosis/explain.ts'),
    onEvent: (event) => {
      // Deletion requests record the results of `delete` messages only.
      if (event.kind === 'settled' && event.delivery.type === 'delete') record(event.delivery);
      onEvent(event);
    },
  });
  if (parts.transport === undefined) validateRoutes(sources, parts.proxyEnv);
  const deletions = createDeletions({
    sources: Object.keys(sources),
    destinations: (source) => {
      const options = sources[source];
      return options === undefined ? 0 : enabledDestinations(options, undefined).length;
    },
    submit: (source, messages, onRouted) =>
      engine.submit(source, messages, (routed) =>
        onRouted(routed.flatMap(({ deliveries }) => deliveries.map(({ id }) => id))),
      ),
    store: open.deletions,
    clock: open.clock,
  });
  const record = (delivery: Delivery): void => {
    deletions.settled(delivery).catch((error: unknown) => onUnrecorded(delivery, error));
  };
  return {
    engine,
    deletions,
    close: async () => {
      await engine.close();
      await open.close();
      await transport.close();
    },
  };
}

function guardedTransport({ allowPrivate, allowProxy, proxyEnv }: Reach): Transport {
  return createUndiciTransport({
    addresses: allowPrivate ? 'any' : 'public',
    allowProxy,
    ...(proxyEnv !== undefined && { proxyEnv }),
  });
}

/**
 * Name of the environment variable that sets a proxy, behind which the addresses of webhooks cannot be checked. Undefined if
 * no webhook uses a proxy or addresses need no check.
 */
export function uncheckedProxy({ allowPrivate, allowProxy, proxyEnv }: Reach): string | undefined {
  return allowPrivate || !allowProxy || proxyEnv === undefined ? undefined : proxyVariable(proxyEnv);
}
