import type { BatchRetry } from '../../../client/tracking-api-options.ts';
import type { EngineEvent } from '../../../engine/engine-event.ts';
import { noteError, noteHint } from '../../error-text.ts';
import { HooksError, messageOf } from '../../../errors.ts';
import type { AttemptRecord } from '../../../attempt-record.ts';
import type { Delivery } from '../../../queue/delivery.ts';
import { printable } from '../../../redact.ts';
import { isLoopbackHost } from '../../../url.ts';
import { attemptText, durationText } from '../../attempt-text.ts';
import type { Io } from '../../io.ts';

interface RetriesOptions {
  readonly io: Io;
  readonly quiet: boolean;
  readonly note: (line: string) => void;
  /** Prints one line for all messages that fail in a round for the same reason. @default a line for each message */
  readonly gathersRetries?: boolean;
}

/** Time in which messages that fail for the same reason are gathered, in ms. A silence of this length is not noticed. */
const GATHER_MS = 250;

interface GatheredLine {
  readonly label: 'failed:' | 'retry:';
  /** The reason and the round, by which messages are gathered. */
  readonly what: string;
  /** The wait before the next round. Undefined for a line that names no round. */
  readonly waitMs?: number;
  /** The name of the only message. */
  readonly name: string;
}

/** Prints failed attempts and planned retries on stderr as they happen, because a silent command seems to hang. */
export class Retries {
  readonly #options: RetriesOptions;
  readonly #severalWebhooks: boolean;
  /** The hint of the last error that was printed. */
  #hint: string | undefined;
  #hasHinted = false;
  readonly #gathered = new Map<string, GatheredLine & { readonly count: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RetriesOptions, { severalWebhooks }: { severalWebhooks: boolean }) {
    this.#options = options;
    this.#severalWebhooks = severalWebhooks;
  }

  see(event: EngineEvent): void {
    if (event.kind === 'error') this.#error(event.error, event.during);
    if (this.#options.quiet) return;
    // Each of several webhooks fails for a reason of its own, which is printed. A single webhook's failure is named by the
    // line about the next round.
    if (event.kind === 'attempt' && this.#severalWebhooks) this.#failed(event.delivery, event.attempt);
    if (event.kind === 'rescheduled') this.#rescheduled(event.delivery);
  }

  /** Prints that a batch will be retried. The reason names the URL. */
  batch({ attempts, reason, waitMs, messages }: BatchRetry): void {
    if (this.#options.quiet) return;
    const what = messages === 1 ? '1 message' : `${messages} messages`;
    this.#print({
      label: 'retry:',
      what: `${printable(reason)}; try ${attempts + 1}`,
      waitMs,
      name: `batch of ${what}`,
    });
  }

  #failed(delivery: Delivery, attempt: AttemptRecord): void {
    // An attempt that an interruption aborted is not printed: it did not fail by itself, and is not retried.
    if (attempt.result === 'delivered' || attempt.error === 'aborted') return;
    this.#gather({ label: 'failed:', what: attemptText(attempt), name: deliveryName(delivery) });
  }

  #rescheduled(delivery: Delivery): void {
    const { dueAt, progress } = delivery;
    const last = progress.attempts.at(-1);
    if (last === undefined) return;
    const waitMs = dueAt - (last.at + last.ms);
    // After an interruption, the delivery keeps its place in the queue, but this process does not retry it.
    if (waitMs <= 0) return;
    const next = `round ${progress.rounds + 1}`;
    const what = this.#severalWebhooks ? next : `${attemptText(last)}; ${next}`;
    this.#gather({ label: 'retry:', what, waitMs, name: deliveryName(delivery) });
    this.#hintAtReceiver(last);
  }

  /** Prints once how to start a receiver at an address of this machine at which nothing listens. */
  #hintAtReceiver({ error, url }: AttemptRecord): void {
    if (this.#hasHinted || error !== 'refused' || !URL.canParse(url)) return;
    const { hostname, protocol, port } = new URL(url);
    if (!isLoopbackHost(hostname) || protocol !== 'http:') return;
    this.#hasHinted = true;
    const { io, note } = this.#options;
    const listen = io.named(`hooks listen --port ${port || 80}`);
    const hint = `start the receiver there, or run ${listen} in another terminal; Ctrl-C stops the retries`;
    noteHint({ note, errColor: io.errColor }, hint);
  }

  #error(error: unknown, during: string): void {
    const { io, note } = this.#options;
    const message = messageOf(error);
    const output = { note, errColor: io.errColor };
    noteError(output, `${printable(message)} (${during}); it is tried again`);
    const hint = error instanceof HooksError ? error.hint : undefined;
    // An error that occurs repeatedly prints its hint only the first time.
    if (hint !== undefined && hint !== this.#hint) noteHint(output, printable(hint));
    this.#hint = hint;
  }

  /** Prints the gathered lines. Called when the pipeline is closed. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { count, ...line } of this.#gathered.values()) {
      this.#print(count === 1 ? line : { ...line, name: `${count} messages` });
    }
    this.#gathered.clear();
  }

  /** Counts a line together with equal ones. The shortest wait counts, because then something happens again. */
  #gather(line: GatheredLine): void {
    if (this.#options.gathersRetries !== true) return this.#print(line);
    const key = `${line.label} ${line.what}`;
    const { count = 0, waitMs } = this.#gathered.get(key) ?? {};
    const shortest = Math.min(waitMs ?? Infinity, line.waitMs ?? Infinity);
    this.#gathered.set(key, {
      ...line,
      ...(shortest < Infinity && { waitMs: shortest }),
      count: count + 1,
    });
    this.#timer ??= setTimeout(() => this.end(), GATHER_MS);
  }

  #print({ label, what, waitMs, name }: GatheredLine): void {
    const { io, note } = this.#options;
    const next = waitMs === undefined ? '' : ` in ${durationText(waitMs)}`;
    note(`${io.errColor.yellow(label)} ${what}${next} ${io.errColor.dim(`(${name})`)}`);
  }
}

function deliveryName({ type, messageId }: Delivery): string {
  return `${type} ${printable(messageId, 200)}`;
}
