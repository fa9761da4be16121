import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigError } from '../../../errors.ts';
import { openReplacing } from '../../../report/replacing-file.ts';
import { ExitCode } from '../../exit-code.ts';
import { fitText } from '../../fit-text.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { withQueue, type QueueOptions } from './run.ts';

/** Runs `hooks queue backup FILE`. */
export function backUpStore(name: string, options: QueueOptions, io: Io): Promise<ExitCode> {
  return withQueue(options, io, async ({ file, place }) => {
    if (file === undefined) {
      throw new ConfigError(`Expected \`--store\` to be a file to back up, got ${place}`, {
        flag: '--store',
        hint: 'back the server up by its own means: BGSAVE, pg_dump',
      });
    }
    const target = resolve(io.cwd, name);
    await assertNew(target, name);
    const replacing = await openReplacing(target, name);
    await replacing.commit(() => file.copyTo(replacing.temporaryPath));
    const { size: bytes } = await stat(target);
    if (options.output === 'json') io.out(jsonLine({ store: place, backup: target, bytes }));
    else io.out(fitText(`Copied ${place} to ${name}\n`, io.stdoutColumns));
    return ExitCode.ok;
  });
}

/** Throws ConfigError when there is a file: it may be the last good copy. */
async function assertNew(target: string, name: string): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  if (found === undefined) return;
  throw new ConfigError(`Expected a new file for the backup, but there is ${name} already`, {
    flag: 'file',
    hint: 'name another file, or remove this one first',
  });
}
