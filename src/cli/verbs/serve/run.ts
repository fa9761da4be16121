import { wallClock } from '../../../clock.ts';
import { runService } from '../../../app/service/run-service.ts';
import { ConfigError } from '../../../errors.ts';
import type { DeletionReach } from '../../../service/options.ts';
import type { GlobalOptions } from '../../command.ts';
import { ExitCode } from '../../exit-code.ts';
import { aborted, type Io } from '../../io.ts';
import { listeningText, listeningUrls } from '../../print/listening-urls.ts';
import { jsonLine } from '../../json-line.ts';
import { logTo, metricsAddressOf, type MetricsFlags } from '../../flags/delivery/service-flags.ts';
import { openQueueToRun, type StoreFlags } from '../../flags/delivery/queue-flags.ts';
import { reachOf, type ReachFlags } from '../../flags/delivery/reach-flags.ts';
import { sourcesToDeliver } from '../../flags/delivery/sources-to-deliver.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import { readSchemeFlag, type SchemeFlags } from '../../flags/signature/scheme-flags.ts';

export interface ServeOptions extends GlobalOptions, StoreFlags, ReachFlags, SchemeFlags, MetricsFlags {
  readonly port: number;
  readonly host: string;
  readonly deliver: boolean;
  readonly deletions: DeletionReach;
  /** `--confine-deletions`, which means `--deletions own`. */
  readonly confineDeletions?: true;
}

/** Runs `hooks serve` until it is interrupted, which is a success. */
export async function serve(options: ServeOptions, io: Io): Promise<ExitCode> {
  const { host, port, deliver } = options;
  const deletionReach = deletionReachOf(options);
  const settings = await commandSettings(options, io);
  const reach = reachOf(options, io);
  const schemes = await readSchemeFlag(options, io);
  const sources = deliver
    ? sourcesToDeliver(settings, reach, { hint: 'or only queue, with --no-deliver', schemes })
    : settings.sources;
  const service = await runService({
    sources,
    open: await openQueueToRun(options, settings, { io, toAdd: !deliver }),
    host,
    port,
    metricsAt: metricsAddressOf(options),
    deliver,
    deletionReach,
    ...reach,
    ...logTo(options, io),
    clock: wallClock,
  });
  const { url, metricsUrl: metrics } = service;
  const urls = listeningUrls(url, host);
  io.out(
    options.output === 'json'
      ? jsonLine({ ready: true, url, urls, metrics })
      : listeningText('Taking calls on', { url, urls }, io.color.bold),
  );
  await aborted(io.signal);
  await service.close();
  return ExitCode.ok;
}

function deletionReachOf({ deletions, confineDeletions }: ServeOptions): DeletionReach {
  if (confineDeletions !== true || deletions === 'own') return deletions;
  throw new ConfigError('Expected one of `--deletions all` and `--confine-deletions`, got both', {
    key: 'deletions',
    origin: '--deletions',
    hint: 'leave out one of them; --confine-deletions means --deletions own',
  });
}
