import type { NewEntry, Series, Server } from '../server.ts';
import type { Lane } from '../../../queue/queue.ts';

/** The registry of lanes: an entry for each, which no claim takes. */
const REGISTRY = 'hooks-lanes';
/** The prefix of the names of all lanes. */
const SERIES = 'hooks/';

/** The lanes on a server. One is never removed, so what is known stays so. */
export class ServerLanes {
  readonly #server: Server;
  /** By the name of their series. */
  readonly #known = new Map<string, Lane>();

  constructor(server: Server) {
    this.#server = server;
  }

  /** The series of its deliveries. */
  series(lane: Lane): Series {
    return this.#server.series(seriesName(lane));
  }

  /** The same for several, with those of each series in their order; `areDead`: the series of those dead on arrival. */
  bySeries<T extends Lane>(lanes: Iterable<T>, areDead = false): ReadonlyMap<Series, readonly T[]> {
    const groups = new Map<Series, T[]>();
    for (const lane of lanes) {
      const series = areDead ? this.deadSeries(lane) : this.series(lane);
      const group = groups.get(series);
      if (group === undefined) groups.set(series, [lane]);
      else group.push(lane);
    }
    return groups;
  }

  /** The series of deliveries that were dead on arrival: no claim takes from it. */
  deadSeries(lane: Lane): Series {
    return this.#server.series(deadSeriesName(lane));
  }

  /**
   * Entries to add with deliveries, each time, since adding an entry again changes nothing: a server that was emptied, or that
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

  /** The registered lanes, and those that `find` found. */
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

/** Names a lane's series: legible in Bull Board, and without a colon. */
export function seriesName({ source, destination }: Lane): string {
  return `${SERIES}${encodeURIComponent(source)}/${encodeURIComponent(destination)}`;
}

/** Undefined: the name is not one of `seriesName`, so the series does not belong to hooks. */
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
