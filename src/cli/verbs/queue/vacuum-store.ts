import { stat } from 'node:fs/promises';
import { ConfigError } from '../../../errors.ts';
import { ExitCode } from '../../exit-code.ts';
import { fitText } from '../../fit-text.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { withQueue, type QueueOptions } from './run.ts';

/** Runs `hooks queue vacuum`. */
export function vacuumStore(options: QueueOptions, io: Io): Promise<ExitCode> {
  return withQueue(options, io, async ({ file, place }) => {
    if (file === undefined) throw notAFile(place);
    const bytesBefore = (await stat(place)).size;
    await file.giveBackSpace(() => !io.signal.aborted);
    const bytesAfter = await file.settledBytes();
    if (options.output === 'json') io.out(jsonLine({ store: place, bytesBefore, bytesAfter }));
    else {
      const text = `${place}: ${megabytes(bytesBefore)} before, ${megabytes(bytesAfter)} now\n`;
      io.out(fitText(text, io.stdoutColumns));
    }
    return ExitCode.ok;
  });
}

function notAFile(place: string): ConfigError {
  return new ConfigError(`Expected \`--store\` to be a file to vacuum, got ${place}`, {
    flag: '--store',
    hint: 'leave it to the server, which reuses freed space',
  });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
