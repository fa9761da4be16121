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
import {
  CONNECTION_KINDS,
  type ConnectionOptions,
  type Transport,
  type TransportRequest,
  type TransportResult,
} from './transport.ts';
import { trustContext } from './route/trust.ts';

/** The connection options are for requests that have none of their own; a file of issuers is read at once. */
export interface UndiciTransportOptions extends ConnectionOptions {
  /** Where HTTPS_PROXY, HTTP_PROXY and NO_PROXY (or lower case) are looked up; never used for loopback. @default no proxy */
  readonly proxyEnv?: NodeJS.ProcessEnv;
  /** How long a connection is kept idle for the next attempt, where the server gives no hint. Ms, above 0. @default 4000 */
  readonly maxIdleMs?: number;
  /**
   * Gives the addresses of a host name, in the manner of `dns.lookup`; an error whose code is BLOCKED_ADDRESS ends the attempt as
   * `blocked-address`. Not asked about a host that is an address already, nor about what a proxy connects to. @default dns.lookup
   */
  readonly lookup?: LookupFunction;
  /**
   * Which addresses may be connected to: `public` is the internet without what is private, loopback, link-local, metadata and the like
   * (public-address.ts); or a rule of one's own. Judged at each connect, on the very address; an attempt that may connect to none ends as
   * `blocked-address`. @default 'any'
   */
  readonly addresses?: 'any' | 'public' | AddressRule;
  /**
   * Whether requests may go through a proxy though `addresses` is not `any`, unguarded: what a proxy connects to cannot be judged here.
   * What goes direct is judged either way. @default false
   */
  readonly allowProxy?: boolean;
}

/** Throws ConfigError for a `caFile` that cannot be used, and for a proxy where `addresses` allows none. */
export function createUndiciTransport(options: UndiciTransportOptions = {}): Transport {
  return new UndiciTransport(options);
}

const DEFAULT_MAX_IDLE_MS = 4_000;
/** How many URLs are remembered as parsed. A destination has five. */
const MAX_TARGETS = 1_000;

/** Where a URL leads: what stands in the request line, and over which connections. */
interface OriginTarget {
  readonly path: string;
  readonly pool: ConnectionPool;
}

interface PoolOptions {
  readonly connection: ConnectionOptions;
  readonly allowPrivate: boolean;
  /** Requests that reach a receiver in different ways share no connection. */
  readonly way: string;
}

const CONNECTION_NAMES = Object.keys(CONNECTION_KINDS) as readonly (keyof ConnectionOptions)[]; // the keys of a closed table

/** Returns the same text for options that reach a receiver in the same way; empty for the defaults. */
export function connectionKeyOf(connection: ConnectionOptions): string {
  let key = '';
  for (const name of CONNECTION_NAMES) {
    if (connection[name] !== undefined) key += ` ${name}=${connection[name]}`;
  }
  return key;
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

  /** The time that loading our own code takes is not the receiver's. */
  async #firstAttempt(request: TransportRequest): Promise<TransportResult> {
    this.#addressRule ??= await loadRule(this.#options.addresses);
    this.#UndiciClient ??= await loadClient();
    return this.#attempt(request, this.#UndiciClient);
  }

  /** What throws in here rejects. */
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
    const { allowPrivate = false, connection = this.#options } = request;
    const way = `${allowPrivate ? ' private' : ''}${connectionKeyOf(connection)}`;
    const key = request.url + way;
    const known = this.#targets.get(key);
    if (known) return known;
    const url = parseUrl(request.url);
    const pool = this.#poolFor(url, { connection, allowPrivate, way }, UndiciClient);
    const path = `${pool.route.isForwarded ? url.origin : ''}${requestTarget(request.url)}`;
    if (this.#targets.size >= MAX_TARGETS) this.#targets.clear();
    this.#targets.set(key, { path, pool });
    return { path, pool };
  }

  #poolFor(
    url: URL,
    { connection, allowPrivate, way }: PoolOptions,
    UndiciClient: typeof Client,
  ): ConnectionPool {
    const key = url.origin + way;
    const known = this.#pools.get(key);
    if (known) return known;
    const { lookup, maxIdleMs = DEFAULT_MAX_IDLE_MS } = this.#options;
    // A file that cannot be used is an error now, also where there is no TLS.
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

/** Undefined unless it names a proxy at this time: one that is named later is not used without having been judged. */
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
      hint: 'Unset it to connect without the proxy, or give --allow-proxy to go through it without the check',
    },
  );
}

/** Loaded only where it is wanted: commands that a person sends with connect to anything. */
async function loadRule(
  addresses: UndiciTransportOptions['addresses'] = 'any',
): Promise<AddressRule | undefined> {
  if (typeof addresses === 'function') return addresses;
  return addresses === 'public' ? (await import('./route/public-address.ts')).whyNotPublic : undefined;
}

/**
 * undici's HTTP/1 client alone, loaded for the first attempt: 54 ms, where the whole package takes 128. It has no exports map, so that the
 * path is open; test/built-package.built.test.ts holds it.
 */
async function loadClient(): Promise<typeof Client> {
  // Node 20 goes on optimizing undici's WebAssembly parser when all else is done: a process that has sent one message ends 40 ms
  // later. Later versions do not, and there the flag costs 20 ms. Requests are as fast with it.
  if (process.versions.node.startsWith('20.')) {
    process.getBuiltinModule('node:v8').setFlagsFromString('--liftoff-only');
  }
  return (await import('./http-client.ts')).HttpClient;
}

function parseUrl(text: string): URL {
  const url = redactUrl(text);
  if (!URL.canParse(text)) {
    throw new TransportError(`Expected an http: or https: URL, got ${printable(url)}`, { kind: 'url', url });
  }
  const parsed = new URL(text);
  if (parsed.protocol === 'http:' || parsed.protocol === 'https:') return parsed;
  throw new TransportError(`Expected an http: or https: URL, got ${printable(url)}`, { kind: 'scheme', url });
}
