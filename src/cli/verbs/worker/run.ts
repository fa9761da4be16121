import type { EngineEvent } from '../../../engine/engine-event.ts';
import { wallClock } from '../../../clock.ts';
import type { Outcome } from '../../../app/pipeline/outcomes.ts';
import { runWorker } from '../../../app/service/run-worker.ts';
import type { GlobalOptions } from '../../command.ts';
import { ExitCode } from '../../exit-code.ts';
import { aborted, type Io } from '../../io.ts';
import { reachOf, type ReachFlags } from '../../flags/delivery/reach-flags.ts';
import { jsonLine } from '../../json-line.ts';
import { logTo, metricsAddressOf, type MetricsFlags } from '../../flags/delivery/service-flags.ts';
import { openQueueToRun, type StoreFlags } from '../../flags/delivery/queue-flags.ts';
import { failureCause } from '../../print/failure-cause.ts';
import { resultLine } from '../../print/result-line.ts';
import { resultText } from '../../print/result-text.ts';
import { sourcesToDeliver } from '../../flags/delivery/sources-to-deliver.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import { readSchemeFlag, type SchemeFlags } from '../../flags/signature/scheme-flags.ts';

export interface WorkerOptions extends GlobalOptions, StoreFlags, ReachFlags, SchemeFlags, MetricsFlags {}

/** Runs `hooks worker`: delivers from the queue until it is interrupted. */
export async function work(options: WorkerOptions, io: Io): Promise<ExitCode> {
  const settings = await commandSettings(options, io);
  const reach = reachOf(options, io);
  const sources = sourcesToDeliver(settings, reach, { schemes: await readSchemeFlag(options, io) });
  const open = await openQueueToRun(options, settings, { io, toAdd: false });
  const worker = await runWorker({
    sources,
    open,
    ...reach,
    ...logTo(options, io),
    clock: wallClock,
    metricsAt: metricsAddressOf(options),
    onEvent: (event) => {
      if (event.kind === 'settled') printSettled(event, options, io);
    },
  });
  if (options.output === 'json') {
    io.out(jsonLine({ ready: true, store: open.place, metrics: worker.metricsUrl }));
  }
  await aborted(io.signal);
  await worker.close();
  return ExitCode.ok;
}

function printSettled(
  { delivery, signature, signatures }: EngineEvent & { kind: 'settled' },
  { quiet, output }: WorkerOptions,
  io: Io,
): void {
  const { id, source, destination, messageId, type, state, reason, progress } = delivery;
  const outcome = state === 'delivered' ? 'delivered' : 'failed';
  if (quiet && outcome === 'delivered') return;
  const { attempts } = progress;
  const result: Outcome = {
    messageId,
    outcome,
    destinations: [
      {
        name: destination,
        outcome,
        attempts,
        ...(reason !== undefined && { reason }),
        ...(signature !== undefined && { signature }),
        signatures,
      },
    ],
  };
  const facts = { type, title: messageId, cause: failureCause(result) };
  if (output === 'json') {
    io.out(jsonLine({ ...resultLine(result, facts), id, source, destination }));
  } else io.out(`${resultText(result, facts, io)}\n`);
}
