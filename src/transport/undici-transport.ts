import type { LookupFunction } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { Client } from 'undici';
import { ClosedError, ConfigError, TransportError } from '../errors.ts';
import { printable, redactUrl } from '../redact.ts';
import { requestTarget } from '../url.ts';
import { AbortWatch } from './connection/abort-watch.ts';
import type { AddressRule } from './route/address-guard.ts';
import { CLOSED, PendingRequest } from './connection/pending-request.ts';
import { ConnectionPool } from './connection/connection-pool.ts';
import { proxyVariable } from './route/proxy.ts';
import { routeTo } from './route/route.ts';
import type { ConnectionOptions, Transport, TransportRequest, TransportResult } from './transport.ts';
import { trustContext } from './route/trust.ts';

/** Options of a transport. `caFile` is read at once, and applies to requests without connection options of their own. */
export interface UndiciTransportOptions extends ConnectionOptions {
  /** The environment, for HTTPS_PROXY, HTTP_PROXY and NO_PROXY (in upper or lower case). @default no proxy */
  readonly proxyEnv?: NodeJS.ProcessEnv;
  /** Milliseconds to keep an idle connection, if the server does not say how long it keeps it. Above 0. @default 4000 */
  readonly maxIdleMs?: number;
  /**
   * Looks up the addresses of a host name, like `dns.lookup`. An error with the code BLOCKED_ADDRESS ends the attempt as
   * `blocked-address`. Not called for a host that is an address, nor if a proxy connects to the host. @default dns.lookup
   */
  readonly lookup?: LookupFunction;
  /**
   * The addresses to which connections are allowed. `public` excludes private, loopback, link-local, metadata and similar
   * ones (public-address.ts). Each connection checks the addresses of its own lookup; if none is allowed, the attempt ends
   * as `blocked-address`. @default 'any'
   */
  readonly addresses?: 'any' | 'public' | AddressRule;
  /**
   * Whether to allow a proxy although `addresses` is not `any`: the addresses that a proxy connects to cannot be checked.
   * Addresses of direct connections are still checked. @default false
   */
  readonly allowProxy?: boolean;
}

/**
 * Creates a transport. Throws ConfigError for an invalid `caFile`, or for a proxy variable while `addresses` forbids
 * proxies.
 */
export function createUndiciTransport(options: UndiciTransportOptions = {}): Transport {
  return new UndiciTransport(options);
}

const DEFAULT_MAX_IDLE_MS = 4_000;
/** Maximum number of parsed URLs to keep. A destination has at most five. */
const MAX_TARGETS = 1_000;

/** The path of a URL for the request line, and the connections to its origin. */
interface OriginTarget {
  readonly path: string;
  readonly pool: ConnectionPool;
}

/** Returns a key for the options: requests with equal keys may share connections. Empty for the defaults. */
export function connectionKeyOf({ caFile }: ConnectionOptions): string {
  return caFile === undefined ? '' : ` caFile=${caFile}`;
}

class UndiciTransport implements Transport {
  readonly #options: UndiciTransportOptions;
  readonly #trust = new Map<string, SecureContext>();
  readonly #targets = new Map<string, OriginTarget>();
  readonly #pools = new Map<string, ConnectionPool>();
  readonly #watch = new AbortWatch();
  readonly #proxyEnv: NodeJS.ProcessEnv | undefined;
  #addressRule: AddressRule | undefined;
  #UndiciClient: typeof Client | undefined;
  #isClosed = false;

  constructor(options: UndiciTransportOptions) {
    this.#options = options;
    this.#proxyEnv = usableProxyEnv(options);
    if (connectionKeyOf(options) !== '') this.#trusted(options);
  }

  send(request: TransportRequest): Promise<TransportResult> {
    if (this.#isClosed) return Promise.reject(new ClosedError('The transport was closed'));
    return this.#UndiciClient ? this.#attempt(request, this.#UndiciClient) : this.#firstAttempt(request);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  /** Loads the HTTP client before the first attempt, so that the loading time does not count as time of the attempt. */
  async #firstAttempt(request: TransportRequest): Promise<TransportResult> {
    this.#addressRule ??= await loadRule(this.#options.addresses);
    this.#UndiciClient ??= await loadClient();
    return this.#attempt(request, this.#UndiciClient);
  }

  /** Makes an attempt. Does everything inside the returned promise, so that an error that is thrown becomes a rejection. */
  #attempt(request: TransportRequest, UndiciClient: typeof Client): Promise<TransportResult> {
    return new Promise((resolve, reject) => {
      const { path, pool } = this.#targetOf(request, UndiciClient);
      const { via } = pool.route;
      const pending = new PendingRequest({ request, path, via, watch: this.#watch, resolve, reject });
      if (this.#isClosed) pending.fail(CLOSED);
      else if (request.signal?.aborted) pending.abort();
      else pool.send(pending);
    });
  }

  #targetOf(request: TransportRequest, UndiciClient: typeof Client): OriginTarget {
    const { allowPrivate, connection = this.#options } = request;
    // Part of the keys of `#targets` and `#pools`. Requests that differ in it share no connection.
    const way = `${allowPrivate ? ' private' : ''}${connectionKeyOf(connection)}`;
    const key = request.url + way;
    const known = this.#targets.get(key);
    if (known) return known;
    const url = parseUrl(request.url);
    const pool = this.#poolFor(url, way, request, UndiciClient);
    const path = `${pool.route.kind === 'forwarded' ? url.origin : ''}${requestTarget(request.url)}`;
    if (this.#targets.size >= MAX_TARGETS) this.#targets.clear();
    this.#targets.set(key, { path, pool });
    return { path, pool };
  }

  #poolFor(
    url: URL,
    way: string,
    { allowPrivate, connection = this.#options }: TransportRequest,
    UndiciClient: typeof Client,
  ): ConnectionPool {
    const key = url.origin + way;
    const known = this.#pools.get(key);
    if (known) return known;
    const { lookup, maxIdleMs = DEFAULT_MAX_IDLE_MS } = this.#options;
    // Reads `caFile` now, even for `http:`, so that an invalid one is always rejected.
    if (connectionKeyOf(connection) !== '') this.#trusted(connection);
    const route = routeTo(url, {
      secureContext: () => this.#trusted(connection),
      lookup,
      addressRule: allowPrivate ? undefined : this.#addressRule,
      proxyEnv: this.#proxyEnv,
    });
    const pool = new ConnectionPool({ UndiciClient, route, maxIdleMs });
    this.#pools.set(key, pool);
    return pool;
  }

  #trusted(connection: ConnectionOptions): SecureContext {
    const key = connectionKeyOf(connection);
    const known = this.#trust.get(key);
    if (known) return known;
    const context = trustContext(connection);
    this.#trust.set(key, context);
    return context;
  }
}

/**
 * Returns the environment, if its proxies may be used. Undefined if it names no proxy now, because a proxy that is set later
 * would be used unchecked.
 */
function usableProxyEnv(options: UndiciTransportOptions): NodeJS.ProcessEnv | undefined {
  const { proxyEnv, addresses = 'any', allowProxy = false } = options;
  if (proxyEnv === undefined || addresses === 'any' || allowProxy) return proxyEnv;
  const key = proxyVariable(proxyEnv);
  if (key === undefined) return undefined;
  throw new ConfigError(
    `${key} names a proxy, but the addresses that a proxy connects to cannot be checked`,
    {
      key,
      origin: key,
      hint: 'unset it to connect without the proxy, or pass --allow-proxy to use it without the check',
    },
  );
}

/** Loads the rule for public addresses only if needed: most commands may connect to any address. */
async function loadRule(
  addresses: UndiciTransportOptions['addresses'] = 'any',
): Promise<AddressRule | undefined> {
  if (typeof addresses === 'function') return addresses;
  return addresses === 'public' ? (await import('./route/public-address.ts')).whyNotPublic : undefined;
}

/**
 * Loads only undici's HTTP/1 client, which takes 54 ms instead of 128 for the whole package. The path can be imported
 * because undici has no exports map; test/built-package.built.test.ts verifies this.
 */
async function loadClient(): Promise<typeof Client> {
  // Without `--liftoff-only`, Node 20 waits at exit until undici's WebAssembly parser is optimized: a process that sends one
  // message exits 40 ms later. Later versions do not wait, and the flag costs them 20 ms. Requests are as fast with it.
  if (process.versions.node.startsWith('20.')) {
    process.getBuiltinModule('node:v8').setFlagsFromString('--liftoff-only');
  }
  return (await import('./http-client.ts')).HttpClient;
}

function parseUrl(text: string): URL {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') return parsed;
  const url = redactUrl(text);
  const kind = parsed === undefined ? 'url' : 'scheme';
  throw new TransportError(`Expected an http: or https: URL, got ${printable(url)}`, { kind, url });
}
