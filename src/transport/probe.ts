import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { networkFailure } from './network-error.ts';
import { whyNotPublic } from './route/public-address.ts';
import { routeTo } from './route/route.ts';
import type { ConnectionOptions, NetworkFailure } from './transport.ts';
import { trustContext } from './route/trust.ts';

/** The result of a connection to a URL (name lookup, connect and TLS), without any HTTP. */
export type Probe = Reached | Unreached;

export interface Reached {
  readonly isReached: true;
  readonly ms: number;
  /** The address connected to. With a proxy, the proxy's address. */
  readonly address: string;
  /** Why `serve` and `worker` reject the address by default, such as `loopback`. Undefined for a public address. */
  readonly notPublic: string | undefined;
  /** The proxy, without userinfo. The receiver behind a proxy that forwards is not reached. */
  readonly via: string | undefined;
  /** When the certificate expires. Milliseconds since the epoch. */
  readonly validUntil: number | undefined;
}

export interface Unreached extends NetworkFailure {
  readonly isReached: false;
  readonly via: string | undefined;
}

export interface ProbeOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly connection: ConnectionOptions;
  readonly proxyEnv?: Readonly<NodeJS.ProcessEnv> | undefined;
}

/**
 * Opens a connection with the same route and trust as an attempt, and closes it. Throws ConfigError for options that no
 * attempt could use.
 */
export async function probe(
  url: string,
  { timeoutMs, signal, connection, proxyEnv }: ProbeOptions,
): Promise<Probe> {
  // Rejects an invalid `caFile` at once, even for `http:`.
  const trust = trustContext(connection);
  const { dial, via } = routeTo(new URL(url), { secureContext: () => trust, proxyEnv });
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const end = (result: Probe): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve(result);
      socket.destroy();
    };
    const late = `no connection within ${timeoutMs}ms`;
    const timer = setTimeout(() => end({ isReached: false, error: 'timeout', detail: late, via }), timeoutMs);
    const abort = (): void => end({ isReached: false, error: 'aborted', detail: 'interrupted', via });
    signal.addEventListener('abort', abort);
    const socket: Socket = dial((error, open) => {
      if (error) return end({ isReached: false, ...networkFailure(error), via });
      const facts = factsOf(open);
      open.destroy();
      end({ isReached: true, ms: performance.now() - startedAt, via, ...facts });
    });
  });
}

function factsOf(socket: Socket): Pick<Reached, 'address' | 'notPublic' | 'validUntil'> {
  const address = socket.remoteAddress ?? '';
  const validUntil =
    socket instanceof TLSSocket ? Date.parse(socket.getPeerCertificate().valid_to) : undefined;
  return { address, notPublic: address === '' ? undefined : whyNotPublic(address), validUntil };
}
