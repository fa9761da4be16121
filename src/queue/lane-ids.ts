import type { Sql } from '../store/store.ts';
import type { Lane } from './queue.ts';

/** The numbers of lanes in the file. One is never removed, so what is committed may be remembered. */
export class LaneIds {
  readonly #known = new Map<string, Map<string, number>>();

  find(sql: Sql, { source, destination }: Lane): number | undefined {
    const known = this.#known.get(source)?.get(destination);
    if (known !== undefined) return known;
    const row = sql('SELECT lane FROM lanes WHERE source = ? AND destination = ?').get(source, destination);
    return row === undefined ? undefined : Number(row['lane']);
  }

  findOrMake(sql: Sql, lane: Lane): number {
    const found = this.find(sql, lane);
    if (found !== undefined) return found;
    const { source, destination } = lane;
    const made = sql('INSERT INTO lanes (source, destination) VALUES (?, ?)').run(source, destination);
    return Number(made.lastInsertRowid);
  }

  /** To be called once the lane is committed. */
  remember({ source, destination }: Lane, id: number): void {
    const destinations = this.#known.get(source) ?? new Map<string, number>();
    if (destinations.has(destination)) return;
    this.#known.set(source, destinations.set(destination, id));
  }
}
