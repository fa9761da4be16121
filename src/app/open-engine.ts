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

/** Which addresses may be connected to, and how. */
export interface Reach {
  /** Whether webhooks may be at loopback, private, link-local and metadata addresses. */
  readonly allowPrivate: boolean;
  /** Whether to go through a proxy though what it connects to cannot be checked. */
  readonly allowProxy: boolean;
  /** The variables that name proxies (`HTTPS_PROXY` …). @default none is used */
  readonly proxyEnv?: Readonly<NodeJS.ProcessEnv> | undefined;
}

export interface EngineParts extends Reach {
  readonly sources: Sources;
  /** Closed with the engine, and when there comes to be none. */
  readonly open: OpenQueue;
  readonly onEvent: (event: EngineEvent) => void;
  /** The end of a delivery could not be recorded in its deletion request. */
  readonly onUnrecorded: (delivery: Delivery, error: unknown) => void;
  readonly unknownLanes?: EngineOptions['unknownLanes'];
  /** @default undici */
  readonly transport?: Transport | undefined;
}

export interface OpenEngine {
  readonly engine: Engine;
  /** The requests whose messages go through this engine. */
  readonly deletions: Deletions;
  /** Finishes the attempts in flight, leaves the rest in the queue, and releases queue, file and every socket. */
  readonly close: () => Promise<void>;
}

/** How often to look for what other processes have added. */
const POLL_MS = 250;

/** An engine over an open queue, for commands that run it: `serve`, `worker`, `delete`. Not started. Rejects with ConfigError. */
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
    loadCauses: () => import('../diagnosis/explain.ts'),
    onEvent: (event) => {
      // No other message belongs to a deletion request.
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

/** The variable whose proxy takes away the check of addresses. */
export function uncheckedProxy({ allowPrivate, allowProxy, proxyEnv }: Reach): string | undefined {
  return allowPrivate || !allowProxy || proxyEnv === undefined ? undefined : proxyVariable(proxyEnv);
}
