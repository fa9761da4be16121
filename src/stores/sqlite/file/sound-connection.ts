import type { SqliteConnection } from './connection.ts';

/** The connection of a store. After an error that leaves it in doubt, the file is opened again before it is used. */
export class SoundConnection {
  readonly #reopen: () => Promise<SqliteConnection>;
  #connection: SqliteConnection;
  #opening: Promise<SqliteConnection> | undefined;

  constructor(connection: SqliteConnection, reopen: () => Promise<SqliteConnection>) {
    this.#connection = connection;
    this.#reopen = reopen;
  }

  /** The connection, unless the file must be opened again first. */
  get sound(): SqliteConnection | undefined {
    return this.#connection.isSound ? this.#connection : undefined;
  }

  /** Opens the file again; callers that ask while it is being opened share it. */
  reopened(): Promise<SqliteConnection> {
    this.#opening ??= this.#replace().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => {}); // told to those who asked for it
    this.sound?.emptyLog();
    this.#connection.close();
  }

  /** Closes the old one last: if no connection had the file open, writes that were rejected and are still in the log would become permanent. */
  async #replace(): Promise<SqliteConnection> {
    const doubtful = this.#connection;
    this.#connection = await this.#reopen();
    doubtful.close();
    return this.#connection;
  }
}
