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
  /** The numbers of events one after the other, and the time before which all are told. */
  | { readonly kind: 'events'; readonly numbers: Float64Array; readonly now: number }
  | { readonly kind: 'ended'; readonly times: PartTimes; readonly report: LoadReport }
  | { readonly kind: 'error'; readonly sentence: string; readonly hint: string | undefined };

/** Sends the share of a load in a thread of its own. Its end before `close` is an error. */
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

  /** Waits until the thread can send. Called once, before the first part. Throws the error of a thread that cannot. */
  async opened(): Promise<void> {
    await this.#ended();
  }

  part(part: LoadPart, events: LoadEvents): Promise<PartTimes> {
    this.#events = events;
    this.#tell({ kind: 'part', part });
    return this.#ended();
  }

  stop(): void {
    this.#tell({ kind: 'stop' });
  }

  abort(): void {
    this.#tell({ kind: 'abort' });
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }

  #tell(command: ThreadCommand): void {
    this.#thread.postMessage(command, []);
  }

  /** Waits until the thread has done what it was told, or has failed. */
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

/** Replaces built-in schemes by their names: the copy of one in another thread would be a new scheme whose name is taken. */
function withSchemeNames(sources: Sources): Sources {
  const names = new Map<unknown, string>(BUILT_IN_SCHEMES.map((scheme) => [scheme, scheme.name]));
  const named = JSON.stringify(sources, (_key, value: unknown) => names.get(value) ?? value);
  return JSON.parse(named) as Sources; // sources are plain data
}

/** Numbers of an event in a message between threads. */
const NUMBERS = 5;

function addEvents(numbers: Float64Array, { add }: LoadEvents): void {
  for (let at = 0; at < numbers.length; at += NUMBERS) {
    const [kind = 0, time = 0, dueAt = 0, ms = 0, serviceMs = 0] = numbers.subarray(at, at + NUMBERS);
    add({ kind: LOAD_EVENTS[kind] ?? 'failed', at: time, dueAt, ms, serviceMs });
  }
}

/** Time for which events are collected: a message between threads costs as much as a hundred of them. */
const COLLECT_MS = 50;
/** Numbers to collect at most: at the end, many messages that could not be sent are told at once. */
const MAX_NUMBERS = 100_000;

/** Runs in the thread: opens the sender, and does what it is told. */
async function runThread(port: MessagePort, setup: LoadSetup): Promise<void> {
  const tell = (message: ThreadMessage): void => port.postMessage(message);
  const fail = (error: unknown): void => {
    // An error of the program ends the thread with its stack.
    if (!(error instanceof HooksError)) throw error;
    tell({ kind: 'error', sentence: errorSentence(error), hint: error.hint });
  };
  const onInvalid = (sentence: string): void => tell({ kind: 'invalid', sentence });
  const run = await openLoadRun(setup, { stdin: Readable.from([]), onInvalid }).catch(fail);
  if (run === undefined) return;
  const sendPart = async (part: LoadPart): Promise<void> => {
    let [numbers, toldAt]: [number[], number] = [[], 0];
    const flush = (now: number): void => {
      tell({ kind: 'events', numbers: Float64Array.from(numbers), now });
      [numbers, toldAt] = [[], now];
    };
    const times = await run.part(part, {
      add: ({ kind, at, dueAt, ms, serviceMs }) => {
        numbers.push(LOAD_EVENTS.indexOf(kind), at, dueAt, ms, serviceMs);
        if (numbers.length >= MAX_NUMBERS) flush(toldAt);
      },
      advance: (now) => {
        if (now - toldAt >= COLLECT_MS) flush(now);
      },
    });
    flush(times.endedMs);
    tell({ kind: 'ended', times, report: run.report });
  };
  port.on('message', (command: ThreadCommand) => {
    if (command.kind === 'part') void sendPart(command.part).catch(fail);
    else run[command.kind]();
  });
  tell({ kind: 'ended', times: { sentMs: 0, endedMs: 0, isShort: false }, report: run.report });
}

// The module starts itself as a thread, so that the build needs no entry of its own for it.
const { loadSetup } = (workerData ?? {}) as { readonly loadSetup?: LoadSetup }; // from the constructor above
if (!isMainThread && parentPort !== null && loadSetup !== undefined) void runThread(parentPort, loadSetup);
