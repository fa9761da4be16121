import { CLOSED, type PendingRequest } from './pending-request.ts';
import { HttpConnection, type ConnectionOwner, type HttpConnectionOptions } from './connection.ts';
import type { Route } from '../route/route.ts';

type ConnectionPoolOptions = Omit<HttpConnectionOptions, 'owner'>;

/**
 * Maximum number of connections that only receive the rest of a body, for which no attempt waits. More of them are not worth
 * their sockets.
 */
const MAX_DRAINING = 64;
/**
 * Milliseconds that close() waits for the rest of response bodies, which mostly follow their status at once. A receiver
 * whose response is cut off gets a reset connection, and logs a failure for a message that it accepted.
 */
const DRAIN_MS = 250;

/** The connections to one origin. Their number is the largest number of attempts that were in flight at once. */
export class ConnectionPool implements ConnectionOwner {
  readonly route: Route;
  readonly #options: ConnectionPoolOptions;
  /** Idle connections. The last one released is used first, because the server is the least likely to have closed it. */
  readonly #free: HttpConnection[] = [];
  /** All connections whose sockets are open. */
  readonly #open = new Set<HttpConnection>();
  /** Number of new connections until the draining ones are counted. */
  #untilDrop = 0;
  #onEmpty: (() => void) | undefined;
  #isClosing = false;
  #closed: Promise<void> | undefined;

  constructor(options: ConnectionPoolOptions) {
    this.route = options.route;
    this.#options = options;
  }

  send(pending: PendingRequest): void {
    const connection = this.#free.pop() ?? this.#connect();
    connection.start(pending);
  }

  /** Repeats an attempt on a new connection: if one idle connection was closed, the others mostly were too. */
  repeat(pending: PendingRequest): void {
    pending.reconnected = true;
    this.#connect().start(pending);
  }

  released(connection: HttpConnection): void {
    if (this.#isClosing) connection.drop();
    else this.#free.push(connection);
  }

  dropped(connection: HttpConnection): void {
    const at = this.#free.indexOf(connection);
    if (at !== -1) this.#free.splice(at, 1);
  }

  closed(connection: HttpConnection): void {
    this.#open.delete(connection);
    if (this.#open.size === 0) this.#onEmpty?.();
  }

  /** Resolves when all sockets are closed. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    this.#isClosing = true;
    if (this.#open.size === 0) return;
    const cut = setTimeout(() => this.#abandon([...this.#open]), DRAIN_MS);
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      this.#abandon([...this.#open].filter(({ isDraining }) => !isDraining));
    });
    clearTimeout(cut);
  }

  #abandon(connections: readonly HttpConnection[]): void {
    for (const connection of connections) connection.abandon(CLOSED);
  }

  /**
   * Drops the oldest draining connections above the maximum. Looks at all connections, so it is called for a 64th of the new
   * ones: with thousands of connections, looking for each new one took most of the time.
   */
  #dropDraining(): void {
    this.#untilDrop = this.#open.size / MAX_DRAINING;
    if (this.#open.size < MAX_DRAINING) return;
    const draining = [...this.#open].filter(({ isDraining }) => isDraining);
    for (const connection of draining.slice(0, draining.length - MAX_DRAINING + 1)) connection.drop();
  }

  #connect(): HttpConnection {
    if (--this.#untilDrop <= 0) this.#dropDraining();
    const connection = new HttpConnection({ ...this.#options, owner: this });
    this.#open.add(connection);
    return connection;
  }
}
