import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../errors.ts';
import { fileProblem, probeFolder } from '../file-problem.ts';
import { makeFolder, writeInOnePiece } from '../files.ts';
import { printable, redactUrl } from '../redact.ts';
import { isoTime } from '../clock.ts';
import { toCapture, type CapturedRequest } from './to-capture.ts';

/**
 * A folder of captures, one file per request, such as `000001-20261120T211005123Z.json` or `000001-order-completed.json`.
 * Continues the numbers of existing files.
 */
export class CaptureFolder {
  readonly #folder: string;
  readonly #flag: string;
  #number: number;

  /**
   * Creates the folder if it is missing, accessible to its owner only. Throws InputError if the folder is not writable; `flag` is
   * the flag that names it.
   */
  constructor(folder: string, flag: string) {
    this.#folder = folder;
    this.#flag = flag;
    try {
      makeFolder(folder, 0o700);
      const problem = probeFolder(join(folder, 'capture'));
      if (problem !== undefined) throw problem;
      this.#number = highestNumber(folder);
    } catch (error) {
      throw unwritableFolder(folder, error, { use: 'make', flag });
    }
  }

  /**
   * Writes a capture to a new file, readable by its owner only, and returns the file's path. Synchronous, so that every
   * request is saved before its response. Throws InputError without leaving a partial file if writing fails. `name` has only
   * characters that are safe in file names. @default the time of the request
   */
  save(request: CapturedRequest, name = timeName(request.at)): string {
    const text = `${JSON.stringify(toCapture({ ...request, url: redactUrl(request.url) }))}\n`;
    for (let triesLeft = MAX_TRIES; ; triesLeft--) {
      const file = this.nextFile(`${name}.json`);
      try {
        writeInOnePiece(file, text);
        return file;
      } catch (error) {
        if (isTaken(error) && triesLeft > 0) continue;
        throw unwritableFolder(file, error, { use: 'write', flag: this.#flag });
      }
    }
  }

  /** The path of the next file. `name` has only characters that are safe in file names. */
  nextFile(name: string): string {
    this.#number += 1;
    return join(this.#folder, `${String(this.#number).padStart(6, '0')}-${name}`);
  }
}

/** Retries with the next number: another listener may have created the same file name in the same millisecond. */
const MAX_TRIES = 1_000;

function isTaken(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIST'; // file operations throw only such errors
}

/** A name that is independent of the content of the request, so that no sender can choose it. */
function timeName(at: number | undefined): string {
  return at === undefined ? 'request' : isoTime(at).replace(/[-:.]/g, '');
}

/**
 * The highest number of a capture in the folder. New captures continue from it, so that captures of several runs sort by
 * name in the order of arrival.
 */
function highestNumber(folder: string): number {
  const numbers = readdirSync(folder).map((name) =>
    Number(/^(\d{6,})-[\w-]+\.(?:nd)?json$/.exec(name)?.[1] ?? 0),
  );
  return numbers.reduce((highest, number) => Math.max(highest, number), 0);
}

function unwritableFolder(
  path: string,
  cause: unknown,
  { use, flag }: { readonly use: 'write' | 'make'; readonly flag: string },
): InputError {
  const { what, fix } = fileProblem(cause, path, use);
  return new InputError(`Cannot save captures in ${printable(path)}: ${what} (${flag})`, {
    cause,
    hint: `${fix}, or name a folder elsewhere; a missing folder is created`,
  });
}
