import { randomBytes } from 'node:crypto';
import type { Entry, Lines, NewEntry, Series, Server } from '../store/server/server.ts';
import type { Delivery, NewDelivery } from './delivery.ts';
import type { Lane } from './queue.ts';
import type { ServerLanes } from './server-lanes.ts';
import { deliveryId, entryId, HELD_UNTIL, orderKeysOf } from './server-record.ts';

/** What one process has begun and another finishes when it was killed in between. */
const ERRANDS = 'hooks-errands';
/** Longer than whoever has begun it takes, or is given to. */
export const ERRAND_AFTER_MS = 15_000;
const ERRAND_LOCK_MS = 30_000;
const ERRANDS_AT_ONCE = 100;

interface Errand {
  readonly lane: Lane;
  /** Of the delivery. */
  readonly id: string;
  readonly keys: readonly string[];
}

type Keyed = Pick<Delivery, 'id' | 'source' | 'destination' | 'orderKeys'>;

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
    const errands = keyed.map((delivery) => this.#errand(delivery, now));
    await this.#server.add(errands);
    await this.#lines.join(keyed.map((delivery) => ({ id: delivery.id, keys: linesOf(delivery) })));
    const held = new Set<NewDelivery>();
    for (const delivery of keyed) if (!(await this.isFirst(delivery))) held.add(delivery);
    return { held, errands };
  }

  /** Once they are added: who was before them may have left meanwhile. */
  async entered({ held, errands }: Entered): Promise<void> {
    for (const delivery of held) await this.#callIfFirst(delivery);
    await this.#done(errands);
  }

  async isFirst(delivery: Keyed): Promise<boolean> {
    const firsts = await this.#lines.firsts(linesOf(delivery));
    return firsts.every((first) => first === undefined || first === delivery.id);
  }

  /** Puts off one that was taken out of its turn. */
  async hold(delivery: Keyed, token: string): Promise<void> {
    await this.#lanes.series(delivery).delay(entryId(delivery.id), token, HELD_UNTIL);
    await this.#callIfFirst(delivery);
  }

  /** Does what settles or removes it, and calls who waited for it if that is done. */
  async leaving(delivery: Keyed, now: number, act: () => Promise<boolean>): Promise<boolean> {
    if (delivery.orderKeys.length === 0) return act();
    const errand = this.#errand(delivery, now);
    await this.#server.add([errand]);
    const isDone = await act();
    if (isDone) await this.#leave(delivery);
    await this.#done([errand]);
    return isDone;
  }

  /** At the end of its lines again, for a dead letter that is delivered again. */
  async rejoin(delivery: Keyed, now: number): Promise<void> {
    if (delivery.orderKeys.length === 0) return;
    await this.#server.add([this.#errand(delivery, now)]);
    await this.#lines.join([{ id: delivery.id, keys: linesOf(delivery) }]);
  }

  /** Finishes what others have begun. */
  async runErrands(): Promise<void> {
    for (let count = 0; count < ERRANDS_AT_ONCE; count++) {
      const token = `${this.#owner}-errand${this.#errandCount++}`;
      const { entry } = await this.#errands.take(token, ERRAND_LOCK_MS);
      if (entry === undefined) return;
      await this.#run(JSON.parse(entry.text) as Errand); // written by #errand only
      await this.#errands.complete(entry.id, token, { note: '', keepMs: 0 });
    }
  }

  async #run({ lane, id, keys }: Errand): Promise<void> {
    const delivery = { ...lane, id, orderKeys: keys };
    const state = await this.#lanes.series(lane).stateOf(entryId(id));
    const isGone = state === undefined || state === 'completed' || state === 'failed';
    if (isGone) await this.#leave(delivery);
    else if (state === 'delayed') await this.#callIfFirst(delivery);
  }

  async #leave(delivery: Keyed): Promise<void> {
    const lines = linesOf(delivery);
    await this.#lines.leave({ id: delivery.id, keys: lines });
    const next = new Set((await this.#lines.firsts(lines)).filter((id) => id !== undefined));
    for (const id of next) {
      const entry = await this.#lanes.series(delivery).get(entryId(id));
      // Who is not there yet looks for itself when it is.
      if (entry !== undefined) await this.#callIfFirst(keyedOf(entry, delivery));
    }
  }

  /** One that is put off for its retry would be called too: who takes it early puts it off again. */
  async #callIfFirst(delivery: Keyed): Promise<void> {
    if (await this.isFirst(delivery)) await this.#lanes.series(delivery).promote(entryId(delivery.id));
  }

  async #unknown(keyed: readonly NewDelivery[]): Promise<readonly NewDelivery[]> {
    const byId = new Map(keyed.toReversed().map((delivery) => [delivery.id, delivery]));
    const entries = await Promise.all(
      keyed.map((delivery) => this.#lanes.series(delivery).get(entryId(delivery.id))),
    );
    return keyed.filter(
      (delivery, index) => entries[index] === undefined && byId.get(delivery.id) === delivery,
    );
  }

  #errand({ source, destination, id, orderKeys }: Keyed, now: number): NewEntry {
    const text: Errand = { lane: { source, destination }, id, keys: orderKeys };
    return {
      series: ERRANDS,
      id: `e-${this.#owner}-${this.#errandCount++}`,
      name: 'errand',
      text: JSON.stringify(text),
      addedAt: now,
      dueAt: now + this.#afterMs,
    };
  }

  async #done(errands: readonly NewEntry[]): Promise<void> {
    await Promise.all(errands.map(({ id }) => this.#errands.remove(id)));
  }
}

export interface Entered {
  /** Those that are not first in all of their lines. */
  readonly held: ReadonlySet<NewDelivery>;
  readonly errands: readonly NewEntry[];
}

function isKeyed({ orderKeys, dead }: NewDelivery): boolean {
  return orderKeys.length > 0 && dead === undefined;
}

function keyedOf(entry: Entry, { source, destination }: Lane): Keyed {
  return { id: deliveryId(entry.id), source, destination, orderKeys: orderKeysOf(entry) };
}

function linesOf({ source, destination, orderKeys }: Keyed): readonly string[] {
  return orderKeys.map((key) => JSON.stringify([source, destination, key]));
}
