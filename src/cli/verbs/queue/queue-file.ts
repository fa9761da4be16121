import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { QueueError } from '../../../errors.ts';
import { printable } from '../../../redact.ts';
import { openReplacing } from '../../../report/replacing-file.ts';
import { configText, WITHOUT_CONFIG } from '../../flags/bind-queue.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import { flagError } from '../../flags/flag-values.ts';
import { ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { requireFile, withAnyQueue, withQueue, writeResult, type QueueOptions } from './run.ts';

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

/** Runs `hooks queue adopt`: binds the queue to the config of this command, for example after its folder was renamed. */
export function adoptQueue(options: QueueOptions, io: Io): Promise<ExitCode> {
  return withAnyQueue(options, io, async (durable) => {
    const { place } = durable;
    const file = requireFile(durable, {
      purpose: 'bind it to a config',
      hint: 'configs that name a server share its queue',
    });
    if (await file.isDelivered()) {
      const hint = 'stop hooks serve and hooks worker first: they would deliver with the earlier config';
      throw new QueueError(`A process delivers from the queue ${place}`, { file: place, hint });
    }
    const { configPath: config = WITHOUT_CONFIG } = await commandSettings(options, io);
    const before = (await file.bindConfig(config, { replaces: true })) ?? null;
    const earlier = before === null || before === config ? '' : `, and no longer to ${configText(before)}`;
    const text = `${printable(place)} belongs to ${configText(config)}${earlier}`;
    writeResult({ fields: { store: place, config, before }, text }, { options, io });
    return ExitCode.ok;
  });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
