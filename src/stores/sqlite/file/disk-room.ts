import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { randomBytes } from 'node:crypto';

/** Room for the largest batch (500 KB), which is written twice: into the log, and then into the file. */
const LEAST_FREE_BYTES = 1024 * 1024;
/** Room for settlements before their deletions free some: pages of the file, and their copies in the log. */
const RESERVE_BYTES = 512 * 1024;
/** Free bytes below which settled deliveries are removed early. */
const SCARCE_BYTES = RESERVE_BYTES / 2;

/**
 * Tracks the room on the disk of a store. Rejects writes that add before the disk is full, so that existing deliveries can
 * still be settled. If other programs fill the disk completely, a reserve file beside the store is deleted.
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

  /** Whether room was short at the last check. */
  get wasShort(): boolean {
    return this.#wasShort;
  }

  /** Whether settled deliveries take the room that settling others needs, as of the last check. */
  get isScarce(): boolean {
    return this.#isScarce;
  }

  /** Whether adding more could fill the disk. Asks the file system and writes nothing. */
  isShort(): boolean {
    const bytes = freeBytes(this.#file);
    this.#isScarce = bytes < SCARCE_BYTES && !existsSync(this.#reserve);
    return (this.#wasShort = bytes < LEAST_FREE_BYTES + logBytes(this.#file));
  }

  /** Creates the reserve if it is missing and there is room. The next durable write reports a failing disk. */
  keepReserve(): void {
    if (this.isShort() || existsSync(this.#reserve)) return;
    try {
      this.#makeReserve();
    } catch (error) {
      // Another process may have created it first.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(this.#reserve, { force: true }); // of a file operation
    }
  }

  /** Deletes the reserve. Returns whether there was one. */
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
      // Random bytes, because a compressing file system would reserve nothing for others.
      writeSync(descriptor, randomBytes(RESERVE_BYTES));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
}

/** Returns the bytes that this user can write. Infinity if the file system does not tell. */
function freeBytes(file: string): number {
  try {
    const { bavail, bfree, bsize, blocks } = statfsSync(dirname(file));
    if (blocks === 0) return Infinity;
    return bsize * (process.getuid?.() === 0 ? bfree : bavail);
  } catch {
    return Infinity;
  }
}

/** Returns the bytes by which the file can still grow when the log is written into it. */
function logBytes(file: string): number {
  try {
    return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0; // the next write that must be stored reports what is wrong with the folder
  }
}
