import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { ConnectOpts, SocketConstructorOpts } from 'node:net';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { InputError } from '../../../errors.ts';
import { openToRead } from '../../../files.ts';
import { interruptedCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { markStdin } from '../../stdin.ts';

/** A file's path; `-` or undefined is standard input. */
export type BodySource = string | undefined;

export function isStdin(source: BodySource): source is '-' | undefined {
  return source === undefined || source === '-';
}

/** Whether a body was read from a device such as /dev/null, which has none. */
export function isFromNullDevice(
  source: BodySource,
  { stdinFd, stdin }: Pick<Io, 'stdinFd' | 'stdin'>,
): boolean {
  if (!isStdin(source) || stdinFd === undefined) return false;
  return fstatSync(stdinFd).isCharacterDevice() && stdin.isTTY !== true;
}

const CHUNK_BYTES = 256 * 1024;
/** At most this much is read before the process looks at its signals again. */
const SIGNAL_CHECK_BYTES = 256 * CHUNK_BYTES;

/**
 * Hands over the bytes of a file or of standard input, piece by piece, in constant memory. A piece is only good until
 * `take` returns. Regular files are read synchronously into one buffer, which hashes as fast as openssl does.
 * Throws InputError when it cannot be read.
 */
export async function readBodyInput(
  source: BodySource,
  io: Io,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  if (isStdin(source)) markStdin(io, 'the body');
  try {
    await (isStdin(source) ? readStdin(io, take) : readFile(resolve(io.cwd, source), io, take));
  } catch (cause) {
    if (!isSystemError(cause)) throw cause;
    throw unreadableBody(source, cause);
  }
}

/** Reads the bytes as one piece. Throws InputError beyond `limitBytes`. */
export async function readWholeBody(source: BodySource, io: Io, limitBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  await readBodyInput(source, io, (chunk) => {
    bytes += chunk.length;
    if (bytes > limitBytes) throw bodyTooLarge(source, limitBytes);
    chunks.push(new Uint8Array(chunk));
  });
  return Buffer.concat(chunks);
}

async function readStdin(io: Io, take: (chunk: Uint8Array) => void): Promise<void> {
  // Its stream is not made where that is possible: making it takes longer than verifying most bodies.
  if (io.stdinFd !== undefined) {
    const stats = fstatSync(io.stdinFd);
    if (stats.isFile()) return readRegularFile(io.stdinFd, io, take);
    if (stats.isFIFO() || stats.isSocket()) return readPipe(io.stdinFd, io, take);
  }
  return readFromStream(io.stdin, io, take);
}

/** Reads a pipe into one buffer: a stream makes a new one for each 64 KiB, and 40 MB of them wait to be collected. */
function readPipe(fd: number, { signal }: Io, take: (chunk: Uint8Array) => void): Promise<void> {
  return new Promise((resolvePromise, reject) => {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    const onread = {
      buffer,
      callback: (count: number): boolean => {
        try {
          take(buffer.subarray(0, count));
        } catch (error) {
          socket.destroy(error instanceof Error ? error : new Error(String(error)));
        }
        return true;
      },
    };
    // `onread` is an option of every Socket; Node's types know it for those that connect only.
    const options: SocketConstructorOpts & ConnectOpts = {
      fd,
      readable: true,
      writable: false,
      onread,
      signal,
    };
    const { Socket } = process.getBuiltinModule('node:net');
    const socket = new Socket(options);
    socket.once('error', reject);
    socket.once('end', resolvePromise);
    socket.resume();
  });
}

async function readFile(path: string, io: Io, take: (chunk: Uint8Array) => void): Promise<void> {
  if (!statSync(path).isFile()) return readFromStream(openToRead(path), io, take);
  const fd = openSync(path, 'r');
  try {
    return await readRegularFile(fd, io, take);
  } finally {
    closeSync(fd);
  }
}

async function readRegularFile(fd: number, io: Io, take: (chunk: Uint8Array) => void): Promise<void> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let sinceCheck = 0;
  for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer)) {
    take(buffer.subarray(0, count));
    sinceCheck += count;
    if (sinceCheck < SIGNAL_CHECK_BYTES) continue;
    sinceCheck = 0;
    await process.getBuiltinModule('node:timers/promises').setImmediate();
    if (interruptedCode(io) !== undefined) io.signal.throwIfAborted();
  }
}

async function readFromStream(
  stream: Readable,
  { signal }: Io,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  const { addAbortSignal } = process.getBuiltinModule('node:stream');
  for await (const chunk of addAbortSignal(signal, stream)) take(chunk as Uint8Array); // without an encoding chunks are bytes
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

function unreadableBody(source: BodySource, cause: NodeJS.ErrnoException): InputError {
  const name = isStdin(source) ? 'standard input' : source;
  const why = { ENOENT: 'there is no such file', EISDIR: 'it is a folder', EACCES: 'it may not be read' };
  const reason = why[cause.code as keyof typeof why] as string | undefined; // any code may come, three have a reason
  return new InputError(`Cannot read ${name}: ${reason ?? cause.message}`, {
    hint: 'give the path of a file, or the bytes on standard input: < body.json',
    cause,
  });
}

function bodyTooLarge(source: BodySource, limitBytes: number): InputError {
  const name = isStdin(source) ? 'Standard input' : source;
  return new InputError(`${name} is larger than ${limitBytes} bytes`, {
    hint: 'sign or verify the bytes as they are: only that works at any size',
  });
}
