import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { withDatabase, type Database } from './sqlite.ts';
import type { StoreFound } from './store.ts';

/** Layout of the write-ahead log: https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const BIG_ENDIAN_MAGIC = 0x377f0683;

/**
 * Returns the number of commits in the log that SQLite will ignore: all after the first frame with a wrong checksum, even
 * intact ones. Must be called before anything else opens the file, because the next write overwrites these commits. Returns
 * 0 if another process has the file open, because then the log is in use and nothing is cut.
 */
export async function cutCommits(file: string): Promise<number> {
  // A log to which another process writes can look damaged, too. An exclusive lock shows that there is no such process, but
  // delays the next process that opens the file. So the lock is tried only if the log looks damaged.
  if (damagedCommits(file) === 0) return 0;
  return withDatabase(file, { timeout: 0 }, (database) => (isAlone(database) ? damagedCommits(file) : 0));
}

/** Positions of 32-bit words in the index of a log: https://www.sqlite.org/walformat.html#the_wal_index_file_format */
const INDEX = { words: 25, pageBytes: 3, frames: 4, writtenBack: 24 } as const;

/**
 * Returns the number of lost pages: pages that were only in the log when the log was deleted or cut off. The index of the
 * log still counts them. Must be called before anything else opens the file.
 */
export function lostPages(file: string): number {
  const words = indexOf(file);
  const [frames = 0, writtenBack = 0] = [words[INDEX.frames], words[INDEX.writtenBack]];
  const present = countFrames(`${file}-wal`, pageBytesOf(words));
  const lost = frames - Math.max(writtenBack, present);
  // Lost pages count only if the index is unchanged: otherwise, another process may have written to the index and the log
  // since the index was read.
  return lost > 0 && indexOf(file).every((word, at) => word === words[at]) ? lost : 0;
}

/** Returns the words of the index (`-shm`) of the log, all 0 if it cannot be read. */
function indexOf(file: string): Uint32Array {
  const words = new Uint32Array(INDEX.words);
  try {
    withFile(`${file}-shm`, (fd) => readSync(fd, words, 0, words.byteLength, 0));
  } catch {
    words.fill(0);
  }
  return words;
}

/** Returns the page size: the upper half of a word of the index, in which 1 stands for 65,536. */
function pageBytesOf(words: Uint32Array): number {
  const size = (words[INDEX.pageBytes] ?? 0) >>> 16;
  return size === 1 ? 65_536 : size;
}

/** Returns the number of complete frames in the log. 0 for a missing log. */
function countFrames(log: string, pageBytes: number): number {
  try {
    const { size } = statSync(log);
    return Math.max(0, Math.floor((size - HEADER_BYTES) / (FRAME_HEADER_BYTES + pageBytes)));
  } catch {
    return 0;
  }
}

/** Returns a sentence about what the file had lost when it was opened. Undefined if it had lost nothing. */
export function lossText(found: Omit<StoreFound, 'isNew'>, file: string): string | undefined {
  if (found.wasEmpty) return `${file} had 0 bytes: a new queue was made in it`;
  if (found.lostPages > 0) {
    return `${found.lostPages} pages of recent changes are missing from the log of ${file}`;
  }
  if (found.cutCommits === 0) return undefined;
  const commits = found.cutCommits === 1 ? '1 commit' : `${found.cutCommits} commits`;
  return `${commits} cut: the log of ${file} is damaged, and the commits after the damage are lost`;
}

/** Whether no other process has the file open. In WAL mode, each process that has it open holds a shared lock. */
function isAlone(database: Database): boolean {
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    // Runs without a prepared statement, which would keep the lock after close() until it is garbage-collected.
    database.exec('SELECT count(*) FROM sqlite_schema');
    return true;
  } catch {
    return false;
  }
}

interface Frame {
  readonly salts: string;
  readonly isCommit: boolean;
  readonly isWhole: boolean;
}

/** Returns the number of commits in the log after its first damage. */
export function damagedCommits(file: string): number {
  const log = `${file}-wal`;
  if (countFrames(log, 0) === 0) return 0;
  let [isCut, cut] = [false, 0];
  const { salts, frames } = withFile(log, readLog);
  for (const frame of frames) {
    if (!frame.isWhole) isCut = true;
    if (isCut && frame.salts === salts && frame.isCommit) cut++;
  }
  return cut;
}

interface Log {
  /**
   * The salts of the current frames; frames with other salts are from before the log was restarted. Taken from the header,
   * which is written before the first frame: if the process was killed in between, all frames are old. If the header is
   * damaged, taken from the first frame. Undefined if the log is unreadable.
   */
  readonly salts: string | undefined;
  readonly frames: readonly Frame[];
}

/** Reads all frames of the log, and whether the checksum of each, which covers everything before it, is right. */
function readLog(fd: number): Log {
  const header = Buffer.alloc(HEADER_BYTES);
  readSync(fd, header, 0, HEADER_BYTES, 0);
  const isBigEndian = header.readUInt32BE(0) === BIG_ENDIAN_MAGIC;
  const pageBytes = header.readUInt32BE(8);
  const sum = new LogSum(isBigEndian);
  sum.add(header.subarray(0, 24));
  const isHeaderWhole = sum.isSaidAt(header, 24);
  if (!isPageSize(pageBytes)) return { salts: undefined, frames: [] };
  const headerSalts = header.toString('hex', 16, 24);
  const frames: Frame[] = [];
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + pageBytes);
  for (let at = HEADER_BYTES; readSync(fd, frame, 0, frame.length, at) === frame.length; at += frame.length) {
    sum.add(frame.subarray(0, 8));
    sum.add(frame.subarray(FRAME_HEADER_BYTES));
    const salts = frame.toString('hex', 8, 16);
    const isWhole = isHeaderWhole && salts === headerSalts && sum.isSaidAt(frame, 16);
    frames.push({ salts, isCommit: frame.readUInt32BE(4) !== 0, isWhole });
  }
  return { salts: isHeaderWhole ? headerSalts : frames[0]?.salts, frames };
}

function isPageSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0;
}

/** Computes the checksum of the log, which continues from frame to frame. */
class LogSum {
  readonly #isBigEndian: boolean;
  #first = 0;
  #second = 0;

  constructor(isBigEndian: boolean) {
    this.#isBigEndian = isBigEndian;
  }

  add(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += 8) {
      this.#first = (this.#first + this.#word(bytes, at) + this.#second) >>> 0;
      this.#second = (this.#second + this.#word(bytes, at + 4) + this.#first) >>> 0;
    }
  }

  isSaidAt(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.#first && bytes.readUInt32BE(at + 4) === this.#second;
  }

  #word(bytes: Buffer, at: number): number {
    return this.#isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
  }
}

function withFile<T>(path: string, use: (fd: number) => T): T {
  const fd = openSync(path, 'r');
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}
