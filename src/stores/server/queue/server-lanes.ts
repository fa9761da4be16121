import type { EntryState, Series, Server } from '../server.ts';
import type { LaneId } from '../../../queue/queue.ts';

/** Name prefix of all series. */
const SERIES = 'hooks/';
/**
 * Name that `restore` registers after it has searched the server. Without it, the registry may lack series, because adding
 * entries registers only their own series.
 */
const COMPLETE = 'hooks-registry';

/** Identifies one of the two series of a lane. */
export interface LaneSeriesId extends LaneId {
  /** Whether the series has the deliveries that were added as dead letters, and so are never claimed. @default false */
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

  async unsettled(): Promise<readonly LaneId[]> {
    const lanes = await this.all();
    const firsts = await Promise.all(lanes.map((lane) => firstIds(this.series(lane), UNSETTLED)));
    return lanes.filter((_, index) => firsts[index]?.[0] !== undefined);
  }

  /**
   * Searches the whole server for lanes and registers them, unless the registry is complete. Returns a warning if lanes
   * were missing from the registry. If the server does not allow registering lanes, or is full, only this object knows them.
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

/** The id of the earliest entry in each of the states that have entries. */
export async function firstIds(series: Series, states: readonly EntryState[]): Promise<readonly string[]> {
  const ids = states.map((state) =>
    state === 'delayed' ? series.ids(state, 0, 0) : series.ids(state, -1, -1),
  );
  return (await Promise.all(ids)).flat();
}

/** Groups items by series, and calls `act` for each group. `act` returns one result per item, in order. */
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

/** Names a series without a colon, which BullMQ does not allow, and legibly, because Bull Board shows the name. */
export function seriesName({ source, destination, isArrival = false }: LaneSeriesId): string {
  return `${SERIES}${encodeURIComponent(source)}/${encodeURIComponent(destination)}${isArrival ? '/dead' : ''}`;
}

/** The lane of a series. Undefined for a series whose name is not from `seriesName`, so that it does not belong to hooks. */
export function laneOfSeries(name: string): LaneId | undefined {
  const [, source, destination] = /^hooks\/([^/]*)\/([^/]*)(?:\/dead)?$/.exec(name) ?? [];
  if (source === undefined || destination === undefined) return undefined;
  try {
    return { source: decodeURIComponent(source), destination: decodeURIComponent(destination) };
  } catch {
    return undefined;
  }
}
