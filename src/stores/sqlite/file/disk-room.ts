import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { randomBytes } from 'node:crypto';

/**
 * Free bytes, besides room for the log, below which nothing is added. The largest batch (500 KB) is written twice: into the
 * log, and then into the file.
 */
const LEAST_FREE_BYTES = 1024 * 1024;
/**
 * Size of the reserve file: room for settlements on a full disk, until the old deliveries that each settlement removes have
 * freed enough. Settlements need pages of the file, and copies of these in the log.
 */
const RESERVE_BYTES = 512 * 1024;
/** Free bytes below which settled deliveries are removed before their retention is over. */
const SCARCE_BYTES = RESERVE_BYTES / 2;

/**
 * Tracks the room on the disk of a store. Before the disk is full, writes that add are rejected, so that existing deliveries
 * can still be settled. If other programs fill the disk completely, the reserve file beside the store is deleted.
 */
export class DiskRoom {
  readonly #file: string;
  readonly #reserve: string;
  #wasShort = false;
  #isScarce = false;

  constructor(file: string) {
    this.#file = file;
    this.#reserve = `${file}-reserve`;
  }

  /** Whether the last check found too little room for writes that add. */
  get wasShort(): boolean {
    return this.#wasShort;
  }

  /** Whether the last check found so little room that settled deliveries must be removed to settle others. */
  get isScarce(): boolean {
    return this.#isScarce;
  }

  /** Whether the disk has too little room for writes that add. Asks the file system, and writes nothing. */
  isShort(): boolean {
    const bytes = freeBytes(this.#file);
    this.#isScarce = bytes < SCARCE_BYTES && !existsSync(this.#reserve);
    return (this.#wasShort = bytes < LEAST_FREE_BYTES + logBytes(this.#file));
  }

  /**
   * Creates the reserve file if it is missing and there is room. Ignores errors: the next durable write reports a failing
   * disk.
   */
  keepReserve(): void {
    if (this.isShort() || existsSync(this.#reserve)) return;
    try {
      this.#makeReserve();
    } catch (error) {
      // EEXIST means that another process has created the reserve file first.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(this.#reserve, { force: true }); // of a file operation
    }
  }

  /** Deletes the reserve file. Returns whether there was one. */
  giveUpReserve(): boolean {
    const isThere = existsSync(this.#reserve);
    this.#wasShort = true;
    this.#isScarce = !isThere;
    rmSync(this.#reserve, { force: true });
    return isThere;
  }

  #makeReserve(): void {
    const descriptor = openSync(this.#reserve, 'wx', 0o600);
    try {
      // Random bytes, because a file system that compresses would reserve no room for compressible ones.
      writeSync(descriptor, randomBytes(RESERVE_BYTES));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
}

/** Returns the free bytes that this user may use. Infinity if the file system does not report them. */
function freeBytes(file: string): number {
  try {
    const { bavail, bfree, bsize, blocks } = statfsSync(dirname(file));
    if (blocks === 0) return Infinity;
    return bsize * (process.getuid?.() === 0 ? bfree : bavail);
  } catch {
    return Infinity;
  }
}

/** Returns the maximum number of bytes by which the file grows when the write-ahead log is written into it. */
function logBytes(file: string): number {
  try {
    return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0; // the next write that must be stored reports what is wrong with the folder
  }
}
