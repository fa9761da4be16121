import { Readable } from 'node:stream';
import { isMainThread, parentPort, Worker, workerData, type MessagePort } from 'node:worker_threads';
import type { Sources } from '../../../../engine/options.ts';
import { ConfigError, HooksError, InputError, messageOf } from '../../../../errors.ts';
import { LOAD_EVENTS } from '../../../../replay/load/load-recorder.ts';
import { BUILT_IN_SCHEMES } from '../../../../signature/schemes/built-in.ts';
import { errorSentence } from '../../../error-text.ts';
import type { LoadEvents, LoadPart, LoadReport, LoadSending, PartTimes } from './load-sending.ts';
import { openLoadRun, type LoadSetup } from './open-load-run.ts';

type ThreadCommand = { readonly kind: 'part'; readonly part: LoadPart } | { readonly kind: 'stop' | 'abort' };

type ThreadMessage =
  | { readonly kind: 'invalid'; readonly sentence: string }
  /** Events, each encoded as `NUMBERS` numbers. No later message contains an event before `now`. */
  | { readonly kind: 'events'; readonly numbers: Float64Array; readonly now: number }
  | { readonly kind: 'ended'; readonly times: PartTimes; readonly report: LoadReport }
  | { readonly kind: 'error'; readonly sentence: string; readonly hint: string | undefined };

/** Sends a share of a load in a worker thread. `opened` and `part` reject if the thread fails or exits. */
export class LoadThread implements LoadSending {
  report: LoadReport;
  readonly #thread: Worker;
  readonly #onInvalid: (sentence: string) => void;
  #events: LoadEvents | undefined;
  #error: Error | undefined;
  #settle:
    { readonly resolve: (times: PartTimes) => void; readonly reject: (error: Error) => void } | undefined;

  constructor(setup: LoadSetup, onInvalid: (sentence: string) => void) {
    const none = {
      read: 0,
      delivered: 0,
      failed: 0,
      unsent: 0,
      invalid: 0,
      filtered: 0,
      skipped: 0,
      warmupFailed: 0,
    };
    this.report = { url: '', counts: none, failures: {}, isEnded: false };
    this.#onInvalid = onInvalid;
    const loadSetup = { ...setup, sources: withSchemeNames(setup.sources) };
    this.#thread = new Worker(new URL(import.meta.url), { workerData: { loadSetup } });
    const fail = (why: string): void =>
      this.#fail(
        new ConfigError(`Worker ${setup.share.index + 1} of the load ended: ${why}`, {
          flag: '--workers',
          hint: 'lower --workers, or leave it out to send in one thread',
        }),
      );
    this.#thread.on('message', (message: ThreadMessage) => this.#take(message));
    this.#thread.on('error', (error) => fail(messageOf(error)));
    this.#thread.on('exit', (code) => fail(`exit code ${code}`));
  }

  /**
   * Waits until the thread is ready to send. Call it once, before the first part. Throws HooksError if the thread
   * cannot start.
   */
  async opened(): Promise<void> {
    await this.#ended();
  }

  part(part: LoadPart, events: LoadEvents): Promise<PartTimes> {
    this.#events = events;
    this.#post({ kind: 'part', part });
    return this.#ended();
  }

  stop(): void {
    this.#post({ kind: 'stop' });
  }

  abort(): void {
    this.#post({ kind: 'abort' });
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }

  #post(command: ThreadCommand): void {
    this.#thread.postMessage(command, []);
  }

  /** Resolves when the thread is ready to send, or has finished the current part. Rejects if the thread fails. */
  #ended(): Promise<PartTimes> {
    return new Promise((resolve, reject) => {
      if (this.#error === undefined) this.#settle = { resolve, reject };
      else reject(this.#error);
    });
  }

  #fail(error: Error): void {
    this.#error ??= error;
    this.#settle?.reject(this.#error);
  }

  #take(message: ThreadMessage): void {
    switch (message.kind) {
      case 'invalid':
        this.#onInvalid(message.sentence);
        break;
      case 'events':
        if (this.#events !== undefined) addEvents(message.numbers, this.#events);
        this.#events?.advance(message.now);
        break;
      case 'ended':
        this.report = message.report;
        this.#settle?.resolve(message.times);
        break;
      case 'error':
        this.#fail(new InputError(message.sentence, { hint: message.hint }));
        break;
      default:
        message satisfies never;
    }
  }
}

/**
 * Replaces built-in schemes with their names. A copy in the thread would count as a custom scheme, which must not have
 * the name of a built-in one.
 */
function withSchemeNames(sources: Sources): Sources {
  const names = new Map<unknown, string>(BUILT_IN_SCHEMES.map((scheme) => [scheme, scheme.name]));
  const named = JSON.stringify(sources, (_key, value: unknown) => names.get(value) ?? value);
  return JSON.parse(named) as Sources; // sources are plain data
}

/** Number of values that encode an event in a message between threads. */
const NUMBERS = 5;

function addEvents(numbers: Float64Array, { add }: LoadEvents): void {
  for (let at = 0; at < numbers.length; at += NUMBERS) {
    const [kind = 0, time = 0, dueAt = 0, ms = 0, serviceMs = 0] = numbers.subarray(at, at + NUMBERS);
    add({ kind: LOAD_EVENTS[kind] ?? 'failed', at: time, dueAt, ms, serviceMs });
  }
}

/** Time to collect events before posting them, because posting a message costs as much as handling a hundred events. */
const COLLECT_MS = 50;
/**
 * Maximum number of values to collect before posting them: the end of a load can report many overdue messages at once.
 */
const MAX_NUMBERS = 100_000;

/** Main function of the thread: opens the sender, and executes the commands that the thread receives. */
async function runThread(port: MessagePort, setup: LoadSetup): Promise<void> {
  const post = (message: ThreadMessage): void => port.postMessage(message);
  const fail = (error: unknown): void => {
    // Rethrows errors that are bugs, which ends the thread.
    if (!(error instanceof HooksError)) throw error;
    post({ kind: 'error', sentence: errorSentence(error), hint: error.hint });
  };
  const onInvalid = (sentence: string): void => post({ kind: 'invalid', sentence });
  const run = await openLoadRun(setup, { stdin: Readable.from([]), onInvalid }).catch(fail);
  if (run === undefined) return;
  const sendPart = async (part: LoadPart): Promise<void> => {
    let [numbers, postedAt]: [number[], number] = [[], 0];
    const flush = (now: number): void => {
      post({ kind: 'events', numbers: Float64Array.from(numbers), now });
      [numbers, postedAt] = [[], now];
    };
    const times = await run.part(part, {
      add: ({ kind, at, dueAt, ms, serviceMs }) => {
        numbers.push(LOAD_EVENTS.indexOf(kind), at, dueAt, ms, serviceMs);
        if (numbers.length >= MAX_NUMBERS) flush(postedAt);
      },
      advance: (now) => {
        if (now - postedAt >= COLLECT_MS) flush(now);
      },
    });
    flush(times.endedMs);
    post({ kind: 'ended', times, report: run.report });
  };
  port.on('message', (command: ThreadCommand) => {
    if (command.kind === 'part') void sendPart(command.part).catch(fail);
    else run[command.kind]();
  });
  post({ kind: 'ended', times: { sentMs: 0, endedMs: 0, isShort: false }, report: run.report });
}

// This module is also the entry point of its thread, so that the build needs no second file for it.
const { loadSetup } = (workerData ?? {}) as { readonly loadSetup?: LoadSetup }; // set by the constructor above
if (!isMainThread && parentPort !== null && loadSetup !== undefined) void runThread(parentPort, loadSetup);
