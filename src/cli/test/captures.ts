import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { captureBody, type Capture } from '../../capture/capture.ts';
import { isCapture, readCapture } from '../../capture/read-capture.ts';
import { signedTitles, type Check } from '../../check/check.ts';
import { HooksError, InputError } from '../../errors.ts';
import { readJson } from '../../message/json/read-json.ts';
import type { Io } from '../io.ts';

/** Makes a check for each file of `--capture`. Throws InputError. */
export function captureChecks(files: readonly string[], io: Pick<Io, 'cwd'>): Promise<Check[]> {
  return Promise.all(files.map(async (file) => captureCheck(await readCaptureFile(file, io), file)));
}

/** Makes a check that sends a captured body again with a new signature: a body that arrived before must be taken. `name` is the file's. */
function captureCheck(capture: Capture, name: string): Check {
  const body = Buffer.from(captureBody(capture));
  return {
    code: 'capture',
    ...signedTitles(`the body of ${name}`),
    expects: 'taken',
    requests: (sample) => [sample.signed(body)],
  };
}

async function readCaptureFile(file: string, { cwd }: Pick<Io, 'cwd'>) {
  const bytes = await readFile(resolve(cwd, file)).catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'ENOENT' ? 'it does not exist' : (cause.code ?? 'unknown reason');
    throw new InputError(`cannot be read: ${why} (--capture)`, {
      file,
      hint: 'name a file that `hooks listen --save` wrote',
      cause,
    });
  });
  try {
    const value = readJson(bytes, { file, line: 1 });
    if (isCapture(value)) return readCapture(value);
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    throw new InputError(error.message, { file, hint: error.hint, cause: error });
  }
  throw new InputError('is no capture (--capture)', {
    file,
    hint: 'name a file that `hooks listen --save` wrote; hooks replay sends messages of any kind',
  });
}
