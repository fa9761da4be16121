import type { EngineEvent } from '../../engine/engine-event.ts';
import type { Sources } from '../../engine/options.ts';
import { openEngine, uncheckedProxy } from '../../app/open-engine.ts';
import { privateWebhookWarnings } from '../../app/private-webhooks.ts';
import type { Outcome } from '../../app/pipeline/outcomes.ts';
import type { Delivery } from '../../queue/delivery.ts';
import { printable } from '../../redact.ts';
import { noteError } from '../error-text.ts';
import { aborted } from '../aborted.ts';
import type { GlobalOptions } from '../command.ts';
import { ExitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { reachOf, type ReachFlags } from '../flags/delivery/reach-flags.ts';
import { jsonLine } from '../json-line.ts';
import { openQueueToRun, type StoreFlags } from '../flags/delivery/queue-flags.ts';
import { resultLine } from '../print/result-line.ts';
import { resultText } from '../print/result-text.ts';
import { Retries } from '../flags/delivery/retries.ts';
import { sourcesToDeliver } from '../flags/delivery/sources-to-deliver.ts';
import { commandSettings } from '../flags/delivery/settings.ts';
import { readSchemeFlag, type SchemeFlags } from '../flags/signature/scheme-flags.ts';
import { messageOf } from '../../errors.ts';

export interface WorkerOptions extends GlobalOptions, StoreFlags, ReachFlags, SchemeFlags {}

/** Runs `hooks worker`: delivers from the queue until it is interrupted. */
export async function work(options: WorkerOptions, io: Io): Promise<ExitCode> {
  const settings = await commandSettings(options, io);
  const reach = reachOf(options, io);
  const sources = sourcesToDeliver(settings, reach, { schemes: await readSchemeFlag(options, io) });
  const display = new WorkerOutput(options, io, sources);
  const open = await openQueueToRun(options, settings, { io, toAdd: false });
  const { engine, close } = await openEngine({
    sources,
    open,
    ...reach,
    onEvent: (event) => display.see(event),
    onUnrecorded: (delivery, error) => display.unrecorded(delivery, error),
  });
  engine.start();
  display.ready(open.place, uncheckedProxy(reach));
  display.warn(await open.warnings().catch(() => []));
  // Not waited for: a name server may be slow.
  void privateWebhookWarnings(sources, reach).then((warnings) => display.warn(warnings));
  await aborted(io.signal);
  await close();
  return ExitCode.ok;
}

/** Prints the state of the worker, and a line for each settled delivery. */
class WorkerOutput {
  readonly #options: WorkerOptions;
  readonly #io: Io;
  readonly #retries: Retries;

  constructor(options: WorkerOptions, io: Io, sources: Sources) {
    this.#options = options;
    this.#io = io;
    const destinations = Object.values(sources).flatMap((source) => Object.values(source.destinations));
    const severalWebhooks = destinations.some(({ webhooks }) => webhooks.length > 1);
    this.#retries = new Retries({ io, quiet: options.quiet ?? false, note: io.note }, { severalWebhooks });
  }

  ready(file: string, proxy: string | undefined): void {
    if (proxy !== undefined && !this.#options.quiet) {
      this.#io.note(`note: webhooks are reached through ${proxy}, so their addresses are not checked`);
    }
    if (this.#options.output === 'json') this.#io.out(jsonLine({ ready: true, store: file }));
    else if (!this.#options.quiet) this.#io.note(`Delivering from ${file}; Ctrl-C ends it`);
  }

  warn(warnings: readonly string[]): void {
    for (const warning of warnings) this.#io.note(`${this.#io.errColor.yellow('warning:')} ${warning}`);
  }

  see(event: EngineEvent): void {
    this.#retries.see(event);
    if (event.kind === 'settled') this.#settled(event);
  }

  unrecorded({ messageId }: Delivery, error: unknown): void {
    const why = printable(messageOf(error));
    noteError(
      this.#io,
      `The state of a deletion request could not be recorded: ${why} (${printable(messageId, 80)})`,
    );
  }

  #settled({ delivery, signature, signatures }: EngineEvent & { kind: 'settled' }): void {
    const { id, source, destination, messageId, type, state, reason, progress } = delivery;
    const outcome = state === 'delivered' ? 'delivered' : 'failed';
    if (this.#options.quiet && outcome === 'delivered') return;
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
    const facts = { type, title: messageId };
    if (this.#options.output === 'json') {
      this.#io.out(jsonLine({ ...resultLine(result, facts), id, source, destination }));
    } else this.#io.out(`${resultText(result, facts, this.#io)}\n`);
  }
}
