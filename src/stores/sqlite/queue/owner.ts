import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Clock } from '../../../clock.ts';
import { isProcessGone } from '../../../files.ts';
import type { Row } from '../file/sqlite.ts';
import type { Sql, Store } from '../file/store.ts';
import { NO_PROGRESS, type Progress } from '../../../queue/delivery.ts';
import { OPEN, readStoredJson, writeProgress } from './sqlite-rows.ts';

const BEAT_MS = 2_000;
/**
 * Number of beats (16 s) after which a silent process counts as dead: longer than a busy process is silent. Other processes
 * then take the claims of the silent process, and its tokens become invalid.
 */
const SILENT_BEATS = 8;

/**
 * Registers this process among those that deliver from one file, and releases the claims of dead processes. Each process
 * increments a counter with every beat. If the counter of another process stands still for SILENT_BEATS beats of this
 * process, that process is dead. No wall clock is used, so changing a clock does not steal claims, and neither does the
 * process that is the first to wake up after a suspension. The claims of a process end soon after it has ended.
 */
export class Owner {
  readonly id = randomBytes(9).toString('base64url');
  readonly #store: Store;
  readonly #clock: Clock;
  /** The other processes: the last counter of each, and for how many beats of this process the counter has stood still. */
  readonly #seen = new Map<string, { readonly beats: number; readonly still: number }>();
  #beats = 0;
  #cancelBeat: (() => void) | undefined;
  #isClosed = false;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Registers this process. Called in every transaction that claims, because another process may have removed this one as
   * dead. Tokens of claims from before such a removal stay invalid.
   */
  enter(sql: Sql): void {
    if (this.#cancelBeat === undefined) this.#start(sql);
    const now = Math.floor(this.#clock.now());
    sql('INSERT OR IGNORE INTO owners VALUES (?, ?, ?, ?, ?)').run(
      this.id,
      HOST,
      process.pid,
      this.#beats,
      now,
    );
  }

  /** Stops the beats of this process. Its open claims stay until another process notices that this one has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#cancelBeat === undefined) return;
    this.#cancelBeat();
    try {
      await this.#store.write((sql) => {
        this.#noteTime(sql);
        sql('DELETE FROM owners WHERE owner = ?1 AND NOT EXISTS (SELECT 1 FROM claims WHERE owner = ?1)').run(
          this.id,
        );
      });
    } catch {
      // A failure to unregister this process is ignored: mostly the disk is full, and others notice that its beats have
      // stopped.
    }
  }

  #start(sql: Sql): void {
    this.#releaseDead(sql);
    this.#catchUp(sql);
    this.#noteTime(sql);
    this.#store.room.keepReserve();
    this.#scheduleBeat();
  }

  #scheduleBeat(): void {
    this.#cancelBeat = this.#clock.after(BEAT_MS, () => void this.#beat());
  }

  async #beat(): Promise<void> {
    this.#store.room.keepReserve();
    try {
      // A write that survives a power cut. It makes the disk store all settlements since the last beat, too.
      await this.#store.write((sql) => {
        this.#beats++;
        this.#noteTime(sql);
        sql('UPDATE owners SET beats = ?, beat_at = ? WHERE owner = ?').run(
          this.#beats,
          Math.floor(this.#clock.now()),
          this.id,
        );
        this.#releaseDead(sql);
      });
    } catch {
      // A failed beat is ignored, because claims fail with the same error and report it. The next beat tries again.
    }
    if (!this.#isClosed) this.#scheduleBeat();
  }

  /** Sets the clock to the latest time in the file if the wall clock was set back, so that deliveries do not wait longer. */
  #catchUp(sql: Sql): void {
    const now = this.#clock.now();
    const latest = sql(`SELECT at FROM latest_time WHERE at > ?1 AND (${IS_DUE_LATER} OR ${ARE_OTHERS})`);
    const at = latest.get(now, this.id)?.['at'];
    if (typeof at === 'number') this.#clock.reach(at);
  }

  #noteTime(sql: Sql): void {
    sql('INSERT OR REPLACE INTO latest_time VALUES (1, ?)').run(Math.floor(this.#clock.now()));
  }

  /** Releases the claims of processes that are dead. */
  #releaseDead(sql: Sql): void {
    for (const row of sql('SELECT owner, host, pid, beats FROM owners WHERE owner <> ?').all(this.id)) {
      if (!this.#isDead(row)) continue;
      const owner = String(row['owner']);
      release(sql, owner);
      this.#seen.delete(owner);
    }
  }

  #isDead(row: Row): boolean {
    if (isGoneHere(row)) return true;
    const [owner, beats] = [String(row['owner']), Number(row['beats'])];
    const seen = this.#seen.get(owner);
    const still = seen?.beats === beats ? seen.still + 1 : 0;
    this.#seen.set(owner, { beats, still });
    return still >= SILENT_BEATS;
  }
}

const ARE_OTHERS = 'EXISTS (SELECT 1 FROM owners WHERE owner <> ?2)';
const IS_DUE_LATER =
  'EXISTS (SELECT 1 FROM lanes l WHERE EXISTS (SELECT 1 FROM waiting w WHERE w.lane = l.lane AND w.due_at > ?1))';

/**
 * Returns the processes that deliver from the file: those of this machine that still run, and those of other machines with a
 * recent beat.
 */
export function livingOwners(
  sql: Sql,
  now: number,
): readonly { readonly pid: number; readonly isHere: boolean }[] {
  return sql('SELECT host, pid, beat_at FROM owners')
    .all()
    .map((row) => ({
      pid: Number(row['pid']),
      isHere: row['host'] === HOST,
      beatAt: Number(row['beat_at']),
    }))
    .filter(({ pid, isHere, beatAt }) =>
      isHere ? !isProcessGone(pid) : now - beatAt < SILENT_BEATS * BEAT_MS,
    );
}

/** Whether processes of this machine that have ended are still registered. */
export function hasGoneOwners(sql: Sql): boolean {
  return goneOwners(sql).length > 0;
}

/**
 * Releases the claims of processes of this machine that have ended. For a process that does not deliver, and so does not
 * count beats.
 */
export function releaseGoneOwners(sql: Sql): void {
  for (const owner of goneOwners(sql)) release(sql, owner);
}

function goneOwners(sql: Sql): readonly string[] {
  const rows = sql('SELECT owner, host, pid FROM owners').all();
  return rows.filter(isGoneHere).map(({ owner }) => String(owner));
}

function release(sql: Sql, owner: string): void {
  giveBack(sql, sql('SELECT * FROM claims WHERE owner = ?').all(owner));
  sql('DELETE FROM owners WHERE owner = ?').run(owner);
}

/**
 * Ends claims without a settlement. Their deliveries are due as before, with the progress that the claim or its last renewal
 * stored.
 */
export function giveBack(sql: Sql, claims: readonly Row[]): void {
  for (const { seq, lane, due_at: dueAt, progress } of claims) {
    const place = { seq: Number(seq), lane: Number(lane), dueAt: Number(dueAt) };
    const renewed = readStoredJson<Progress | undefined>(progress, undefined);
    if (renewed) writeProgress(sql, place, { ...NO_PROGRESS, ...renewed }, OPEN);
    sql('DELETE FROM claims WHERE seq = ?').run(place.seq);
  }
}

/** Identifies the PID namespace in which process ids of this process are valid: boot id plus PID namespace. */
const HOST = hostId();

function hostId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

function isGoneHere({ host, pid }: Row): boolean {
  return host === HOST && isProcessGone(Number(pid));
}

/** Returns the seq of the delivery, with which the token of a claim begins. */
export function seqOf(token: string): number {
  return Number.parseInt(token, 10);
}
