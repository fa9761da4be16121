import type { EngineEvent } from '../../../engine/engine-event.ts';
import type { Outcome } from '../../../app/pipeline/outcomes.ts';
import { runWorker } from '../../../app/service/run-worker.ts';
import { ExitCode } from '../../exit-code.ts';
import { aborted, type Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { openService, type ServiceFlags } from '../../flags/delivery/service-flags.ts';
import { CauseFinder } from '../../print/cause-finder.ts';
import { resultLine } from '../../print/result-line.ts';
import { resultText } from '../../print/result-text.ts';

/** Runs `hooks worker`: delivers from the queue until it is interrupted. */
export async function work(options: ServiceFlags, io: Io): Promise<ExitCode> {
  const opened = await openService(options, io, { deliver: true });
  const output = { ...options, io, causes: new CauseFinder() };
  const worker = await runWorker({
    ...opened,
    onEvent: (event) => {
      if (event.kind === 'settled') printSettled(event, output);
    },
  });
  if (options.output === 'json') {
    io.out(jsonLine({ ready: true, store: opened.open.place, metrics: worker.metricsUrl }));
  }
  await aborted(io.signal);
  await worker.close();
  await output.causes.loading;
  return ExitCode.ok;
}

function printSettled(
  { delivery, signature, signatures }: EngineEvent & { kind: 'settled' },
  { quiet, output, io, causes }: ServiceFlags & { readonly io: Io; readonly causes: CauseFinder },
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
  void causes.find(result, (cause) => {
    const facts = { type, title: messageId, cause };
    if (output === 'json') {
      io.out(jsonLine({ ...resultLine(result, facts), id, source, destination }));
    } else io.out(`${resultText(result, facts, io)}\n`);
    return undefined;
  });
}
