import { readSync, type BigIntStats } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { systemClock, type Clock } from '../../clock.ts';
import { InputError } from '../../errors.ts';
import { fileProblem } from '../../file-problem.ts';
import { openToRead } from '../../files.ts';

/** The file argument that stands for standard input. */
export const STDIN = '-';
/** Name of standard input in results and errors. */
export const STDIN_ORIGIN = '<stdin>';

/** An input that can be opened for reading: a file, a pipe or standard input. */
export interface Input {
  /** Name of the input as the user gave it; `<stdin>` for standard input. */
  readonly name: string;
  /** Identifies a regular file and its version. Absent for other inputs, which can be read only once. */
  readonly identity?: FileIdentity;
  /** Reads the bytes from the beginning. Throws when `signal` aborts. Can be called only once if `identity` is absent. */
  open(signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

export interface FileIdentity {
  /** Absolute path of the file, with symbolic links resolved. */
  readonly path: string;
  readonly bytes: number;
  /** Time when the file was last modified, in ns since the epoch. A string, because a number would lose digits. */
  readonly modifiedAtNs: string;
}

interface ReplayInputContext {
  readonly cwd: string;
  readonly stdin: Readable;
}

/**
 * Checks every file before reading any, so that a wrong name is reported before the first message is sent. Throws
 * InputError.
 */
export async function openInputs(
  files: readonly string[],
  { cwd, stdin }: ReplayInputContext,
): Promise<readonly Input[]> {
  const inputs: Input[] = [];
  for (const file of files) inputs.push(file === STDIN ? stdinInput(stdin) : await fileInput(file, cwd));
  return inputs;
}

function stdinInput(stdin: Readable): Input {
  return {
    name: STDIN_ORIGIN,
    open: (signal) => (signal === undefined ? stdin : addAbortSignal(signal, stdin)),
  };
}

async function fileInput(name: string, cwd: string): Promise<Input> {
  const path = resolve(cwd, name);
  const stats = await orUnreadable(name, path, stat(path, { bigint: true }));
  if (stats.isDirectory()) {
    throw new InputError('Expected a file, got a folder', {
      file: name,
      hint: `name its files: '${name.replace(/\/+$/, '')}/*.json'`,
    });
  }
  if (stats.isSocket() || stats.isBlockDevice()) {
    throw new InputError('Expected a file or a pipe, got neither', {
      file: name,
      hint: 'name a file, or - for standard input',
    });
  }
  // Does not open a named pipe to check it, because `open` would wait for a writer.
  if (!stats.isFile()) return { name, open: (signal) => openToRead(path, signal) };
  await orUnreadable(
    name,
    path,
    open(path).then((file) => file.close()),
  );
  return { name, identity: await identityOf(path, stats), open: (signal) => chunksOfFile(path, signal) };
}

function orUnreadable<T>(name: string, path: string, reading: Promise<T>): Promise<T> {
  return reading.catch((error: unknown) => {
    throw unreadableInput(name, error, path);
  });
}

async function identityOf(path: string, { size, mtimeNs }: BigIntStats): Promise<FileIdentity> {
  return { path: await realpath(path), bytes: Number(size), modifiedAtNs: String(mtimeNs) };
}

const REASONS: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  ENOENT: ['No such file', 'check the name and the current folder'],
  ENOTDIR: ['No such file: a part of its path is not a folder', 'check the name and the current folder'],
};

/** Errors and hints for missing files, by the prefix of their name: a URL, or a `~` that the shell did not expand. */
const FOREIGN_NAMES: readonly (readonly [start: string, message: string, hint: string])[] = [
  ...['https://', 'http://'].map(
    (start) => [start, 'Expected a file, got a URL', 'fetch it: curl -fsS URL | hooks replay -'] as const,
  ),
  ['s3://', 'Expected a file, got an S3 object', 'fetch it: aws s3 cp URL - | hooks replay -'],
  [
    'gs://',
    'Expected a file, got a Cloud Storage object',
    'fetch it: gcloud storage cat URL | hooks replay -',
  ],
  ['~', 'No such file: ~ was not replaced by the home folder', 'remove the quotes around ~, or write $HOME'],
];

function unreadableInput(file: string, cause: unknown, path: string): InputError {
  const { code } = cause as NodeJS.ErrnoException; // thrown by a file operation
  const { what, fix } = fileProblem(cause, path, 'read');
  const [, ...meant] =
    code === 'ENOENT' ? (FOREIGN_NAMES.find(([start]) => file.startsWith(start)) ?? []) : [];
  const [reason = '', hint] =
    meant.length > 0 ? meant : (REASONS[code ?? ''] ?? [`Cannot be read: ${what}`, fix]);
  return new InputError(reason, { file, hint, cause });
}

/** Bytes to read from a file at once. Smaller chunks need more calls, much larger ones more memory. */
const CHUNK_BYTES = 256 * 1024;

/** Duration of a synchronous read above which later reads run in a thread. A read from the page cache takes 0.05 ms. */
const SLOW_MS = 10;

/**
 * Yields the bytes of a regular file, each chunk in separate memory. Reads synchronously, because handing a chunk to a
 * thread and back costs as much as finding its lines. Reads in a thread after the first slow read (a slow disk, a network
 * drive). Throws when `signal` aborts, as a stream does.
 */
export async function* chunksOfFile(
  path: string,
  signal?: AbortSignal,
  clock: Pick<Clock, 'now'> = systemClock,
): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await open(path);
  let isSlow = false;
  try {
    for (;;) {
      // Lets Node handle signals, timers and responses between two synchronous reads.
      await setImmediate();
      signal?.throwIfAborted();
      const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      const began = clock.now();
      const bytes = isSlow ? (await file.read(chunk)).bytesRead : readSync(file.fd, chunk);
      isSlow ||= clock.now() - began > SLOW_MS;
      if (bytes === 0) return;
      yield chunk.subarray(0, bytes);
    }
  } finally {
    await file.close();
  }
}
