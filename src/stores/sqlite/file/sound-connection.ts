import type { SqliteConnection } from './connection.ts';

/** The connection of a store. Opens the file again after an error that makes the connection doubtful. */
export class SoundConnection {
  readonly #reopen: () => Promise<SqliteConnection>;
  #connection: SqliteConnection;
  #opening: Promise<SqliteConnection> | undefined;

  constructor(connection: SqliteConnection, reopen: () => Promise<SqliteConnection>) {
    this.#connection = connection;
    this.#reopen = reopen;
  }

  /** The connection. Undefined if the file must be opened again first. */
  get sound(): SqliteConnection | undefined {
    return this.#connection.isSound ? this.#connection : undefined;
  }

  /** Opens the file again. Concurrent calls share the new connection. */
  reopened(): Promise<SqliteConnection> {
    this.#opening ??= this.#replace().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => {}); // its callers have got the error
    this.sound?.emptyLog();
    this.#connection.close();
  }

  /**
   * Closes the old connection last: if no connection had the file open, rejected writes that are still in the log would
   * become permanent.
   */
  async #replace(): Promise<SqliteConnection> {
    const doubtful = this.#connection;
    this.#connection = await this.#reopen();
    doubtful.close();
    return this.#connection;
  }
}
