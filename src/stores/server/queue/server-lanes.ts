import type { NewEntry, Series, Server } from '../server.ts';
import type { Lane } from '../../../queue/queue.ts';

/** Which lanes there are: an entry for each, which nobody takes. */
const REGISTRY = 'hooks-lanes';
/** What the names of all lanes begin with. */
const SERIES = 'hooks/';

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

  /**
   * To be added with deliveries, each time, as what is there already changes nothing: a server that was emptied, or that
   * started again without what it held, has lost those that were added before.
   */
  registrations(lanes: Iterable<Lane>, now: number): readonly NewEntry[] {
    const byName = new Map<string, Lane>();
    for (const lane of lanes) byName.set(seriesName(lane), lane);
    return [...byName].map(([id, { source, destination }]) => {
      const text = JSON.stringify({ source, destination });
      return { series: REGISTRY, id, name: 'lane', text, addedAt: now };
    });
  }

  /** Those that are registered, and those that were found. */
  async all(): Promise<readonly Lane[]> {
    const registry = this.#server.series(REGISTRY);
    for (const id of await registry.ids('waiting', 0, -1)) {
      if (this.#known.has(id)) continue;
      const entry = await registry.get(id);
      if (entry !== undefined) this.#known.set(id, readLane(entry.text));
    }
    return [...this.#known.values()];
  }

  /** Looks for lanes that hold something and are not registered: what registered them was lost. */
  async find(): Promise<void> {
    for (const name of await this.#server.seriesNames(SERIES)) {
      const lane = laneOf(name);
      if (lane !== undefined) this.#known.set(seriesName(lane), lane);
    }
  }
}

function readLane(text: string): Lane {
  return JSON.parse(text) as Lane; // written by registrations only
}

/** Legible to who looks with Bull Board, and without a colon. */
export function seriesName({ source, destination }: Lane): string {
  return `${SERIES}${encodeURIComponent(source)}/${encodeURIComponent(destination)}`;
}

/** Undefined: it is not named so, and not of hooks. */
function laneOf(name: string): Lane | undefined {
  const [, source, destination] = /^hooks\/([^/]*)\/([^/]*)(?:\/dead)?$/.exec(name) ?? [];
  if (source === undefined || destination === undefined) return undefined;
  try {
    return { source: decodeURIComponent(source), destination: decodeURIComponent(destination) };
  } catch {
    return undefined;
  }
}

export function deadSeriesName(lane: Lane): string {
  return `${seriesName(lane)}/dead`;
}
