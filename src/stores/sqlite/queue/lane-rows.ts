import type { Sql } from '../file/store.ts';
import type { LaneId } from '../../../queue/queue.ts';

/**
 * Finds the id of a lane by its name, and remembers it after the commit. Rows of lanes are never removed, so an id is valid
 * as long as the file is the same.
 */
export class LaneRows {
  readonly #known = new Map<string, Map<string, number>>();
  #sql: Sql | undefined;

  find(sql: Sql, { source, destination }: LaneId): number | undefined {
    if (sql !== this.#sql) this.#known.clear();
    this.#sql = sql;
    const known = this.#known.get(source)?.get(destination);
    if (known !== undefined) return known;
    const row = sql('SELECT lane FROM lanes WHERE source = ? AND destination = ?').get(source, destination);
    return row === undefined ? undefined : Number(row['lane']);
  }

  findOrMake(sql: Sql, lane: LaneId): number {
    const found = this.find(sql, lane);
    if (found !== undefined) return found;
    const { source, destination } = lane;
    const made = sql('INSERT INTO lanes (source, destination) VALUES (?, ?)').run(source, destination);
    return Number(made.lastInsertRowid);
  }

  /**
   * Remembers the id of a committed lane. Does nothing if `sql`, with which the transaction ran, is not the current one: the
   * file was opened again, and may be another.
   */
  remember(sql: Sql, { source, destination }: LaneId, id: number): void {
    if (sql !== this.#sql) return;
    const destinations = this.#known.get(source) ?? new Map<string, number>();
    if (destinations.has(destination)) return;
    this.#known.set(source, destinations.set(destination, id));
  }
}
