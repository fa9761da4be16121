import { randomBytes } from 'node:crypto';
import type { EntryState, Lines, NewEntry, Series, Server } from '../server.ts';
import type { Delivery } from '../../../queue/delivery.ts';
import type { Lane } from '../../../queue/queue.ts';
import { inLine, isGone, isKeyed, isWaiting, keyedOf, linesOf, type Keyed } from './server-keyed.ts';
import type { ServerLanes } from './server-lanes.ts';
import { entryId, HELD_UNTIL } from './server-record.ts';

/** Repair intents: an operation that one process has begun, and another finishes when that one was killed in between. */
const INTENTS = 'hooks-errands';
/** Longer than the process that has begun an operation takes, or may take. */
export const REPAIR_AFTER_MS = 15_000;
const REPAIRS_AT_ONCE = 100;

interface RepairIntent {
  readonly of: readonly Keyed[];
  /** Whether the repair must wait until the deliveries are gone. */
  readonly isLeaving: boolean;
}

/**
 * Keeps deliveries waiting for earlier ones of their order keys. BullMQ has nothing for it: each key has a line of ids outside
 * BullMQ. A delivery that is not first in all of its lines is delayed without a date, and promoted when the one before it leaves.
 * Lines and deliveries are not written together: each operation writes a repair intent first, which others run if it is unfinished.
 */
export class ServerOrder {
  readonly #server: Server;
  readonly #lanes: ServerLanes;
  readonly #lines: Lines;
  readonly #intents: Series;
  readonly #afterMs: number;
  readonly #owner = randomBytes(9).toString('base64url');
  #intentCount = 0;

  constructor(server: Server, lanes: ServerLanes, afterMs = REPAIR_AFTER_MS) {
    this.#server = server;
    this.#lanes = lanes;
    this.#lines = server.lines;
    this.#intents = server.series(INTENTS);
    this.#afterMs = afterMs;
  }

  /** Puts deliveries that are added next into their lines. Undefined: none of them has an order key. */
  async enter(deliveries: readonly Delivery[], now: number): Promise<Entered | undefined> {
    const keyed = await this.#unknown(deliveries.filter(isKeyed));
    if (keyed.length === 0) return undefined;
    const entering = this.#repairIntent(keyed, now);
    await this.#server.add([entering]);
    await this.#lines.join(keyed.map(inLine));
    const areFirst = await this.areFirst(keyed);
    const held = new Set(keyed.filter((_, index) => areFirst[index] === false));
    return { keyed, held, entering, added: this.#repairIntent(keyed, now) };
  }

  /** Called once they are added, and `added` with them: those before them may have left, and others may have run the repair. */
  async entered({ keyed, held, entering, added }: Entered): Promise<void> {
    await this.#return(keyed);
    await this.#call([...held]);
    await this.#done(entering);
    await this.#done(added);
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

  /** Delays a delivery that was taken out of its turn. */
  async hold(delivery: Keyed, token: string, now: number): Promise<void> {
    const intent = this.#repairIntent([delivery], now);
    await this.#server.add([intent]);
    await this.#lanes.series(delivery).delay(entryId(delivery.id), token, HELD_UNTIL);
    await this.#return([delivery]);
    await this.#call([delivery]);
    await this.#done(intent);
  }

  /** Runs `act`, which settles the delivery, and promotes the ones that waited for it if `act` returns true. */
  async leaving(delivery: Keyed, now: number, act: () => Promise<boolean>): Promise<boolean> {
    if (delivery.orderKeys.length === 0) return act();
    const intent = this.#repairIntent([delivery], now, true);
    await this.#server.add([intent]);
    const [isDone = false] = await this.#leaveAfter([delivery], intent, async () => [await act()]);
    return isDone;
  }

  /**
   * Runs `act`, which removes deliveries, and promotes the ones that waited for them. A server whose memory is full takes no
   * repair intent, and must be emptied nevertheless: there, the waiting ones stay delayed if this process is killed in between.
   */
  async removing(
    deliveries: readonly Keyed[],
    now: number,
    act: () => Promise<readonly boolean[]>,
  ): Promise<readonly boolean[]> {
    const keyed = deliveries.filter(({ orderKeys }) => orderKeys.length > 0);
    if (keyed.length === 0) return act();
    const intent = this.#repairIntent(keyed, now, true);
    await this.#server.add([intent]).catch(() => {});
    return this.#leaveAfter(deliveries, intent, act);
  }

  /** Puts a dead letter that is delivered again at the end of its lines. */
  async rejoin(delivery: Keyed, now: number): Promise<void> {
    if (delivery.orderKeys.length === 0) return;
    await this.#server.add([this.#repairIntent([delivery], now)]);
    await this.#lines.join([inLine(delivery)]);
  }

  /** Finishes operations that others began. Repairs whose process was killed too are found every `recoverMs`. */
  async runRepairs(now: number, recoverMs: number): Promise<void> {
    await this.#intents.recover(recoverMs);
    for (let count = 0; count < REPAIRS_AT_ONCE; count++) {
      const token = `${this.#owner}-errand${this.#intentCount++}`;
      const [entry] = (await this.#intents.take([token], 2 * this.#afterMs)).taken.map((each) => each.entry);
      if (entry === undefined) return;
      const { of, isLeaving } = JSON.parse(entry.text) as RepairIntent; // written by #repairIntent only
      const areOver: boolean[] = [];
      for (const delivery of of) areOver.push(await this.#isOver(delivery, isLeaving));
      if (areOver.includes(false)) await this.#intents.delay(entry.id, token, now + this.#afterMs);
      else await this.#intents.complete(entry.id, token, { note: '', keepMs: 0 });
    }
  }

  /** False: the process that has begun the operation may still continue, and the intent stays. */
  async #isOver(delivery: Keyed, isLeaving: boolean): Promise<boolean> {
    const state = await this.#stateOf(delivery);
    if (isGone(state)) {
      await this.#leave([delivery]);
      // A slow process has added it just now, and it would stand in no line.
      if (state === undefined && !isGone(await this.#stateOf(delivery))) await this.#return([delivery]);
      return true;
    }
    if (isLeaving || state === 'active') return false;
    await this.#return([delivery]);
    if (state === 'delayed') await this.#call([delivery]);
    return true;
  }

  /** Puts deliveries into the lines that they are missing in: a repair took them out before they were added. */
  async #return(deliveries: readonly Keyed[]): Promise<void> {
    if (deliveries.length === 0) return;
    const lost = new Set(await this.#lines.lost(deliveries.map(inLine)));
    const returning = deliveries.filter(({ id }) => lost.has(id));
    if (returning.length === 0) return;
    await this.#lines.join(returning.map(inLine));
    // One that was settled in the meantime must not stand there forever.
    for (const delivery of returning) {
      if (isGone(await this.#stateOf(delivery))) await this.#leave([delivery]);
    }
  }

  async #leaveAfter(
    deliveries: readonly Keyed[],
    intent: NewEntry,
    act: () => Promise<readonly boolean[]>,
  ): Promise<readonly boolean[]> {
    const areGone = await act();
    await this.#leave(deliveries.filter((_, index) => areGone[index]));
    await this.#done(intent);
    return areGone;
  }

  async #leave(deliveries: readonly Keyed[]): Promise<void> {
    if (deliveries.length === 0) return;
    await this.#lines.leave(deliveries.map(inLine));
    const lanes = new Map(deliveries.flatMap((each) => linesOf(each).map((line) => [line, each] as const)));
    const firsts = await this.#lines.firsts([...lanes.keys()]);
    const next = new Map<string, Lane & { readonly id: string }>();
    for (const [index, { source, destination }] of [...lanes.values()].entries()) {
      const first = firsts[index];
      if (first !== undefined) next.set(first, { id: first, source, destination });
    }
    const found: Keyed[] = [];
    for (const [series, waiting] of this.#lanes.bySeries(next.values())) {
      const entries = await series.getAll(waiting.map(({ id }) => entryId(id)));
      // A delivery that is not added yet checks its lines when it is.
      for (const [index, lane] of waiting.entries()) {
        const entry = entries[index];
        if (entry !== undefined) found.push(keyedOf(entry, lane));
      }
    }
    // What is first in its only line need not be asked about again.
    await this.#promote(found.filter(({ orderKeys }) => orderKeys.length === 1));
    await this.#call(found.filter(({ orderKeys }) => orderKeys.length !== 1));
  }

  /** Promotes those that are first. One that is delayed for its retry is promoted too: the claim that takes it early delays it again. */
  async #call(deliveries: readonly Keyed[]): Promise<void> {
    if (deliveries.length === 0) return;
    const areFirst = await this.areFirst(deliveries);
    await this.#promote(deliveries.filter((_, index) => areFirst[index]));
  }

  async #promote(first: readonly Keyed[]): Promise<void> {
    for (const [series, some] of this.#lanes.bySeries(first)) {
      await series.promoteAll(some.map(({ id }) => entryId(id)));
    }
  }

  /** The deliveries that are not there yet. One that is there, but in no line, comes from an `add` that got no response. */
  async #unknown(keyed: readonly Delivery[]): Promise<readonly Delivery[]> {
    const entries = await Promise.all(
      keyed.map((delivery) => this.#lanes.series(delivery).get(entryId(delivery.id))),
    );
    const known = keyed.flatMap((delivery, index) => {
      const entry = entries[index];
      // The keys are those of the first `add`.
      return isWaiting(entry) ? keyedOf(entry, delivery) : [];
    });
    await this.#return(known);
    return keyed.filter((_, index) => entries[index] === undefined);
  }

  #stateOf({ id, source, destination }: Keyed): Promise<EntryState | undefined> {
    return this.#lanes.series({ source, destination }).stateOf(entryId(id));
  }

  #repairIntent(of: readonly Keyed[], now: number, isLeaving = false): NewEntry {
    const told = of.map(({ id, source, destination, orderKeys }) => ({ id, source, destination, orderKeys }));
    return {
      series: INTENTS,
      id: `e-${this.#owner}-${this.#intentCount++}`,
      name: 'errand',
      text: JSON.stringify({ of: told, isLeaving } satisfies RepairIntent),
      addedAt: now,
      dueAt: now + this.#afterMs,
    };
  }

  async #done(intent: NewEntry): Promise<void> {
    await this.#intents.remove(intent.id);
  }
}

export interface Entered {
  readonly keyed: readonly Delivery[];
  /** The ones that are not first in all of their lines. */
  readonly held: ReadonlySet<Delivery>;
  readonly entering: NewEntry;
  /** A repair intent to add with them, so that it is there for certain when they are. */
  readonly added: NewEntry;
}
