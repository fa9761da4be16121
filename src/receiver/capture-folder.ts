import { accessSync, constants, readdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toCapture } from '../capture/to-capture.ts';
import { InputError } from '../errors.ts';
import { makeFolder } from '../make-folder.ts';
import { printable, redactUrl } from '../redact.ts';
import { pairsOf } from './forwarding.ts';
import type { ReceivedRequest } from './received-request.ts';

/** Where requests are kept, a capture each: `000001-20261120T211005123Z.json`, numbered on from what is there already. */
export class CaptureFolder {
  readonly #folder: string;
  #number: number;

  /** Makes the folder for its owner alone if there is none. Throws InputError when it cannot be written to. */
  constructor(folder: string) {
    this.#folder = folder;
    try {
      makeFolder(folder, 0o700);
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
      this.#number = highestNumber(folder);
    } catch (error) {
      throw unwritableFolder(folder, error);
    }
  }

  /**
   * Writes one capture for its owner alone, over nothing, and returns the file. At once, so that no request is answered
   * before it is saved. Throws InputError, leaving no half a file, when that fails.
   */
  save(request: ReceivedRequest): string {
    const text = `${JSON.stringify(captureOf(request))}\n`;
    for (let triesLeft = MAX_TRIES; ; triesLeft--) {
      this.#number += 1;
      const file = join(this.#folder, fileName(this.#number, request.at));
      try {
        writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
        return file;
      } catch (error) {
        if (isTaken(error) && triesLeft > 0) continue;
        removeHalf(file, Buffer.byteLength(text), error);
        throw unwritableFolder(file, error);
      }
    }
  }
}

/** Another listener that saves here may have numbered on as we did, in the same millisecond. */
const MAX_TRIES = 1_000;

function isTaken(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIST'; // of a file operation
}

function captureOf({ at, method, path, rawHeaders, body, verdict }: ReceivedRequest): object {
  return toCapture({ at, method, url: redactUrl(path), headers: pairsOf(rawHeaders), body, verdict });
}

/** Nothing of the request is in it, so that no sender chooses a name. */
function fileName(number: number, at: number): string {
  return `${String(number).padStart(6, '0')}-${new Date(at).toISOString().replace(/[-:.]/g, '')}.json`;
}

/** So that the captures of several runs, in the order of their names, are in the order of their arrival. */
function highestNumber(folder: string): number {
  const numbers = readdirSync(folder).map((name) =>
    Number(/^(\d{6,})-\d{8}T\d{9}Z\.json$/.exec(name)?.[1] ?? 0),
  );
  return numbers.reduce((highest, number) => Math.max(highest, number), 0);
}

/** A full disk leaves the first part of a file, which would be read as a broken capture. */
function removeHalf(file: string, bytes: number, error: unknown): void {
  // What is there already is somebody else's.
  if (isTaken(error)) return;
  try {
    if (statSync(file).size < bytes) unlinkSync(file);
  } catch {
    // It was never made.
  }
}

function unwritableFolder(path: string, cause: unknown): InputError {
  // File system calls throw nothing else.
  const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
  return new InputError(`Cannot save captures in ${printable(path)}: ${REASONS[code] ?? code} (--save)`, {
    cause,
    hint: 'name a folder that you may write to; it is made if there is none',
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  EEXIST: 'it is there and is no folder',
  ENOTDIR: 'a part of the path is no folder',
  ENOENT: 'it is gone',
  ENOSPC: 'the disk is full',
};
