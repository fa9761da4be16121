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
/** 16 s: longer than a busy process is silent. Then other processes take its claims, and its tokens are invalid when it continues. */
const SILENT_BEATS = 8;

/**
 * Registers this process among those that deliver from one file, and releases the claims of dead ones. Each process
 * increments a counter with every beat; if the counter of another stands still for SILENT_BEATS beats of this process, that
 * process is dead. No wall clock is used, so setting a clock steals no claim, nor does the first process that wakes up after
 * a suspension. A claim ends soon after its owner.
 */
export class Owner {
  readonly id = randomBytes(9).toString('base64url');
  readonly #store: Store;
  readonly #clock: Clock;
  /** The counters of the other processes, and how many beats of this process each has stood still. */
  readonly #seen = new Map<string, { readonly beats: number; readonly still: number }>();
  #beats = 0;
  #cancelBeat: (() => void) | undefined;
  #isClosed = false;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Registers this process in every transaction that claims, because another process may have removed it as dead. Its old
   * tokens stay invalid.
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

  /** Leaves open claims until another process notices that this one has ended. */
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
      // Mostly a full disk. Other processes notice that the beats stop.
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
      // The write also makes the disk store everything that was settled since the last beat.
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
      // Claims meet the same error and report it. The next beat tries again.
    }
    if (!this.#isClosed) this.#scheduleBeat();
  }

  /** Continues from the latest recorded time if the wall clock was set back, so that deliveries do not wait longer. */
  #catchUp(sql: Sql): void {
    const now = this.#clock.now();
    const latest = sql(`SELECT at FROM latest_time WHERE at > ?1 AND (${IS_DUE_LATER} OR ${ARE_OTHERS})`);
    const at = latest.get(now, this.id)?.['at'];
    if (typeof at === 'number') this.#clock.reach(at);
  }

  #noteTime(sql: Sql): void {
    sql('INSERT OR REPLACE INTO latest_time VALUES (1, ?)').run(Math.floor(this.#clock.now()));
  }

  /** Releases the claims of dead owners. */
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

/** Returns the processes that deliver from the file: those of this machine that run, and others with a recent beat. */
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

/** Whether ended processes of this machine have open claims. */
export function hasGoneOwners(sql: Sql): boolean {
  return goneOwners(sql).length > 0;
}

/** Releases the claims of ended processes, for a process that does not deliver and therefore counts no beats. */
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

/** Ends claims. Their deliveries are due as before, with the progress of the last renewal. */
export function giveBack(sql: Sql, claims: readonly Row[]): void {
  for (const { seq, lane, due_at: dueAt, progress } of claims) {
    const place = { seq: Number(seq), lane: Number(lane), dueAt: Number(dueAt) };
    const renewed = readStoredJson<Progress | undefined>(progress, undefined);
    if (renewed) writeProgress(sql, place, { ...NO_PROGRESS, ...renewed }, OPEN);
    sql('DELETE FROM claims WHERE seq = ?').run(place.seq);
  }
}

/** Identifies the PID namespace: boot id plus PID namespace. Only within it does a process id identify a process. */
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
