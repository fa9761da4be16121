import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { randomBytes } from 'node:crypto';

/** The largest batch (500 KB) is written twice: into the log, and from there into the file. */
const LEAST_FREE_BYTES = 1024 * 1024;
/** What settling needs before what it deletes has made room: pages of the file, and their copies in the log. */
const RESERVE_BYTES = 512 * 1024;
/** How much room is left when what is settled begins to be forgotten. */
const SCARCE_BYTES = RESERVE_BYTES / 2;

/**
 * The room on the disk of a store. Writes that add are rejected before the disk is full, so that what is there can still be
 * delivered; for a disk that others have filled to the last byte there is a reserve, a file beside the store.
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

  /** Whether it was short when it was last looked at. */
  get wasShort(): boolean {
    return this.#wasShort;
  }

  /** Whether what is settled takes room that is needed to settle the rest: as it was when it was last looked at. */
  get isScarce(): boolean {
    return this.#isScarce;
  }

  /** Whether something that is added could fill the disk. Asks the file system and writes nothing. */
  isShort(): boolean {
    const bytes = freeBytes(this.#file);
    this.#isScarce = bytes < SCARCE_BYTES && !existsSync(this.#reserve);
    return (this.#wasShort = bytes < LEAST_FREE_BYTES + logBytes(this.#file));
  }

  /** Makes the reserve where there is none and room enough. A disk that fails is reported by the next write that must be stored. */
  keepReserve(): void {
    if (this.isShort() || existsSync(this.#reserve)) return;
    try {
      this.#makeReserve();
    } catch (error) {
      // Another process may have been faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(this.#reserve, { force: true }); // of a file operation
    }
  }

  /** False: there was none. */
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
      // Random, or a file system that compresses would keep nothing for it.
      writeSync(descriptor, randomBytes(RESERVE_BYTES));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
}

/** The free room for this user. Infinite where the file system does not tell. */
function freeBytes(file: string): number {
  try {
    const { bavail, bfree, bsize, blocks } = statfsSync(dirname(file));
    if (blocks === 0) return Infinity;
    return bsize * (process.getuid?.() === 0 ? bfree : bavail);
  } catch {
    return Infinity;
  }
}

/** How much the file may still have to grow when the log is written into it. */
function logBytes(file: string): number {
  try {
    return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  } catch {
    return 0; // the next write that must be stored reports what is wrong with the folder
  }
}
