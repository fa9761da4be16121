import { closeSync, constants, createReadStream, fstatSync, openSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { RequestRejection, type Imported } from '../../capture/import/imported.ts';
import { importRequests } from '../../capture/import/import-requests.ts';
import { InputError } from '../../errors.ts';
import { unreadableReason } from '../../file-problem.ts';
import { MOST_FILE_BYTES, readAtMost } from '../../files.ts';
import { gunzipIfPacked } from '../../replay/reading/gunzip.ts';
import type { Input } from '../../replay/reading/inputs.ts';
import type { Io } from '../io.ts';

interface ImportedRequestsOptions {
  /** The unpacked bytes of the input, if a part of them was read already. @default the bytes are read */
  readonly chunks?: AsyncIterable<Uint8Array>;
  /** Called once for a HAR file that Chrome wrote without secrets. */
  readonly onSanitized?: () => void;
}

/** Finds the requests of an input. Throws InputError with the name of the input. */
export async function* importedRequests(
  input: Input,
  { cwd, signal }: Io,
  { chunks = unpackedChunks(input, signal), onSanitized = () => {} }: ImportedRequestsOptions,
): AsyncGenerator<Imported> {
  const folder = input.identity === undefined ? cwd : dirname(resolve(cwd, input.name));
  try {
    yield* importRequests(chunks, (name) => readBeside(folder, name), onSanitized);
  } catch (error) {
    if (signal.aborted) return;
    throw errorOfInput(error, input.name);
  }
}

/** Adds the file to an error of its content. Errors of other kinds stay as they are. */
export function errorOfInput(error: unknown, file: string): unknown {
  if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) {
    return new InputError('The gzipped file is corrupt or cut off', {
      file,
      hint: 'copy it again',
      cause: error,
    });
  }
  if (!(error instanceof InputError) || error.file !== undefined) return error;
  const { message, hint = 'name another file', cause } = error;
  return new InputError(message, { file, hint, cause });
}

/** The bytes of an input, unpacked if it is gzipped. */
export function unpackedChunks(input: Input, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const open = (): AsyncIterable<Uint8Array> => input.open(signal);
  return gunzipIfPacked(open(), input.identity && open);
}

/** Reads a file that a curl command names. A command of a stranger must not copy other files of this machine into a capture. */
async function readBeside(folder: string, name: string): Promise<Buffer> {
  return readAtMost(MOST_FILE_BYTES, () => openBeside(folder, name)).catch((cause: unknown) => {
    if (cause instanceof RequestRejection) throw cause;
    throw new RequestRejection(`it sends the file ${name}, which cannot be read: ${unreadableReason(cause)}`);
  });
}

/** Opens a regular file whose real path is in the real path of the folder. */
function openBeside(folder: string, name: string): Readable {
  if (name === '-') throw new RequestRejection('it sends standard input (a heredoc), which is not read');
  const path = resolve(folder, name);
  const outside = new RequestRejection(`it sends the file ${name}, which is not in the folder of the input`);
  if (relative(folder, path) !== join(name) || isOutside(folder, path)) throw outside;
  const real = realpathSync(path);
  if (isOutside(realpathSync(folder), real)) throw outside;
  const fd = openSync(real, AT_ONCE);
  // Compares the path again, because a folder could have been replaced by a link before the file was opened.
  if (fstatSync(fd).isFile() && realpathSync(path) === real) return createReadStream(real, { fd });
  closeSync(fd);
  throw new RequestRejection(`it sends the file ${name}, which is not a regular file`);
}

/** Flags that follow no link and do not wait for the writer of a pipe. Windows has neither flag. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

function isOutside(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return /^\.\.(?:[\\/]|$)/.test(inside) || isAbsolute(inside);
}
