import type { EntryState, Series, Server } from '../server.ts';
import type { LaneId } from '../../../queue/queue.ts';

/** Name prefix of all series. */
const SERIES = 'hooks/';
/**
 * A name in the registry that `restore` registers after it has searched the server. Adding entries registers only their
 * own series, so a registry without this name may lack others.
 */
const COMPLETE = 'hooks-registry';

/** The lanes on a server. Lanes are never removed, so a known lane stays known. */
export class ServerLanes {
  readonly #server: Server;
  /** The lanes that this process knows, by the name of their series. */
  readonly #known = new Map<string, LaneId>();

  constructor(server: Server) {
    this.#server = server;
  }

  /** The series of a lane's deliveries. */
  series(lane: LaneId): Series {
    return this.#server.series(seriesName(lane));
  }

  /** The series of deliveries that were dead on arrival, which are never claimed. */
  deadSeries(lane: LaneId): Series {
    return this.#server.series(deadSeriesName(lane));
  }

  /** The registered lanes, and the lanes that `restore` found. */
  async all(): Promise<readonly LaneId[]> {
    this.#learn(await this.#server.registered());
    return [...this.#known.values()];
  }

  /** The lanes with unsettled deliveries. */
  async unsettled(): Promise<readonly LaneId[]> {
    const lanes = await this.all();
    const areAny = await Promise.all(
      lanes.map((lane) => this.hasAny(lane, ['waiting', 'active', 'delayed'])),
    );
    return lanes.filter((_, index) => areAny[index]);
  }

  /** Whether a lane has an entry in one of the states. */
  async hasAny(lane: LaneId, states: readonly EntryState[]): Promise<boolean> {
    const series = this.series(lane);
    const found = await Promise.all(states.map((state) => series.ids(state, 0, 0)));
    return found.some((ids) => ids.length > 0);
  }

  /**
   * Searches the whole server for lanes and registers them, unless the registry is complete. Returns a sentence if lanes
   * were missing from the registry. Without the right or the memory to register lanes, only this object knows them.
   */
  async restore(): Promise<string | undefined> {
    const registered = await this.#server.registered();
    if (registered.includes(COMPLETE)) return undefined;
    this.#learn(registered);
    const { size } = this.#known;
    this.#learn(await this.#server.findSeries(SERIES));
    const isRegistered = await this.#server.register([...this.#known.keys(), COMPLETE]).then(
      () => true,
      () => false,
    );
    const missing = this.#known.size - size;
    if (missing === 0) return undefined;
    const end = isRegistered ? 'now they are' : 'and they could not be registered';
    return `The registry of ${this.#server.place} is incomplete: ${missing} of the lanes found on the server were not registered; ${end}`;
  }

  #learn(names: readonly string[]): void {
    for (const name of names) {
      const lane = laneOfSeries(name);
      if (lane !== undefined) this.#known.set(seriesName(lane), lane);
    }
  }
}

export function groupBySeries<T>(
  all: Iterable<T>,
  seriesOf: (each: T) => Series,
): ReadonlyMap<Series, readonly T[]> {
  const groups = new Map<Series, T[]>();
  for (const each of all) {
    const series = seriesOf(each);
    const group = groups.get(series);
    if (group === undefined) groups.set(series, [each]);
    else group.push(each);
  }
  return groups;
}

/** Names the series of a lane: legible in Bull Board, and without a colon. */
export function seriesName({ source, destination }: LaneId): string {
  return `${SERIES}${encodeURIComponent(source)}/${encodeURIComponent(destination)}`;
}

/** The lane of a series; undefined if the name is not from `seriesName`, so that the series does not belong to hooks. */
export function laneOfSeries(name: string): LaneId | undefined {
  const [, source, destination] = /^hooks\/([^/]*)\/([^/]*)(?:\/dead)?$/.exec(name) ?? [];
  if (source === undefined || destination === undefined) return undefined;
  try {
    return { source: decodeURIComponent(source), destination: decodeURIComponent(destination) };
  } catch {
    return undefined;
  }
}

export function deadSeriesName(lane: LaneId): string {
  return `${seriesName(lane)}/dead`;
}
