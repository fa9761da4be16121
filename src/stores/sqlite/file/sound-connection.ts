import type { SqliteConnection } from './connection.ts';

/** The connection of a store, which is replaced by a new one after an error that makes it doubtful. */
export class SoundConnection {
  readonly #reopen: () => Promise<SqliteConnection>;
  #connection: SqliteConnection;
  #opening: Promise<SqliteConnection> | undefined;

  constructor(connection: SqliteConnection, reopen: () => Promise<SqliteConnection>) {
    this.#connection = connection;
    this.#reopen = reopen;
  }

  /** The current connection. Undefined if an error made it doubtful, so that the file must be opened again. */
  get sound(): SqliteConnection | undefined {
    return this.#connection.isSound ? this.#connection : undefined;
  }

  /** Returns a new connection to the file. Concurrent calls share it. */
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
   * Opens a new connection, and only then closes the old one: if no connection had the file open in between, SQLite would
   * write rejected writes that are still in the log into the file.
   */
  async #replace(): Promise<SqliteConnection> {
    const doubtful = this.#connection;
    this.#connection = await this.#reopen();
    doubtful.close();
    return this.#connection;
  }
}
