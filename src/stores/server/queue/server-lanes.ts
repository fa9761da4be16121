import type { EntryState, Series, Server } from '../server.ts';
import type { LaneId } from '../../../queue/queue.ts';

/** Name prefix of all series. */
const SERIES = 'hooks/';
/**
 * A name in the registry that `restore` registers after it has searched the server. Adding entries registers only their
 * own series, so a registry without this name may lack others.
 */
const COMPLETE = 'hooks-registry';

/** One of the two series of a lane. */
export interface LaneSeriesId extends LaneId {
  /** Whether the deliveries of the series were added as dead letters, which are never claimed. @default false */
  readonly isArrival?: boolean;
}

/** The lanes on a server. Lanes are never removed, so a known lane stays known. */
export class ServerLanes {
  readonly server: Server;
  /** The lanes that this process knows, by the name of their series. */
  readonly #known = new Map<string, LaneId>();

  constructor(server: Server) {
    this.server = server;
  }

  series(id: LaneSeriesId): Series {
    return this.server.series(seriesName(id));
  }

  /** The registered lanes, and the lanes that `restore` found. */
  async all(): Promise<readonly LaneId[]> {
    this.#learn(await this.server.registered());
    return [...this.#known.values()];
  }

  /** The lanes with unsettled deliveries. */
  async unsettled(): Promise<readonly LaneId[]> {
    const lanes = await this.all();
    const firsts = await Promise.all(lanes.map((lane) => firstIds(this.series(lane), UNSETTLED)));
    return lanes.filter((_, index) => firsts[index]?.[0] !== undefined);
  }

  /**
   * Searches the whole server for lanes and registers them, unless the registry is complete. Returns a sentence if lanes
   * were missing from the registry. Without the right or the memory to register lanes, only this object knows them.
   */
  async restore(): Promise<string | undefined> {
    const registered = await this.server.registered();
    if (registered.includes(COMPLETE)) return undefined;
    this.#learn(registered);
    const { size } = this.#known;
    this.#learn(await this.server.findSeries(SERIES));
    const isRegistered = await this.server.register([...this.#known.keys(), COMPLETE]).then(
      () => true,
      () => false,
    );
    const missing = this.#known.size - size;
    if (missing === 0) return undefined;
    const end = isRegistered ? 'now they are' : 'and they could not be registered';
    return `The registry of ${this.server.place} is incomplete: ${missing} of the lanes found on the server were not registered; ${end}`;
  }

  #learn(names: readonly string[]): void {
    for (const name of names) {
      const lane = laneOfSeries(name);
      if (lane !== undefined) this.#known.set(seriesName(lane), lane);
    }
  }
}

export const UNSETTLED = ['waiting', 'active', 'delayed'] as const;

/** The ids of the earliest entry in each state. A state without entries has none. */
export async function firstIds(series: Series, states: readonly EntryState[]): Promise<readonly string[]> {
  const ids = states.map((state) =>
    state === 'delayed' ? series.ids(state, 0, 0) : series.ids(state, -1, -1),
  );
  return (await Promise.all(ids)).flat();
}

/** Calls `act` once per series, with the items of that series in order. `act` returns one result per item. */
export async function bySeries<T, R>(
  items: Iterable<T>,
  seriesOf: (item: T) => Series,
  act: (series: Series, some: readonly T[]) => Promise<readonly R[]>,
): Promise<ReadonlyMap<T, R | undefined>> {
  const groups = new Map<Series, T[]>();
  for (const item of items) {
    const series = seriesOf(item);
    const group = groups.get(series);
    if (group === undefined) groups.set(series, [item]);
    else group.push(item);
  }
  const results = new Map<T, R | undefined>();
  for (const [series, some] of groups) {
    const found = await act(series, some);
    for (const [index, item] of some.entries()) results.set(item, found[index]);
  }
  return results;
}

/** Names the series of a lane: legible in Bull Board, and without a colon. */
export function seriesName({ source, destination, isArrival = false }: LaneSeriesId): string {
  return `${SERIES}${encodeURIComponent(source)}/${encodeURIComponent(destination)}${isArrival ? '/dead' : ''}`;
}

/** The lane of a series. Undefined if the series does not belong to hooks, so that `seriesName` did not make its name. */
export function laneOfSeries(name: string): LaneId | undefined {
  const [, source, destination] = /^hooks\/([^/]*)\/([^/]*)(?:\/dead)?$/.exec(name) ?? [];
  if (source === undefined || destination === undefined) return undefined;
  try {
    return { source: decodeURIComponent(source), destination: decodeURIComponent(destination) };
  } catch {
    return undefined;
  }
}
