import type { Clock } from '../../../clock.ts';
import type { Claim, LaneId } from '../../../queue/queue.ts';
import type { EntryLock, TakenEntry } from '../server.ts';
import { groupBySeries, type ServerLanes } from './server-lanes.ts';
import { inLines, takenToDelivery } from './server-record.ts';

export interface ServerLeasesOptions {
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
/**
 * Share of a lock that certainly remains when locks are extended next. A lock is not extended beyond the end of its lease:
 * if the lease ends within this share, the lock already lasts until then.
 */
const COVERED = 1 / 2;

/**
 * The claims that this process holds. A lease may be long, but its lock on the server is short, and this
 * class extends it while the process lives and the lease lasts. So the deliveries of a killed process are
 * soon free for others, on any host.
 */
export class ServerLeases {
  readonly #options: ServerLeasesOptions;
  /** Leases by the token of their claim. */
  readonly #leases = new Map<string, Lease>();
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(options: ServerLeasesOptions) {
    this.#options = options;
  }

  /** Duration of the lock for a lease of `leaseMs`: a long lease gets a short lock, which is extended. */
  lockMs(leaseMs: number): number {
    return Math.min(leaseMs, this.#options.lockMs);
  }

  /** Extends the lock of a claim regularly until its lease ends. Called again when the lease is renewed. */
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

  /**
   * Extends the locks of all claims. Never rejects, because either the next beat extends them in time, or other processes
   * take the deliveries.
   */
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
        // A failed extension of locks is ignored, because the next beat tries again.
      }
    }
  }
}

/** Makes a claim. Its token consists of the token of the lock and the number of takes, because notes store that number. */
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
