import type { Clock } from '../../../clock.ts';
import type { Claim, LaneId } from '../../../queue/queue.ts';
import type { EntryLock, TakenEntry } from '../server.ts';
import { groupBySeries, type ServerLanes } from './server-lanes.ts';
import { inLines, takenToDelivery } from './server-record.ts';

export interface ServerLeasesOptions {
  readonly lanes: ServerLanes;
  readonly clock: Clock;
  /** How long a lock outlives its process. Ms. */
  readonly lockMs: number;
}

interface Lease {
  readonly claim: Claim;
  readonly endsAt: number;
}

const BEATS_PER_LOCK = 4;
/** The part of a lock that is certainly left at the next beat. A lease that ends within it is covered; it may last as much longer. */
const COVERED = 1 / 2;

/**
 * The claims that this process holds. A lease may be long; its lock on the server is short, and this extends it again and again
 * while the process lives and the lease lasts. So what a killed process held is soon free for others, on any host.
 */
export class ServerLeases {
  readonly #options: ServerLeasesOptions;
  /** By the token of the claim. */
  readonly #leases = new Map<string, Lease>();
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(options: ServerLeasesOptions) {
    this.#options = options;
  }

  /** How long to lock for a lease of that length. */
  lockMs(leaseMs: number): number {
    return Math.min(leaseMs, this.#options.lockMs);
  }

  /** Extends the lock of a claim until its lease ends; again for one whose lease was renewed. */
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
    this.#cancel ??= clock.after(lockMs / BEATS_PER_LOCK, () => void this.#beatAgain());
  }

  async #beatAgain(): Promise<void> {
    await this.#beat();
    this.#cancel = undefined;
    if (this.#leases.size > 0 && !this.#isClosed) this.#beatLater();
  }

  /** Never rejects: the next beat comes in time, or others take the deliveries of a process that has lost its server. */
  async #beat(): Promise<void> {
    const { lanes, clock, lockMs } = this.#options;
    const coveredUntil = clock.now() + lockMs * COVERED;
    for (const [token, { endsAt }] of this.#leases) {
      if (endsAt <= coveredUntil) this.#leases.delete(token);
    }
    const claims = [...this.#leases.values()].map(({ claim }) => claim);
    for (const [series, some] of groupBySeries(claims, ({ delivery }) => lanes.series(delivery))) {
      try {
        const lost = new Set(await series.extend(some.map(lockOf), lockMs));
        for (const claim of some) {
          if (lost.has(lockOf(claim).id)) this.release(claim);
        }
      } catch {
        // As said above.
      }
    }
  }
}

/** Its token is that of the lock, and how often the entry was taken: notes say which of its takes they know of. */
export function toClaim({ entry, token }: TakenEntry, lane: LaneId): Claim {
  return { delivery: takenToDelivery(entry, lane), token: `${token}#${entry.takes}` };
}

export function lockOf({ delivery, token }: Claim): EntryLock {
  const { id, lines } = inLines(delivery);
  return { id, lines, token: token.slice(0, token.lastIndexOf('#')) };
}

export function takesOf(token: string): number {
  return Number(token.slice(token.lastIndexOf('#') + 1));
}
