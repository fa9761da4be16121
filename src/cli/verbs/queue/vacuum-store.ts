import { stat } from 'node:fs/promises';
import { ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { requireFile, withQueue, writeResult, type QueueOptions } from './run.ts';

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
