import { wallClock } from '../../clock.ts';
import { runService } from '../../pipeline/run-service.ts';
import type { LogLevel } from '../../service/log.ts';
import { aborted } from '../aborted.ts';
import type { GlobalOptions } from '../command.ts';
import { ExitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { jsonLine } from '../result/json-line.ts';
import { openQueueToWrite, type StoreFlags } from '../delivery/queue-flags.ts';
import { reachOf, type ReachFlags } from '../delivery/reach-flags.ts';
import { sourcesToDeliver } from '../delivery/sources-to-deliver.ts';
import { commandSettings } from '../delivery/settings.ts';

export interface ServeOptions extends GlobalOptions, StoreFlags, ReachFlags {
  readonly port: number;
  readonly host: string;
  readonly deliver: boolean;
  readonly confineDeletions?: true;
}

/** `hooks serve`: until it is interrupted, which is a clean end. */
export async function serve(options: ServeOptions, io: Io): Promise<ExitCode> {
  const { host, port, deliver, confineDeletions = false } = options;
  const settings = await commandSettings(options, io);
  const sources = deliver ? sourcesToDeliver(settings, 'or only queue, with --no-deliver') : settings.sources;
  const service = await runService({
    sources,
    open: await openQueueToWrite(options, settings, { toAdd: !deliver }),
    host,
    port,
    deliver,
    confineDeletions,
    ...reachOf(options, io),
    logLevel: levelOf(options),
    write: io.note,
    clock: wallClock,
  });
  io.out(
    options.output === 'json' ? jsonLine({ ready: true, url: service.url }) : readyText(service.url, io),
  );
  await aborted(io.signal);
  await service.close();
  return ExitCode.ok;
}

function readyText(url: string, { color }: Io): string {
  return `Taking calls on ${color.bold(url)}\n`;
}

function levelOf({ quiet, verbose }: GlobalOptions): LogLevel {
  if (quiet) return 'error';
  return verbose ? 'debug' : 'info';
}
