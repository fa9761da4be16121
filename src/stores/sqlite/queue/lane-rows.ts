import type { Sql } from '../file/store.ts';
import type { LaneId } from '../../../queue/queue.ts';

/** The rows of lanes in the file, by name. A row is never removed, so its number is remembered once it is committed, for as long as it is the same file. */
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

  /** Called once the lane is committed, with what it was committed over. */
  remember(sql: Sql, { source, destination }: LaneId, id: number): void {
    if (sql !== this.#sql) return;
    const destinations = this.#known.get(source) ?? new Map<string, number>();
    if (destinations.has(destination)) return;
    this.#known.set(source, destinations.set(destination, id));
  }
}
