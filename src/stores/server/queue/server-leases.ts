import type { Clock } from '../../../clock.ts';
import type { Claim, LaneId } from '../../../queue/queue.ts';
import type { EntryLock, Noted, TakenEntry } from '../server.ts';
import { bySeries, type ServerLanes } from './server-lanes.ts';
import { entryId, inLines, noteOf, toDelivery, type Note } from './server-record.ts';

interface ServerLeasesOptions {
  readonly lanes: ServerLanes;
  readonly clock: Clock;
  /** Maximum duration of a lock in ms, and thus how long a lock outlives a killed process. */
  readonly lockMs: number;
}

interface Lease {
  readonly claim: Claim;
  readonly endsAt: number;
}

const BEATS_PER_LOCK = 4;
/** Each beat finds at least this share of `lockMs` left of a lock, so it skips a lease that ends within that time. */
const COVERED = 1 / 2;

/** The claims that this process holds. Keeps extending their short locks, so that a killed process soon loses them. */
export class ServerLeases {
  readonly #options: ServerLeasesOptions;
  /** Leases by the token of their claim. */
  readonly #leases = new Map<string, Lease>();
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(options: ServerLeasesOptions) {
    this.#options = options;
  }

  /** The duration of the lock for a lease. The lock of a long lease is short, and is extended. */
  lockMs(leaseMs: number): number {
    return Math.min(leaseMs, this.#options.lockMs);
  }

  /** Extends the lock of a claim regularly for `leaseMs` from now. Replaces an earlier lease of the claim. */
  hold(claim: Claim, leaseMs: number): void {
    if (this.#isClosed || leaseMs <= this.#options.lockMs) return;
    this.#leases.set(claim.token, { claim, endsAt: this.#options.clock.now() + leaseMs });
    this.#beatLater();
  }

  release({ token }: Claim): void {
    this.#leases.delete(token);
  }

  close(): void {
    this.#isClosed = true;
    this.#leases.clear();
    this.#cancel?.();
  }

  #beatLater(): void {
    const { clock, lockMs } = this.#options;
    this.#cancel ??= clock.after(lockMs / BEATS_PER_LOCK, () => void this.#beat());
  }

  async #beat(): Promise<void> {
    const { lanes, clock, lockMs } = this.#options;
    const coveredUntil = clock.now() + lockMs * COVERED;
    const leases = [...this.#leases.values()];
    for (const { claim, endsAt } of leases) if (endsAt <= coveredUntil) this.release(claim);
    const claims = leases.map(({ claim }) => claim).filter(({ token }) => this.#leases.has(token));
    await bySeries(
      claims,
      ({ delivery }) => lanes.series(delivery),
      async (series, some) => {
        // A failed extension is ignored, because the next one is in time, or other processes claim the deliveries.
        const lost = new Set(await series.extend(some.map(lockOf), lockMs).catch(() => []));
        for (const claim of some) if (lost.has(entryId(claim.delivery.id))) this.release(claim);
        return [];
      },
    );
    this.#cancel = undefined;
    if (this.#leases.size > 0) this.#beatLater();
  }
}

/** Makes a claim. Its token also has the number of takes of the entry, which each note of the claim repeats. */
export function toClaim({ entry, token }: TakenEntry, lane: LaneId): Claim {
  // The progress of a claim does not include the round that this take begins.
  const delivery = toDelivery(entry, lane, entry.takes - 1);
  return { delivery, token: `${token}#${entry.takes}` };
}

/** The lock of a claim, and the note to write: the fields of the claimed delivery, changed by those in `changed`. */
export function notedLockOf(claim: Claim, changed: Partial<Note> = {}): EntryLock & Noted {
  const { delivery, token } = claim;
  const takes = Number(token.slice(token.lastIndexOf('#') + 1));
  return {
    ...lockOf(claim),
    note: noteOf({ progress: delivery.progress, takes, dueAt: delivery.dueAt, ...changed }),
  };
}

function lockOf({ delivery, token }: Claim): EntryLock {
  return { ...inLines(delivery), token: token.slice(0, token.lastIndexOf('#')) };
}
