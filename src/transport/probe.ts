import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { networkFailure } from './network-error.ts';
import { whyNotPublic } from './route/public-address.ts';
import { routeTo } from './route/route.ts';
import type { ConnectionOptions, NetworkError } from './transport.ts';
import { trustContext } from './route/trust.ts';

/** How far a connection to a URL comes: name lookup, connect and TLS, and not a byte of HTTP. */
export type Probe = Reached | Unreached;

export interface Reached {
  readonly isReached: true;
  readonly ms: number;
  /** The address connected to; of a proxy when there is one. */
  readonly address: string;
  /** Why `serve` and `worker` reject that address by default: `loopback`. Undefined for a public one. */
  readonly notPublic: string | undefined;
  /** The proxy on the way, without userinfo. What is behind one that forwards was not looked at. */
  readonly via: string | undefined;
  /** Until when the certificate is valid. Ms since the epoch. */
  readonly validUntil: number | undefined;
}

export interface Unreached {
  readonly isReached: false;
  readonly error: NetworkError;
  /** What happened, in words. */
  readonly detail: string;
  /** What is known more exactly: a code of diagnosis/causes/network-causes.ts. */
  readonly cause?: string;
  readonly via: string | undefined;
}

export interface ProbeOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly connection: ConnectionOptions;
  readonly proxyEnv?: Readonly<NodeJS.ProcessEnv> | undefined;
}

/** Opens a connection as an attempt would, by the same route and trust, and closes it. Throws ConfigError for what no attempt could use. */
export async function probe(
  url: string,
  { timeoutMs, signal, connection, proxyEnv }: ProbeOptions,
): Promise<Probe> {
  // At once: a file that cannot be used is an error also where there is no TLS.
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
  const validTo = socket instanceof TLSSocket ? Date.parse(socket.getPeerCertificate().valid_to) : undefined;
  return {
    address,
    notPublic: address === '' ? undefined : whyNotPublic(address),
    validUntil: validTo,
  };
}
