import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { toCapture } from '../capture/to-capture.ts';
import { InputError } from '../errors.ts';
import { fileProblem, probeFolder } from '../file-problem.ts';
import { makeFolder, writeInOnePiece } from '../files.ts';
import { printable, redactUrl } from '../redact.ts';
import { isoTime } from '../clock.ts';
import { pairsOf } from './response/forwarding.ts';
import type { ReceivedRequest } from './received-request.ts';

/**
 * A folder of captures, one file per request, such as `000001-20261120T211005123Z.json`. Continues the numbers of existing
 * files.
 */
export class CaptureFolder {
  readonly #folder: string;
  #number: number;

  /** Creates the folder if it is missing, accessible to its owner only. Throws InputError if the folder is not writable. */
  constructor(folder: string) {
    this.#folder = folder;
    try {
      makeFolder(folder, 0o700);
      const problem = probeFolder(join(folder, 'capture'));
      if (problem !== undefined) throw problem;
      this.#number = highestNumber(folder);
    } catch (error) {
      throw unwritableFolder(folder, error, 'make');
    }
  }

  /**
   * Writes a capture to a new file, readable by its owner only, and returns the file's path. Synchronous, so that every
   * request is saved before its response. Throws InputError without leaving a partial file if writing fails.
   */
  save(request: ReceivedRequest): string {
    const text = `${JSON.stringify(captureOf(request))}\n`;
    for (let triesLeft = MAX_TRIES; ; triesLeft--) {
      this.#number += 1;
      const file = join(this.#folder, fileName(this.#number, request.at));
      try {
        writeInOnePiece(file, text);
        return file;
      } catch (error) {
        if (isTaken(error) && triesLeft > 0) continue;
        throw unwritableFolder(file, error);
      }
    }
  }
}

/** Retries with the next number: another listener may have created the same file name in the same millisecond. */
const MAX_TRIES = 1_000;

function isTaken(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIST'; // file operations throw only such errors
}

function captureOf({ at, method, path, rawHeaders, body, verdict }: ReceivedRequest): object {
  return toCapture({ at, method, url: redactUrl(path), headers: pairsOf(rawHeaders), body, verdict });
}

/** The file name of a capture. Independent of the request's content, so that no sender can choose a name. */
function fileName(number: number, at: number): string {
  return `${String(number).padStart(6, '0')}-${isoTime(at).replace(/[-:.]/g, '')}.json`;
}

/**
 * The highest number of a capture in the folder. New captures continue from it, so that captures of several runs sort by
 * name in the order of arrival.
 */
function highestNumber(folder: string): number {
  const numbers = readdirSync(folder).map((name) =>
    Number(/^(\d{6,})-\d{8}T\d{9}Z\.json$/.exec(name)?.[1] ?? 0),
  );
  return numbers.reduce((highest, number) => Math.max(highest, number), 0);
}

function unwritableFolder(path: string, cause: unknown, use: 'write' | 'make' = 'write'): InputError {
  const { what, fix } = fileProblem(cause, path, use);
  return new InputError(`Cannot save captures in ${printable(path)}: ${what} (--save)`, {
    cause,
    hint: `${fix}, or name a folder elsewhere; a missing folder is created`,
  });
}
