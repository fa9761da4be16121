import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { networkFailure, onRoute } from './network-error.ts';
import { whyNotPublic } from './route/public-address.ts';
import { routeTo } from './route/route.ts';
import type { ConnectionOptions, NetworkFailure } from './transport.ts';
import { trustContext } from './route/trust.ts';

/** The result of opening a connection to a URL (name lookup, connect and TLS), without an HTTP request. */
export type Probe = Reached | Unreached;

export interface Reached {
  readonly isReached: true;
  readonly ms: number;
  /** The IP address of the connection: that of the proxy, if there is one. */
  readonly address: string;
  /** Why `serve` and `worker` reject the address by default, such as `loopback`. Undefined for a public address. */
  readonly notPublic: string | undefined;
  /** The URL of the proxy, without userinfo. If the proxy forwards, only the proxy was reached, and not the receiver. */
  readonly via: string | undefined;
  /** When the server's certificate expires, in milliseconds since the epoch. Undefined without TLS. */
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
 * Opens a connection as an attempt would, by the same route and with the same trusted issuers, and closes it. Throws
 * ConfigError for options with which no attempt could start.
 */
export async function probe(
  url: string,
  { timeoutMs, signal, connection, proxyEnv }: ProbeOptions,
): Promise<Probe> {
  // Reads `caFile` even for `http:`, so that an invalid one is always rejected.
  const trust = trustContext(connection);
  const { dial, via, kind } = routeTo(new URL(url), { secureContext: () => trust, proxyEnv });
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const end = (result: Probe): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve(result);
      socket.destroy();
    };
    const fail = (failure: NetworkFailure): void =>
      end({ isReached: false, ...onRoute(failure, via, connection), via });
    const timer = setTimeout(() => {
      const late = kind === 'tunnel' ? 'proxy-silent' : 'tls-unfinished';
      const cause = socket.connecting ? 'no-connection-in-time' : late;
      fail({ error: 'timeout', detail: `no connection within ${timeoutMs}ms`, cause });
    }, timeoutMs);
    const abort = (): void => fail({ error: 'aborted', detail: 'interrupted' });
    signal.addEventListener('abort', abort);
    const socket: Socket = dial((error, open) => {
      if (error) return fail(networkFailure(error));
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
