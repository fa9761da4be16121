import { randomBytes } from 'node:crypto';
import type { Intent, Intents, Lines, Series, SeriesEntry, Server } from '../server.ts';
import type { Delivery } from '../../../queue/delivery.ts';
import { inLine, isGone, isKeyed, keyedOf, linesOf, toKeyed, type Keyed } from './server-keyed.ts';
import type { ServerLanes } from './server-lanes.ts';
import { entryId } from './server-record.ts';

/** Longer than the process that has begun an operation takes, or may take. */
export const REPAIR_AFTER_MS = 15_000;
const REPAIRS_AT_ONCE = 100;

/** The text of an intent. */
interface Repair {
  readonly of: readonly Keyed[];
  /** Whether the repair must wait until the deliveries are gone. */
  readonly isLeaving: boolean;
}

/**
 * Keeps deliveries waiting for earlier ones of their order keys. BullMQ has nothing for it: each key has a line of ids outside
 * BullMQ. A delivery joins its lines at the end before it is added, and leaves them once its entry is gone. One that is not first in
 * all of them is delayed without a date, and promoted when the one before it leaves.
 * Lines and deliveries are not written together: each operation writes a repair intent first, which others run if it is unfinished,
 * also while a slow process goes on with it. So an id leaves only in the step that finds its entry gone. One that left before it
 * was added joins again before its `add` resolves: what is added after that stands behind it.
 */
export class ServerOrder {
  readonly #lanes: ServerLanes;
  readonly #lines: Lines;
  readonly #intents: Intents;
  readonly #afterMs: number;
  readonly #owner = randomBytes(9).toString('base64url');
  #intentCount = 0;

  constructor(server: Server, lanes: ServerLanes, afterMs = REPAIR_AFTER_MS) {
    this.#lanes = lanes;
    this.#lines = server.lines;
    this.#intents = server.intents;
    this.#afterMs = afterMs;
  }

  /** Puts deliveries that are added next into their lines. Undefined: none of them has an order key. */
  async enter(deliveries: readonly Delivery[], now: number): Promise<Entered | undefined> {
    const keyed = await this.#unknown(deliveries.filter(isKeyed));
    if (keyed.length === 0) return undefined;
    const intent = await this.#intend(keyed, now);
    // In the step in which they join: a repair may take them out of their lines again, and all of them would be first.
    const behind = new Set(await this.#lines.join(keyed.map(inLine)));
    const held = new Set(keyed.filter(({ id }) => behind.has(id)));
    return { keyed, held, intent };
  }

  /** Called just before they are added: a repair that ran by now would take them out of their lines, and must run again. */
  async entering({ intent }: Entered, now: number): Promise<void> {
    await this.#intents.put({ ...intent, dueAt: now + this.#afterMs });
  }

  /** Called once they are added: those before them may have left, and others may have run the repair. */
  async entered({ keyed, held, intent }: Entered): Promise<void> {
    await this.#return(keyed);
    await this.#call([...held]);
    await this.#intents.remove(intent.id);
  }

  /** Whether each is first in all of its lines. */
  async areFirst(deliveries: readonly Keyed[]): Promise<readonly boolean[]> {
    const lines = deliveries.map(linesOf);
    const firsts = await this.#lines.firsts(lines.flat());
    let at = 0;
    return deliveries.map(({ id }, index) => {
      const own = firsts.slice(at, (at += lines[index]?.length ?? 0));
      return own.every((first) => first === undefined || first === id);
    });
  }

  /** Runs `act`, which delays deliveries that were taken out of their turn. */
  async holding(deliveries: readonly Keyed[], now: number, act: () => Promise<unknown>): Promise<void> {
    if (deliveries.length === 0) return;
    const { id } = await this.#intend(deliveries, now, { whenFull: true });
    await act();
    await this.#return(deliveries);
    await this.#call(deliveries);
    await this.#intents.remove(id);
  }

  /** Runs `act`, which settles the delivery, and promotes the ones that waited for it if `act` returns true. */
  async leaving(delivery: Keyed, now: number, act: () => Promise<boolean>): Promise<boolean> {
    const [isDone = false] = await this.removing([delivery], now, async () => [await act()]);
    return isDone;
  }

  /** Runs `act`, which removes deliveries, and promotes the ones that waited for them. */
  async removing(
    deliveries: readonly Keyed[],
    now: number,
    act: () => Promise<readonly boolean[]>,
  ): Promise<readonly boolean[]> {
    const keyed = deliveries.filter(({ orderKeys }) => orderKeys.length > 0);
    if (keyed.length === 0) return act();
    const intent = await this.#intend(keyed, now, { isLeaving: true });
    const areGone = await act();
    await this.#leave(keyed);
    await this.#intents.remove(intent.id);
    return areGone;
  }

  /** Puts dead letters at the end of their lines, and runs `act`, which makes them wait. One that does not wait then leaves again. */
  async rejoining(
    deliveries: readonly Keyed[],
    now: number,
    act: () => Promise<readonly boolean[]>,
  ): Promise<readonly boolean[]> {
    const keyed = deliveries.filter(({ orderKeys }) => orderKeys.length > 0);
    if (keyed.length === 0) return act();
    const intent = await this.#intend(keyed, now);
    await this.#lines.join(keyed.map(inLine));
    const areBack = await act();
    await this.#return(keyed);
    await this.#leave(keyed);
    await this.#intents.remove(intent.id);
    return areBack;
  }

  /** Finishes operations that others began. */
  async runRepairs(now: number): Promise<void> {
    const taking = { now, againAt: now + this.#afterMs, limit: 1 };
    for (let count = 0; count < REPAIRS_AT_ONCE; count++) {
      // One after the other: the process that has begun it may go on while others are repaired.
      const [intent] = await this.#intents.take(taking);
      if (intent === undefined) return;
      if (await this.#isOver(JSON.parse(intent.text) as Repair)) await this.#intents.remove(intent.id); // written by #intend only
    }
  }

  /**
   * False: the process that has begun the operation may still continue, and the intent stays. All that is gone leaves at once: one
   * by one, those of one order key would come back in another order.
   */
  async #isOver({ of, isLeaving }: Repair): Promise<boolean> {
    await this.#leave(of);
    // After it: a slow process may have added them just now, and they would stand in no line.
    const found = await this.#findAll(of);
    const left = of.filter((_, index) => !isGone(found[index]));
    if (left.length > 0 && isLeaving) return false;
    await this.#return(left);
    await this.#call(left);
    return !found.some((entry) => entry?.state === 'active');
  }

  /** Puts deliveries into the lines that they are missing in: a repair took them out before they were added. */
  async #return(deliveries: readonly Keyed[]): Promise<void> {
    if (deliveries.length > 0) await this.#lines.join(deliveries.map(inLine), { areAdded: true });
  }

  /** Takes those that are gone out of their lines, and promotes the first ones. A claim puts one off that is not first in another one, too. */
  async #leave(deliveries: readonly Keyed[]): Promise<void> {
    for (const [series, some] of this.#lanes.bySeries(deliveries)) {
      await promote(series, await this.#lines.leave(some.map(inLine)));
    }
  }

  /** Promotes those that are first. One that is delayed for its retry is promoted too: the claim that takes it early delays it again. */
  async #call(deliveries: readonly Keyed[]): Promise<void> {
    if (deliveries.length === 0) return;
    const areFirst = await this.areFirst(deliveries);
    const first = deliveries.filter((_, index) => areFirst[index]);
    for (const [series, some] of this.#lanes.bySeries(first)) {
      await promote(
        series,
        some.map(({ id }) => id),
      );
    }
  }

  /** The deliveries that are not there yet. One that is there, but in no line, comes from an `add` that got no response. */
  async #unknown(keyed: readonly Delivery[]): Promise<readonly Delivery[]> {
    const entries = await this.#findAll(keyed);
    const known = keyed.flatMap((delivery, index) => {
      const entry = entries[index];
      // The keys are those of the first `add`.
      return isGone(entry) ? [] : keyedOf(entry, delivery);
    });
    await this.#return(known);
    await this.#call(known);
    return keyed.filter((_, index) => entries[index] === undefined);
  }

  async #findAll(all: readonly Keyed[]): Promise<readonly (SeriesEntry | undefined)[]> {
    const found = new Map<Keyed, SeriesEntry | undefined>();
    for (const [series, some] of this.#lanes.bySeries(all)) {
      const entries = await series.getToChange(some.map(({ id }) => entryId(id)));
      for (const [index, each] of some.entries()) found.set(each, entries[index]);
    }
    return all.map((each) => found.get(each));
  }

  /** Writes the intent to repair what an operation leaves behind when it is not ended. */
  async #intend(
    deliveries: readonly Keyed[],
    now: number,
    { isLeaving = false, whenFull = false } = {},
  ): Promise<Intent> {
    const of = deliveries.map(toKeyed);
    const text = JSON.stringify({ of, isLeaving } satisfies Repair);
    const intent = {
      id: `e-${this.#owner}-${this.#intentCount++}`,
      text,
      dueAt: now + this.#afterMs,
    };
    await this.#intents.put(intent, { whenFull: whenFull || isLeaving });
    return intent;
  }
}

async function promote(series: Series, ids: readonly string[]): Promise<void> {
  await series.wake(
    'delayed',
    ids.map((id) => ({ id: entryId(id) })),
  );
}

export interface Entered {
  readonly keyed: readonly Delivery[];
  /** The ones that are not first in all of their lines. */
  readonly held: ReadonlySet<Delivery>;
  readonly intent: Intent;
}
