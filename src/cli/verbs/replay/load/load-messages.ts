import { randomUUID } from 'node:crypto';
import type { DirectMessage } from '../../../../app/load/direct-sender.ts';
import type { HooksError } from '../../../../errors.ts';
import { encodeBody, isEnabled, orderKeysOf } from '../../../../message/outgoing-message.ts';
import type { LoadShare } from '../../../../replay/load/load-curve.ts';
import type { EntryReadOptions } from '../../../../replay/reading/entry-collector.ts';
import type { Input } from '../../../../replay/reading/inputs.ts';
import { readEntries } from '../../../../replay/reading/read-entries.ts';
import type { ReplayEntry } from '../../../../replay/reading/replay-entry.ts';
import { ReplaySelection, type SelectionOptions } from '../../../../replay/selection.ts';
import { receivedSignature } from '../../../../signature/received-signature.ts';
import { prepareEntry, readyEntry, type ReadEntry, type ReadyOptions } from '../entry-message.ts';

/** A message of a load, with the keys by which `--order user` keeps its order. */
export interface KeyedMessage extends DirectMessage {
  readonly orderKeys: readonly string[];
}

interface LoadMessagesOptions {
  readonly inputs: readonly Input[];
  readonly reading: EntryReadOptions;
  readonly readyOptions: ReadyOptions;
  readonly selection: SelectionOptions;
  /** Whether to begin again after the last message. */
  readonly loops: boolean;
  /** The share of the selected messages to take. With `loops`, the next pass gives each sender the other ones. */
  readonly share: LoadShare;
  /** Name of the destination, which the `integrations` of a message can exclude. */
  readonly destination: string;
  readonly keepsOrder: boolean;
  readonly onInvalid: (entry: ReplayEntry, error: HooksError) => void;
}

/** Entries to read ahead. */
const MAX_AHEAD = 2_000;
/** Parsed entries that --loop keeps: parsing takes half of the time of a message. */
const MAX_PREPARED = 2_000;
/** Bytes of entries that --loop keeps in memory. Larger files are read again. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** An entry, or the end of a pass over the inputs. */
type PassItem = ReplayEntry | 'end';

/** The messages of a load: reads ahead, so that `next` has one at once. */
export class LoadMessages {
  /** Called when `next` has a message again, or there is none left. */
  onReady: () => void = () => {};
  /** Resolves when the first message is read, or there is none. */
  readonly begun: Promise<void>;
  readonly counts = { read: 0, invalid: 0, filtered: 0, skipped: 0 };
  readonly #options: LoadMessagesOptions;
  readonly #closing = new AbortController();
  readonly #prepared = new Map<ReplayEntry, ReadEntry>();
  #ahead: PassItem[] = [];
  #at = 0;
  #pass = 0;
  #selection: ReplaySelection;
  /** Number of selected messages in this pass, those of other senders included. */
  #selected = 0;
  /** Number of passes at the end without a message for this sender. */
  #emptyPasses = 0;
  #takenInPass = 0;
  #isEnded = false;
  #error: unknown;
  #wanted: (() => void) | undefined;

  constructor(options: LoadMessagesOptions) {
    this.#options = options;
    this.#selection = new ReplaySelection(options.selection);
    this.begun = new Promise((resolve) => {
      this.onReady = resolve;
    });
    void this.#readAhead().catch((error: unknown) => {
      this.#error = error;
      this.#end();
    });
  }

  /** Ends the reading. */
  close(): void {
    this.#closing.abort();
    this.#wanted?.();
  }

  /** Whether no message is left. */
  get isEnded(): boolean {
    return this.#isEnded && this.#left === 0;
  }

  get #left(): number {
    return this.#ahead.length - this.#at;
  }

  /** Returns the next message; undefined if none is read yet, or none is left. Throws the error of an unreadable input. */
  next(): KeyedMessage | undefined {
    for (;;) {
      const item = this.#take();
      if (item === undefined) break;
      const message = item === 'end' ? this.#endPass() : this.#messageOf(item);
      if (message !== undefined) return message;
    }
    if (this.#error !== undefined) throw this.#error;
    return undefined;
  }

  #take(): PassItem | undefined {
    if (this.#at >= this.#ahead.length) return undefined;
    const item = this.#ahead[this.#at++];
    if (this.#left < MAX_AHEAD / 2) this.#wanted?.();
    return item;
  }

  /** Begins the next pass. Ends the messages after passes without one, because another pass would have none either. */
  #endPass(): undefined {
    this.#emptyPasses = this.#takenInPass === 0 ? this.#emptyPasses + 1 : 0;
    if (this.#emptyPasses === this.#options.share.of) this.#end();
    [this.#takenInPass, this.#selected] = [0, 0];
    this.#pass++;
    this.#selection = new ReplaySelection(this.#options.selection);
  }

  #end(): void {
    this.#isEnded = true;
    this.#wanted?.();
    this.onReady();
  }

  #messageOf(found: ReplayEntry): KeyedMessage | undefined {
    const { readyOptions, destination, keepsOrder, selection, share } = this.#options;
    if (this.#selection.isDone) return undefined;
    const selected = this.#selection.takes(
      selection.filter === undefined ? undefined : this.#prepare(found).value,
    );
    if (selected === false) return share.index === 0 ? this.#leaveOut('skipped') : undefined;
    if ((this.#selected++ + this.#pass) % share.of !== share.index) return undefined;
    const ready =
      selected === true ? readyEntry(this.#prepare(found), readyOptions) : { entry: found, error: selected };
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
      ...(readyOptions.exact && { received: receivedSignature(ready.entry.headers ?? []) }),
    };
  }

  #prepare(found: ReplayEntry): ReadEntry {
    const prepared = this.#prepared.get(found) ?? prepareEntry(found, this.#options.readyOptions);
    if (this.#options.loops && this.#prepared.size < MAX_PREPARED) this.#prepared.set(found, prepared);
    return prepared;
  }

  /** Counts an entry that is not sent: in the first pass only, so that a count is a number of entries. */
  #leaveOut(why: 'skipped' | 'filtered' | 'invalid'): undefined {
    if (this.#pass > 0) return;
    this.counts[why]++;
    if (why !== 'skipped') this.counts.read++;
  }

  #reject(entry: ReplayEntry, error: HooksError): undefined {
    if (this.#pass === 0) this.#options.onInvalid(entry, error);
    return this.#leaveOut('invalid');
  }

  async #readAhead(): Promise<void> {
    for await (const items of this.#passes()) {
      await this.#add(items);
      if (this.#isEnded || this.#closing.signal.aborted) break;
    }
    this.#end();
  }

  /** Reads all inputs once, with `loops` again and again: from memory what fits, or cannot be read again. */
  async *#passes(): AsyncGenerator<readonly PassItem[]> {
    const { inputs, loops } = this.#options;
    const canReadAgain = inputs.every(({ identity }) => identity !== undefined);
    const kept: ReplayEntry[] = [];
    for (let pass = 0; kept.length === 0; pass++) {
      let bytes = 0;
      for await (const entries of this.#entries()) {
        for (const entry of entries) bytes += entry.kind === 'broken' ? 0 : entry.bytes.length;
        if (loops && bytes <= KEPT_BYTES) kept.push(...entries);
        else if (canReadAgain) kept.length = 0;
        yield entries;
        // The messages of an earlier pass can still be ahead of this one.
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

  /** Adds entries, and waits until fewer than MAX_AHEAD are left. */
  async #add(items: readonly PassItem[]): Promise<void> {
    this.#ahead = [...this.#ahead.slice(this.#at), ...items];
    this.#at = 0;
    this.onReady();
    while (this.#left >= MAX_AHEAD && !this.#isEnded && !this.#closing.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wanted = resolve;
      });
    }
  }
}
