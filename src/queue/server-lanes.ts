import type { NewEntry, Series, Server } from '../store/server/server.ts';
import type { Lane } from './queue.ts';

/** Which lanes there are: an entry for each, which nobody takes. */
const REGISTRY = 'hooks-lanes';

/** The lanes on a server. One is never removed, so what is known stays so. */
export class ServerLanes {
  readonly #server: Server;
  /** By the name of their series. */
  readonly #known = new Map<string, Lane>();

  constructor(server: Server) {
    this.#server = server;
  }

  /** Where its deliveries are. */
  series(lane: Lane): Series {
    return this.#server.series(seriesName(lane));
  }

  /** Where those are that were dead on arrival: nobody takes them to deliver them. */
  deadSeries(lane: Lane): Series {
    return this.#server.series(deadSeriesName(lane));
  }

  /** To be added with the first deliveries of lanes that are not known. */
  registrations(lanes: Iterable<Lane>, now: number): readonly NewEntry[] {
    const unknown = new Map<string, Lane>();
    for (const lane of lanes) if (!this.#known.has(seriesName(lane))) unknown.set(seriesName(lane), lane);
    return [...unknown].map(([id, { source, destination }]) => {
      const text = JSON.stringify({ source, destination });
      return { series: REGISTRY, id, name: 'lane', text, addedAt: now };
    });
  }

  /** To be called once they are on the server. */
  remember(registrations: readonly NewEntry[]): void {
    for (const { id, text } of registrations) this.#known.set(id, readLane(text));
  }

  async all(): Promise<readonly Lane[]> {
    const registry = this.#server.series(REGISTRY);
    for (const id of await registry.ids('waiting', 0, -1)) {
      if (this.#known.has(id)) continue;
      const entry = await registry.get(id);
      if (entry !== undefined) this.#known.set(id, readLane(entry.text));
    }
    return [...this.#known.values()];
  }
}

function readLane(text: string): Lane {
  return JSON.parse(text) as Lane; // written by registrations only
}

/** Legible to who looks with Bull Board, and without a colon. */
export function seriesName({ source, destination }: Lane): string {
  return `hooks/${encodeURIComponent(source)}/${encodeURIComponent(destination)}`;
}

export function deadSeriesName(lane: Lane): string {
  return `${seriesName(lane)}/dead`;
}
