import type { ChangeTarget } from '../../../audience/sync.ts';
import type { Settings } from '../../../config/settings.ts';
import type { DurableQueue } from '../../../stores/opened-queue.ts';
import type { Outcome } from '../../../app/pipeline/outcomes.ts';
import { changeTarget } from '../../../app/sync-audience.ts';
import type { LoopbackJudgement } from '../../flags/delivery/loopback.ts';
import { openPipeline, type OpenPipeline } from '../../flags/delivery/open-pipeline.ts';
import type { WhereTo } from '../../flags/delivery/where-to.ts';
import type { Io } from '../../io.ts';
import { triedDestination } from '../../print/deciding-attempt.ts';
import type { SyncFlags } from './options.ts';
import type { SyncOutput } from './output.ts';

export interface SyncDeliveryParts {
  readonly to: WhereTo;
  readonly settings: Settings;
  readonly durable: DurableQueue;
  readonly output: SyncOutput;
  readonly flags: SyncFlags;
  readonly io: Io;
}

/** Messages in flight: more than the engine sends at once, so that it is never idle, but no more than fit in memory. */
const IN_FLIGHT = { least: 256, most: 2_048 };

/** The pipeline of a sync, opened for the first change. */
export class SyncDelivery {
  readonly #parts: SyncDeliveryParts;
  #open: OpenPipeline | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: SyncDeliveryParts) {
    this.#parts = parts;
  }

  async open(): Promise<ChangeTarget<Outcome>> {
    const { to, settings, durable, output, flags, io } = this.#parts;
    const open = await openPipeline(to, {
      io,
      settings,
      quiet: flags.quiet ?? false,
      note: (line) => output.note(line),
      gathersRetries: flags.verbose !== true,
      // The queue stays open, because the sync stores its state there after the pipeline is closed.
      durable: { ...durable, close: async () => {} },
    });
    this.#open = open;
    this.#closeOnAbort();
    const { pipeline, concurrency } = open;
    return changeTarget(pipeline, Math.min(Math.max(IN_FLIGHT.least, concurrency * 8), IN_FLIGHT.most));
  }

  /** Returns the result of verifying a message in the receiver of --loopback. */
  judgementOf(outcome: Outcome): LoopbackJudgement | undefined {
    const tried = triedDestination(outcome);
    return tried && this.#open?.loopback?.judgementOf(tried.signature);
  }

  async close(how: { readonly interrupted: boolean }): Promise<void> {
    this.#closing ??= this.#open?.close(how);
    await this.#closing;
  }

  /** Closes the pipeline on an interruption, so that every message handed over gets an outcome. */
  #closeOnAbort(): void {
    const { signal } = this.#parts.io;
    const close = (): void => void this.close({ interrupted: true });
    if (signal.aborted) close();
    else signal.addEventListener('abort', close, { once: true });
  }
}
