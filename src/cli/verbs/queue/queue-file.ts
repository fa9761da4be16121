import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openReplacing } from '../../../report/replacing-file.ts';
import { flagError } from '../../flags/flag-values.ts';
import { ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { requireFile, withQueue, writeResult, type QueueOptions } from './run.ts';

/** Runs `hooks queue backup FILE`. */
export function backUpStore(name: string, options: QueueOptions, io: Io): Promise<ExitCode> {
  return withQueue(options, io, async (durable) => {
    const hint = 'back up the server with its own tools: BGSAVE, pg_dump';
    const file = requireFile(durable, { purpose: 'back up', hint });
    const target = resolve(io.cwd, name);
    await assertNew(target, name);
    const replacing = await openReplacing(target, name);
    await replacing.commit(() => file.copyTo(replacing.temporaryPath));
    const { size: bytes } = await stat(target);
    const { place } = durable;
    const fields = { store: place, backup: target, bytes };
    writeResult({ fields, text: `Copied ${place} to ${name}` }, { options, io });
    return ExitCode.ok;
  });
}

/** Throws ConfigError if the target exists, because it may be the last good copy. */
async function assertNew(target: string, name: string): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  if (found === undefined) return;
  const sentence = `Expected a new file for the backup, but there is ${name} already`;
  throw flagError('file', sentence, 'name another file, or remove this one first');
}

/** Runs `hooks queue vacuum`. */
export function vacuumStore(options: QueueOptions, io: Io): Promise<ExitCode> {
  return withQueue(options, io, async (durable) => {
    const hint = 'leave it to the server, which reuses freed space';
    const file = requireFile(durable, { purpose: 'vacuum', hint });
    const { place } = durable;
    const bytesBefore = (await stat(place)).size;
    await file.giveBackSpace(() => !io.signal.aborted);
    const bytesAfter = await file.settledBytes();
    const text = `${place}: ${megabytes(bytesBefore)} before, ${megabytes(bytesAfter)} now`;
    writeResult({ fields: { store: place, bytesBefore, bytesAfter }, text }, { options, io });
    return ExitCode.ok;
  });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
