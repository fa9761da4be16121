import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { ConnectOpts, SocketConstructorOpts } from 'node:net';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { InputError } from '../../../errors.ts';
import { unreadableReason } from '../../../file-problem.ts';
import { openToRead } from '../../../files.ts';
import { interruptedCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { markStdin } from '../../stdin.ts';

/** The path of a file; `-` or undefined for standard input. */
export type BodySource = string | undefined;

export function isStdin(source: BodySource): source is '-' | undefined {
  return source === undefined || source === '-';
}

/** Whether the body is read from a device such as /dev/null, which contains nothing. */
export function isFromNullDevice(
  source: BodySource,
  { stdinFd, stdin }: Pick<Io, 'stdinFd' | 'stdin'>,
): boolean {
  if (!isStdin(source) || stdinFd === undefined) return false;
  return fstatSync(stdinFd).isCharacterDevice() && stdin.isTTY !== true;
}

const CHUNK_BYTES = 256 * 1024;
/** Bytes to read before yielding to the event loop, so that signals are handled. */
const SIGNAL_CHECK_BYTES = 256 * CHUNK_BYTES;

/**
 * Passes the bytes of a file or of standard input to `take` in chunks, in constant memory. A chunk is valid only until
 * `take` returns. Regular files are read synchronously into one buffer, which makes hashing as fast as openssl. Throws
 * InputError if the input cannot be read.
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

/** Reads a whole body. Throws InputError if it is larger than `limitBytes`. */
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
  // Reads by descriptor if possible, because creating the stdin stream takes longer than verifying most bodies.
  if (io.stdinFd !== undefined) {
    const stats = fstatSync(io.stdinFd);
    if (stats.isFile()) return readRegularFile(io.stdinFd, io, take);
    if (stats.isFIFO() || stats.isSocket()) return readPipe(io.stdinFd, io, take);
  }
  return readFromStream(io.stdin, io, take);
}

/** Reads a pipe into one buffer. A stream allocates a buffer for each 64 KiB, and leaves 40 MB for the garbage collector. */
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
    // Every Socket has the option `onread`, but Node's types list it only for `connect`.
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
  return new InputError(`Cannot read ${name}: ${unreadableReason(cause, source)}`, {
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
