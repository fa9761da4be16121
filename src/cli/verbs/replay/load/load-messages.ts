import { randomUUID } from 'node:crypto';
import type { UnsignedBody } from '../../../../engine/round/attempt.ts';
import type { HooksError } from '../../../../errors.ts';
import { encodeBody, isEnabled, orderKeysOf } from '../../../../message/outgoing-message.ts';
import type { LoadShare } from '../../../../replay/load/load-curve.ts';
import type { EntryReadOptions } from '../../../../replay/reading/entry-collector.ts';
import type { Input } from '../../../../replay/reading/inputs.ts';
import { readEntries } from '../../../../replay/reading/read-entries.ts';
import type { ReplayEntry } from '../../../../replay/reading/replay-entry.ts';
import { ReplaySelection, type SelectionOptions } from '../../../../replay/selection.ts';
import { recordedHeaders } from '../../../flags/delivery/recorded-headers.ts';
import { prepareEntry, readyEntry, type ReadEntry, type ReadyOptions } from '../entry-message.ts';

/** A message of a load. Messages that share an order key are sent one after the other (`--order user`). */
export interface KeyedMessage extends UnsignedBody {
  readonly orderKeys: readonly string[];
}

interface LoadMessagesOptions {
  readonly inputs: readonly Input[];
  readonly reading: EntryReadOptions;
  readonly readyOptions: ReadyOptions;
  readonly selection: SelectionOptions;
  /** Whether to start again after the last message. */
  readonly loops: boolean;
  /** The share of the selected messages that this sender sends. With `loops`, the senders swap shares after each pass. */
  readonly share: LoadShare;
  /** Name of the destination, which the `integrations` of a message can exclude. */
  readonly destination: string;
  readonly keepsOrder: boolean;
  readonly onInvalid: (entry: ReplayEntry, error: HooksError) => void;
}

/** Number of entries to read ahead. */
const MAX_AHEAD = 2_000;
/** Maximum bytes of entries that --loop keeps in memory for later passes. Larger inputs are read again, if possible. */
const KEPT_BYTES = 16 * 1024 * 1024;

/** An entry that was read ahead. Keeps its parsed value for later passes: parsing is half of the work for a message. */
interface AheadEntry {
  readonly found: ReplayEntry;
  read?: ReadEntry;
  received?: UnsignedBody['received'];
}

/** Supplies the messages of a load. Reads ahead, so that `next` can return a message without waiting. */
export class LoadMessages {
  /** Called when `next` may return a message again, or when no message is left. */
  onReady: () => void = () => {};
  /** Resolves when the first entries are read, there are none, or they cannot be read. */
  readonly begun: Promise<void>;
  readonly counts = { read: 0, invalid: 0, filtered: 0, skipped: 0 };
  readonly #options: LoadMessagesOptions;
  readonly #closing = new AbortController();
  readonly #passes = this.#readPasses();
  #isReading = false;
  #isEnded = false;
  #error: unknown;
  #ahead: (AheadEntry | 'end')[] = [];
  #at = 0;
  #pass = 0;
  #selection: ReplaySelection;
  /** Number of selected entries in this pass, including those of other senders. */
  #selected = 0;
  #takenInPass = 0;
  /** Number of consecutive passes without a message for this sender. */
  #emptyPasses = 0;

  constructor(options: LoadMessagesOptions) {
    this.#options = options;
    this.#selection = new ReplaySelection(options.selection);
    this.begun = new Promise((resolve) => {
      this.onReady = resolve;
    });
    void this.#readAhead();
  }

  /** Stops reading, and closes the open file. */
  close(): void {
    this.#closing.abort();
    void this.#passes.return().catch(() => {});
  }

  /** Whether no message is left. */
  get isEnded(): boolean {
    return this.#isEnded && this.#left === 0;
  }

  get #left(): number {
    return this.#ahead.length - this.#at;
  }

  /** Returns the next message; undefined if none is read yet, or none is left. Throws the error that ended reading. */
  next(): KeyedMessage | undefined {
    for (let item = this.#ahead[this.#at]; item !== undefined; item = this.#ahead[this.#at]) {
      this.#at++;
      if (this.#left < MAX_AHEAD / 2 && !this.#isReading) void this.#readAhead();
      const message = item === 'end' ? this.#endPass() : this.#messageOf(item);
      if (message !== undefined) return message;
    }
    if (this.#error !== undefined) throw this.#error;
    return undefined;
  }

  /**
   * Starts the next pass. After as many empty passes in a row as there are senders, this sender has had every share, and no
   * message is left.
   */
  #endPass(): undefined {
    this.#emptyPasses = this.#takenInPass === 0 ? this.#emptyPasses + 1 : 0;
    if (this.#emptyPasses === this.#options.share.of) this.#isEnded = true;
    [this.#takenInPass, this.#selected] = [0, 0];
    this.#pass++;
    this.#selection = new ReplaySelection(this.#options.selection);
  }

  #messageOf(item: AheadEntry): KeyedMessage | undefined {
    const { readyOptions, destination, keepsOrder, selection, share } = this.#options;
    if (this.#selection.isDone) return undefined;
    const read = (): ReadEntry => (item.read ??= prepareEntry(item.found, readyOptions));
    const selected = this.#selection.takes(selection.filter === undefined ? undefined : read().value);
    if (selected === false) return share.index === 0 ? this.#leaveOut('skipped') : undefined;
    if ((this.#selected++ + this.#pass) % share.of !== share.index) return undefined;
    const ready =
      selected === true ? readyEntry(read(), readyOptions) : { entry: item.found, error: selected };
    if (ready.error !== undefined) return this.#reject(ready.entry, ready.error);
    const { message, exactBody } = ready.ready;
    const isSent = readyOptions.exact || isEnabled(message.integrations, destination);
    if (!isSent) return this.#leaveOut('filtered');
    this.counts.read++;
    this.#takenInPass++;
    return {
      messageId: message.messageId ?? randomUUID(),
      body: exactBody ?? Buffer.from(encodeBody(message)),
      orderKeys: keepsOrder ? orderKeysOf(message) : [],
      received: readyOptions.exact ? (item.received ??= recordedHeaders(ready.entry)) : undefined,
    };
  }

  /** Counts an entry that is not sent, but only in the first pass, so that each entry counts once. */
  #leaveOut(why: 'skipped' | 'filtered' | 'invalid'): undefined {
    if (this.#pass > 0) return;
    this.counts[why]++;
    if (why !== 'skipped') this.counts.read++;
  }

  #reject(entry: ReplayEntry, error: HooksError): undefined {
    if (this.#pass === 0) this.#options.onInvalid(entry, error);
    return this.#leaveOut('invalid');
  }

  /** Reads until at least MAX_AHEAD entries are waiting, or no more entries will come. */
  async #readAhead(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#left < MAX_AHEAD && !this.#isEnded) {
        const { value, done } = await this.#passes.next();
        if (done) this.#isEnded = true;
        else {
          this.#ahead = [...this.#ahead.slice(this.#at), ...value];
          this.#at = 0;
        }
        this.onReady();
      }
    } catch (error) {
      [this.#error, this.#isEnded] = [error, true];
      this.onReady();
    }
    this.#isReading = false;
  }

  /**
   * Yields the entries of all inputs, and then `end`. With `loops`, repeats this forever. Later passes come from memory if
   * the entries have at most KEPT_BYTES, or if an input cannot be read again (a pipe).
   */
  async *#readPasses(): AsyncGenerator<readonly (AheadEntry | 'end')[], void> {
    const { inputs, loops } = this.#options;
    const canReadAgain = inputs.every(({ identity }) => identity !== undefined);
    const kept: AheadEntry[] = [];
    for (let pass = 0; kept.length === 0; pass++) {
      let bytes = 0;
      for await (const entries of this.#entries()) {
        const items = entries.map((found): AheadEntry => ({ found }));
        for (const entry of entries) bytes += entry.kind === 'broken' ? 0 : entry.bytes.length;
        if (loops && (bytes <= KEPT_BYTES || !canReadAgain)) kept.push(...items);
        else kept.length = 0;
        yield items;
        // Compares the passes, because `next`, which uses `#selection`, may still be in an earlier pass.
        if (this.#pass === pass && this.#selection.isDone) break;
      }
      yield ['end'];
      if (!loops) return;
    }
    for (;;) {
      for (let at = 0; at < kept.length; at += MAX_AHEAD) yield kept.slice(at, at + MAX_AHEAD);
      yield ['end'];
    }
  }

  async *#entries(): AsyncGenerator<readonly ReplayEntry[]> {
    const { inputs, reading } = this.#options;
    for (const input of inputs) yield* readEntries(input, this.#closing.signal, reading);
  }
}
