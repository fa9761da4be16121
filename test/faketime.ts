import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A machine whose wall clock can be set while programs run on it. */
export interface SettableMachine {
  /** The variables of programs that run on the machine. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the clock this many hours off the true time. */
  setClock(hours: number): void;
}

/** The path of libfaketime. Undefined if it is missing, so that tests are skipped. Throws on CI. */
export const FAKETIME = findLibrary();

export function settableMachine(folder: string): SettableMachine {
  const file = join(folder, 'clock');
  const setClock = (hours: number): void => writeFileSync(file, `${hours < 0 ? '' : '+'}${hours}h\n`);
  setClock(0);
  return {
    env: {
      LD_PRELOAD: FAKETIME ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      // Users cannot set the monotonic clock.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    setClock,
  };
}

/** Returns the path of libfaketime, which Debian has in the folder of its architecture. */
function findLibrary(): string | undefined {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib').map((name) => join('/usr/lib', name)) : [];
  const found = ['/usr/lib', '/usr/local/lib', ...folders]
    .map((folder) => join(folder, 'faketime', 'libfaketimeMT.so.1'))
    .find((file) => existsSync(file));
  if (found !== undefined) return found;
  if (process.env['CI'] === 'true') throw new Error('libfaketime is missing: on CI these tests must run');
  process.stderr.write('libfaketime is missing: the tests that need it are skipped\n');
  return undefined;
}
