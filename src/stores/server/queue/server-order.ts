import { randomBytes } from 'node:crypto';
import type { EntryState, Lines, NewEntry, Series, Server } from '../server.ts';
import type { NewDelivery } from '../../../queue/delivery.ts';
import type { Lane } from '../../../queue/queue.ts';
import { inLine, isGone, isKeyed, isWaiting, keyedOf, linesOf, type Keyed } from './server-keyed.ts';
import type { ServerLanes } from './server-lanes.ts';
import { entryId, HELD_UNTIL } from './server-record.ts';

/** What one process has begun and another finishes when it was killed in between. */
const ERRANDS = 'hooks-errands';
/** Longer than whoever has begun it takes, or is given to. */
export const ERRAND_AFTER_MS = 15_000;
const ERRANDS_AT_ONCE = 100;

interface Errand {
  readonly of: readonly Keyed[];
  /** It is not finished before they are gone. */
  readonly isLeaving: boolean;
}

/**
 * Deliveries that wait for earlier ones of their order keys. BullMQ has nothing for it: each key has a line of ids beside
 * it, and who is not first in all of its lines is put off without a date, and called by whoever leaves before it. Lines and
 * deliveries are not written together: what is begun is noted as an errand first, which others run when it was not finished.
 */
export class ServerOrder {
  readonly #server: Server;
  readonly #lanes: ServerLanes;
  readonly #lines: Lines;
  readonly #errands: Series;
  readonly #afterMs: number;
  readonly #owner = randomBytes(9).toString('base64url');
  #errandCount = 0;

  constructor(server: Server, lanes: ServerLanes, afterMs = ERRAND_AFTER_MS) {
    this.#server = server;
    this.#lanes = lanes;
    this.#lines = server.lines;
    this.#errands = server.series(ERRANDS);
    this.#afterMs = afterMs;
  }

  /** Puts deliveries that are about to be added into their lines. Undefined: none of them has an order key. */
  async enter(deliveries: readonly NewDelivery[], now: number): Promise<Entered | undefined> {
    const keyed = await this.#unknown(deliveries.filter(isKeyed));
    if (keyed.length === 0) return undefined;
    const entering = this.#errand(keyed, now);
    await this.#server.add([entering]);
    await this.#lines.join(keyed.map(inLine));
    const areFirst = await this.areFirst(keyed);
    const held = new Set(keyed.filter((_, index) => areFirst[index] === false));
    return { keyed, held, entering, added: this.#errand(keyed, now) };
  }

  /** Once they are added, and `added` with them: who was before them may have left, and others may have run our errand. */
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

  /** Puts off one that was taken out of its turn. */
  async hold(delivery: Keyed, token: string, now: number): Promise<void> {
    const errand = this.#errand([delivery], now);
    await this.#server.add([errand]);
    await this.#lanes.series(delivery).delay(entryId(delivery.id), token, HELD_UNTIL);
    await this.#return([delivery]);
    await this.#call([delivery]);
    await this.#done(errand);
  }

  /** Does what settles it, and calls who waited for it if that is done. */
  async leaving(delivery: Keyed, now: number, act: () => Promise<boolean>): Promise<boolean> {
    if (delivery.orderKeys.length === 0) return act();
    const errand = this.#errand([delivery], now, true);
    await this.#server.add([errand]);
    const [isDone = false] = await this.#leaveAfter([delivery], errand, async () => [await act()]);
    return isDone;
  }

  /**
   * Does what removes them, and calls who waited for those that it removed. A server whose memory is full takes no errand,
   * and is emptied all the same: there, who waited stays put off if this process is killed in between.
   */
  async removing(
    deliveries: readonly Keyed[],
    now: number,
    act: () => Promise<readonly boolean[]>,
  ): Promise<readonly boolean[]> {
    const keyed = deliveries.filter(({ orderKeys }) => orderKeys.length > 0);
    if (keyed.length === 0) return act();
    const errand = this.#errand(keyed, now, true);
    await this.#server.add([errand]).catch(() => {});
    return this.#leaveAfter(deliveries, errand, act);
  }

  /** At the end of its lines again, for a dead letter that is delivered again. */
  async rejoin(delivery: Keyed, now: number): Promise<void> {
    if (delivery.orderKeys.length === 0) return;
    await this.#server.add([this.#errand([delivery], now)]);
    await this.#lines.join([inLine(delivery)]);
  }

  /** Finishes what others have begun, and what others of those have who were killed: looked for every `recoverMs`. */
  async runErrands(now: number, recoverMs: number): Promise<void> {
    await this.#errands.recover(recoverMs);
    for (let count = 0; count < ERRANDS_AT_ONCE; count++) {
      const token = `${this.#owner}-errand${this.#errandCount++}`;
      const { entry } = await this.#errands.take(token, 2 * this.#afterMs);
      if (entry === undefined) return;
      const { of, isLeaving } = JSON.parse(entry.text) as Errand; // written by #errand only
      const areOver: boolean[] = [];
      for (const delivery of of) areOver.push(await this.#isOver(delivery, isLeaving));
      if (areOver.includes(false)) await this.#errands.delay(entry.id, token, now + this.#afterMs);
      else await this.#errands.complete(entry.id, token, { note: '', keepMs: 0 });
    }
  }

  /** False: whoever has begun it may still go on, and the errand is not over. */
  async #isOver(delivery: Keyed, isLeaving: boolean): Promise<boolean> {
    const state = await this.#stateOf(delivery);
    if (isGone(state)) {
      await this.#leave([delivery]);
      // Who was slow to add it has added it now, and would wait in no line.
      if (state === undefined && !isGone(await this.#stateOf(delivery))) await this.#return([delivery]);
      return true;
    }
    if (isLeaving || state === 'active') return false;
    await this.#return([delivery]);
    if (state === 'delayed') await this.#call([delivery]);
    return true;
  }

  /** Into the lines that they are not in, though they wait: an errand took them out before they were there. */
  async #return(deliveries: readonly Keyed[]): Promise<void> {
    if (deliveries.length === 0) return;
    const lost = new Set(await this.#lines.lost(deliveries.map(inLine)));
    const returning = deliveries.filter(({ id }) => lost.has(id));
    if (returning.length === 0) return;
    await this.#lines.join(returning.map(inLine));
    // One that was settled meanwhile is not to stand there for ever.
    for (const delivery of returning)
      if (isGone(await this.#stateOf(delivery))) await this.#leave([delivery]);
  }

  async #leaveAfter(
    deliveries: readonly Keyed[],
    errand: NewEntry,
    act: () => Promise<readonly boolean[]>,
  ): Promise<readonly boolean[]> {
    const areGone = await act();
    await this.#leave(deliveries.filter((_, index) => areGone[index]));
    await this.#done(errand);
    return areGone;
  }

  async #leave(deliveries: readonly Keyed[]): Promise<void> {
    if (deliveries.length === 0) return;
    await this.#lines.leave(deliveries.map(inLine));
    const lanes = new Map(deliveries.flatMap((each) => linesOf(each).map((line) => [line, each] as const)));
    const firsts = await this.#lines.firsts([...lanes.keys()]);
    const next = new Map<string, Lane>();
    for (const [index, lane] of [...lanes.values()].entries()) {
      const first = firsts[index];
      if (first !== undefined) next.set(first, lane);
    }
    const entries = await Promise.all(
      [...next].map(([id, lane]) => this.#lanes.series(lane).get(entryId(id))),
    );
    // Who is not there yet looks for itself when it is.
    await this.#call(
      [...next.values()].flatMap((lane, index) => {
        const entry = entries[index];
        return entry === undefined ? [] : keyedOf(entry, lane);
      }),
    );
  }

  /** Those that are first. One that is put off for its retry is called too: who takes it early puts it off again. */
  async #call(deliveries: readonly Keyed[]): Promise<void> {
    if (deliveries.length === 0) return;
    const areFirst = await this.areFirst(deliveries);
    const first = deliveries.filter((_, index) => areFirst[index]);
    await Promise.all(first.map((delivery) => this.#lanes.series(delivery).promote(entryId(delivery.id))));
  }

  /** Those that are not there yet. One that is, but in no line, is what was begun by an add that did not hear of its end. */
  async #unknown(keyed: readonly NewDelivery[]): Promise<readonly NewDelivery[]> {
    const entries = await Promise.all(
      keyed.map((delivery) => this.#lanes.series(delivery).get(entryId(delivery.id))),
    );
    const known = keyed.flatMap((delivery, index) => {
      const entry = entries[index];
      // As it was added first: its keys are those.
      return isWaiting(entry) ? keyedOf(entry, delivery) : [];
    });
    await this.#return(known);
    return keyed.filter((_, index) => entries[index] === undefined);
  }

  #stateOf({ id, source, destination }: Keyed): Promise<EntryState | undefined> {
    return this.#lanes.series({ source, destination }).stateOf(entryId(id));
  }

  #errand(of: readonly Keyed[], now: number, isLeaving = false): NewEntry {
    const told = of.map(({ id, source, destination, orderKeys }) => ({ id, source, destination, orderKeys }));
    return {
      series: ERRANDS,
      id: `e-${this.#owner}-${this.#errandCount++}`,
      name: 'errand',
      text: JSON.stringify({ of: told, isLeaving } satisfies Errand),
      addedAt: now,
      dueAt: now + this.#afterMs,
    };
  }

  async #done(errand: NewEntry): Promise<void> {
    await this.#errands.remove(errand.id);
  }
}

export interface Entered {
  readonly keyed: readonly NewDelivery[];
  /** Those of them that are not first in all of their lines. */
  readonly held: ReadonlySet<NewDelivery>;
  readonly entering: NewEntry;
  /** An errand to be added with them, so that it is there for certain when they are. */
  readonly added: NewEntry;
}
