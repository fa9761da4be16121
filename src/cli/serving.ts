import { systemClock } from '../clock.ts';
import { runService } from '../pipeline/run-service.ts';
import type { LogLevel } from '../service/log.ts';
import type { GlobalOptions } from './command.ts';
import { ExitCode } from './exit-code.ts';
import type { Io } from './io.ts';
import { jsonLine } from './result/json-line.ts';
import { openQueue, type StoreFlags } from './delivery/queue-flags.ts';
import { reachOf, type ReachFlags } from './delivery/reach-flags.ts';
import { commandSettings } from './delivery/settings.ts';

export interface ServeOptions extends GlobalOptions, StoreFlags, ReachFlags {
  readonly port: number;
  readonly host: string;
  readonly deliver: boolean;
}

/** `hooks serve`: until it is interrupted, which is a clean end. */
export async function serve(options: ServeOptions, io: Io): Promise<ExitCode> {
  const { host, port, deliver } = options;
  const settings = await commandSettings(options, io);
  const { sources } = settings;
  const service = await runService({
    sources,
    open: await openQueue(options, settings),
    host,
    port,
    deliver,
    ...reachOf(options, io),
    logLevel: levelOf(options),
    write: io.note,
    clock: systemClock,
  });
  io.out(
    options.output === 'json' ? jsonLine({ ready: true, url: service.url }) : readyText(service.url, io),
  );
  await interrupted(io.signal);
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

function interrupted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
