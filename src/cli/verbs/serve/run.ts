import { runService } from '../../../app/service/run-service.ts';
import type { PlanDocument } from '../../../plan/plan.ts';
import type { DeletionReach } from '../../../service/options.ts';
import { ExitCode } from '../../exit-code.ts';
import { aborted, type Io } from '../../io.ts';
import { listeningText, listeningUrls } from '../../print/listening-urls.ts';
import { jsonLine } from '../../json-line.ts';
import { openService, type ServiceFlags } from '../../flags/delivery/service-flags.ts';
import { flagError } from '../../flags/flag-values.ts';

export interface ServeOptions extends ServiceFlags {
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
  const opened = await openService(options, io, { deliver, hint: 'or only queue, with --no-deliver' });
  // Loads the code for plans only if a source has one.
  const readPlan = async (file: string): Promise<PlanDocument> => {
    const { readPlanFile } = await import('../../flags/plan-file.ts');
    return readPlanFile(file, io);
  };
  const service = await runService({ ...opened, host, port, deliver, deletionReach, readPlan }).catch(
    async (error: unknown) => {
      const { withPortHolder } = await import('./port-holder.ts');
      throw await withPortHolder(error);
    },
  );
  const { reloadPlans } = service;
  // At a terminal, SIGHUP means that the terminal is gone.
  if (reloadPlans !== undefined && !io.stderrIsTty) io.onHangup(() => void reloadPlans());
  const { url, metricsUrl: metrics } = service;
  const urls = listeningUrls(url, host);
  io.out(
    options.output === 'json'
      ? jsonLine({ ready: true, url, urls, metrics })
      : listeningText('Taking calls on', { url, urls }, io.color.bold),
  );
  if (options.output === 'text' && metrics !== undefined) io.out(`Metrics at ${metrics}`);
  await aborted(io.signal);
  await service.close();
  return ExitCode.ok;
}

function deletionReachOf({ deletions, confineDeletions }: ServeOptions): DeletionReach {
  if (confineDeletions !== true || deletions === 'own') return deletions;
  const sentence = 'Expected one of `--deletions all` and `--confine-deletions`, got both';
  throw flagError(
    '--deletions',
    sentence,
    'leave out one of them; --confine-deletions means --deletions own',
  );
}
