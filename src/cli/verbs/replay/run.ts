import { sleep, systemClock } from '../../../clock.ts';
import { ClosedError, HooksError } from '../../../errors.ts';
import { isJsonObject } from '../../../message/types.ts';
import type { SendableMessage } from '../../../message/sendable-message.ts';
import type { Outcome } from '../../../app/pipeline/outcomes.ts';
import type { Checkpoint } from '../../../replay/checkpoint/checkpoint.ts';
import type { ReplayEntry, FoundEntry } from '../../../replay/reading/replay-entry.ts';
import type { Input } from '../../../replay/reading/inputs.ts';
import type { ExpectedTotal } from '../../../replay/expected-total.ts';
import { isAllTaken, type Ledger, type TakenOutcome } from '../../../replay/ledger.ts';
import type { ReplayPace } from '../../../replay/pace.ts';
import type { EntryReadOptions } from '../../../replay/reading/entry-collector.ts';
import { readEntries } from '../../../replay/reading/read-entries.ts';
import { recordedAtOf } from '../../../replay/rewrite.ts';
import type { ReplaySelection } from '../../../replay/selection.ts';
import type { Io } from '../../io.ts';
import type { OpenPipeline } from '../../flags/delivery/open-pipeline.ts';
import { destinationMs, triedDestination } from '../../print/deciding-attempt.ts';
import { replayLimits, ReplaySemaphore } from '../../../replay/replay-semaphore.ts';
import { boundYoungGeneration, releaseYoungGeneration } from '../../../replay/young-generation.ts';
import { EarlierPart } from './earlier-part.ts';
import {
  isFixedPoint,
  prepareEntry,
  readyEntry,
  type ReadyEntry,
  type ReadyOptions,
} from './entry-message.ts';
import { finishCheckpoint } from './finish-checkpoint.ts';
import type { ReplayOptions } from './options.ts';
import type { ReplayOutput } from './output.ts';
import { ReceivedTally } from './received-tally.ts';
import type { RecordedHeaders } from '../../flags/delivery/recorded-headers.ts';
import type { ResponseWatch } from '../../../replay/response-watch.ts';
import { sentOf, settledFacts, unsentOf, type Numbered, type Sent } from './sent-message.ts';

export interface ReplayParts {
  readonly inputs: readonly Input[];
  readonly options: ReplayOptions;
  readonly output: ReplayOutput;
  readonly checkpoint: Checkpoint | undefined;
  /** Whether this is a preview (`--dry-run`, `--curl`), which prints requests, sends nothing, and reports only invalid entries. */
  readonly isPreview: boolean;
  readonly watch: ResponseWatch | undefined;
  readonly ledger: Ledger;
  readonly expected: ExpectedTotal;
  readonly reading: EntryReadOptions;
  /** The outcome of a message that counts as a success: `queued` with --queue, else `delivered`. */
  readonly taken: TakenOutcome;
  readonly io: Io;
  readonly open: OpenPipeline;
  readonly pace: ReplayPace;
  readonly selection: ReplaySelection;
  readonly readyOptions: ReadyOptions;
  readonly recorded: RecordedHeaders;
}

type ReplayResult = Readonly<Record<'foundAny' | 'isGood', boolean>>;

/** One replay, from the first entry to the summary. */
export class ReplayRun {
  readonly #parts: ReplayParts;
  readonly #semaphore: ReplaySemaphore;
  readonly #earlier: EarlierPart;
  readonly #received: ReceivedTally;
  /** Stops the replay. Aborted by an interruption, an error, --fail-fast or --give-up-after. */
  readonly #stop: AbortSignal;
  readonly #failure = new AbortController();
  #index = -1;
  #error: unknown;
  #closed: Promise<void> | undefined;

  constructor(parts: ReplayParts) {
    this.#parts = parts;
    const signals = [parts.io.signal, this.#failure.signal, parts.watch?.signal];
    this.#stop = AbortSignal.any(signals.filter((signal) => signal !== undefined));
    // Closes the pipeline at once, because the reading loop notices an abort late. `finish` awaits the same promise.
    this.#stop.addEventListener('abort', () => void this.#close().catch(() => {}));
    this.#semaphore = new ReplaySemaphore(replayLimits(parts.open));
    this.#received = new ReceivedTally(parts.open.loopback);
    this.#earlier = new EarlierPart({ ...parts, isExact: parts.readyOptions.exact });
  }

  async finish(): Promise<ReplayResult> {
    try {
      await this.#earlier.print();
      for (const input of this.#parts.inputs) await this.#replayInput(input);
      if (!this.#stop.aborted) this.#parts.ledger.readToEnd();
      // Sends the last batch, because reading can stop at --limit before the batch is full.
      this.#flush();
      // Waits until all messages are settled, because --fail-fast cannot stop the replay once `close()` is called.
      await this.#semaphore.until('empty', this.#stop);
    } catch (error) {
      this.#error ??= error;
    }
    const isComplete = !this.#stop.aborted && this.#error === undefined;
    this.#parts.watch?.stop();
    await this.#close();
    await this.#semaphore.until('empty');
    releaseYoungGeneration();
    return this.#summarize(isComplete);
  }

  #close(): Promise<void> {
    this.#closed ??= this.#parts.open.close({ interrupted: this.#stop.aborted || this.#error !== undefined });
    return this.#closed;
  }

  async #replayInput(input: Input): Promise<void> {
    const { reading, selection, expected } = this.#parts;
    if (this.#stop.aborted || selection.isDone) return;
    for await (const entries of readEntries(input, this.#stop, reading)) {
      expected.found(entries.length);
      boundYoungGeneration();
      for (const entry of entries) {
        if (this.#stop.aborted || selection.isDone) return;
        const waiting = this.#take(entry);
        if (waiting !== undefined) await waiting;
      }
      // Sends the entries read so far, because the next entries may arrive late.
      this.#flush();
    }
  }

  /** Processes an entry. Returns undefined instead of a settled promise, which saves a microtask for most messages. */
  #take(entry: ReplayEntry): Promise<void> | undefined {
    const index = ++this.#index;
    const { checkpoint, selection, output, options, readyOptions } = this.#parts;
    const read = prepareEntry(entry, readyOptions);
    const selected = selection.takes(read.value);
    if (selected === false) {
      this.#parts.ledger.skip();
      return undefined;
    }
    if (checkpoint?.has(index)) return this.#earlier.skip(index, read);
    const found = selected === true ? readyEntry(read, readyOptions) : { entry, error: selected };
    if (found.error !== undefined) return this.#invalid({ ...found, index }, found.error);
    if (options.exact && !output.hasWarned && !isFixedPoint(found)) output.warnOfBytes(found.entry.origin);
    return this.#deliverInTime({ entry: found.entry, index, number: this.#parts.ledger.open() }, found);
  }

  #deliverInTime(
    numbered: Numbered<FoundEntry>,
    { value, ready }: Pick<ReadyEntry, 'value' | 'ready'>,
  ): Promise<void> | undefined {
    const { options, pace } = this.#parts;
    // Parses the timestamp only for --speed, because parsing is slow.
    const recordedAt = options.speed !== undefined && isJsonObject(value) ? recordedAtOf(value) : undefined;
    const waitMs = pace.next(recordedAt);
    if (waitMs > 0 || this.#semaphore.isFull) return this.#deliverLater(waitMs, numbered, ready);
    this.#deliver(numbered, ready);
    return undefined;
  }

  async #deliverLater(waitMs: number, numbered: Numbered<FoundEntry>, ready: SendableMessage): Promise<void> {
    this.#flush();
    if (waitMs > 0) await sleep(systemClock, waitMs, this.#stop);
    if (this.#semaphore.isFull) await this.#semaphore.until('room', this.#stop);
    this.#deliver(numbered, ready);
  }

  #deliver(numbered: Numbered<FoundEntry>, ready: SendableMessage): void {
    const { checkpoint, options, open, watch, output, recorded } = this.#parts;
    const { message, exactBody } = ready;
    if (options.exact) recorded.add(numbered.entry);
    const sent = sentOf(numbered, ready, options, output.patterns);
    this.#semaphore.take(sent.bytes);
    watch?.sent();
    try {
      const deliveryId = checkpoint?.deliveryId(sent.index);
      // A message without an id gets the delivery id. A resumed replay sends the same id again.
      const messageId = message.messageId ?? deliveryId;
      const { orderKeys } = sent;
      open.pipeline.deliverThen({ message, messageId, exactBody, orderKeys, deliveryId }, (outcome) =>
        this.#conclude(sent, outcome),
      );
    } catch (error) {
      // The pipeline was closed because the replay was stopped. The message counts as unsent.
      if (error instanceof ClosedError) return this.#conclude(sent, unsentOf(message));
      this.#semaphore.give(sent.bytes);
      throw error;
    }
  }

  #conclude(sent: Sent, outcome: Outcome): void {
    const release = (): void => this.#semaphore.give(sent.bytes);
    try {
      const writing = this.#parts.output.causes.find(outcome, (cause) => this.#settled(sent, outcome, cause));
      // Aborts before `writing` ends: finding the cause can load a module, and no message may be sent in the meantime.
      if (outcome.outcome === 'failed' && this.#parts.options.failFast) this.#failure.abort();
      if (writing === undefined) release();
      else void writing.catch((error: unknown) => this.#fail(error)).then(release);
    } catch (error) {
      this.#fail(error);
      release();
    }
  }

  #settled(sent: Sent, outcome: Outcome, cause: Sent['facts']['cause']): Promise<void> | undefined {
    const { checkpoint, ledger, output, watch, isPreview } = this.#parts;
    const tried = triedDestination(outcome);
    const isSettled = outcome.outcome !== 'unsent';
    watch?.settled({ isDelivered: outcome.outcome === 'delivered' });
    ledger.close(sent.number, outcome.outcome, tried && isSettled ? destinationMs(tried) : undefined);
    const found = output.patterns.corrected(cause);
    const facts = settledFacts(sent.facts, this.#received.judgementOf(tried), found);
    const writing = isPreview ? undefined : output.settled(sent, outcome, facts);
    if (isSettled) checkpoint?.mark(sent.index);
    return writing;
  }

  /** Stops the replay after an error. `finish` throws the first error. */
  #fail(error: unknown): void {
    this.#error ??= error;
    this.#failure.abort();
  }

  /** Writes an invalid entry. With --fail-fast, first waits until all earlier messages are settled, then stops the replay. */
  async #invalid({ entry, index }: Omit<Numbered<ReplayEntry>, 'number'>, error: HooksError): Promise<void> {
    const { checkpoint, ledger, options, output } = this.#parts;
    if (options.failFast) {
      this.#flush();
      await this.#semaphore.until('empty', this.#stop);
      if (this.#stop.aborted) return;
    }
    ledger.close(ledger.open(), 'invalid');
    const writing = output.invalid({ entry, index }, error);
    checkpoint?.mark(index);
    if (options.failFast) this.#failure.abort();
    await writing;
  }

  async #summarize(isComplete: boolean): Promise<ReplayResult> {
    const { ledger, output, isPreview } = this.#parts;
    const [summary, foundAny, error] = [ledger.summary(), this.#index >= 0, this.#error];
    if (error && foundAny && !isPreview) output.showSummary(summary, this.#received.text());
    if (error || !foundAny || isPreview) await output.abandon();
    if (error !== undefined) throw error;
    if (!foundAny) return { foundAny, isGood: false };
    if (!isPreview) await output.finish(summary, this.#received.text());
    await finishCheckpoint({ isComplete: isComplete && summary.unsent === 0, ...this.#parts });
    await output.files.closeJournal();
    return { foundAny, isGood: isAllTaken(summary) && this.#received.isAllValid };
  }

  /** Sends the current batch, unless the replay was stopped. */
  #flush(): void {
    if (!this.#stop.aborted) void this.#parts.open.pipeline.client.flush();
  }
}
