import { sleep, type Clock } from '../../clock.ts';
import type { Kill, Schedule, Wave } from '../plan/schedule.ts';
import type { SendHold, ProofMessage, ProofResponse, ProofSendOptions, Subject } from '../subject.ts';

interface ExecutionOptions {
  readonly subject: Subject;
  readonly messages: readonly ProofMessage[];
  /** Returns the usual time until the response to the message with this index, in ms. */
  readonly latencyMs: (message: number) => number;
  /** Minimum time to retry a message that the receiver says it is still working on, in ms. */
  readonly busyMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** One request of a schedule, with its retries, and the last response. */
export interface ProofExchange {
  readonly message: number;
  /** Milliseconds from the start of the schedule to the first try of the request. */
  readonly atMs: number;
  readonly response: ProofResponse;
  /** Number of times that the request was sent: like a sender, a proof retries if the response asks for it. */
  readonly tries: number;
  /** Status of the first response that made the proof retry the request. */
  readonly failedWith?: number | undefined;
  /** Milliseconds from the request to the kill of the receiver. */
  readonly killedAfterMs?: number;
}

export interface Execution {
  readonly exchanges: readonly ProofExchange[];
  /** Failure besides a wrong state: the receiver does not accept a message, has exited, or does not start. */
  readonly failure: ExecutionFailure | undefined;
}

export type ExecutionFailure =
  | { readonly kind: 'not-taken'; readonly exchange: ProofExchange }
  | { readonly kind: 'gone'; readonly reason: string }
  | { readonly kind: 'not-started'; readonly reason: string };

/** Statuses with which receivers respond to a copy while the first request is in progress. */
const BUSY: ReadonlySet<number | undefined> = new Set([409, 423, 425, 429, 503]);

/**
 * Maximum time to hold a burst until all its requests have connections. A receiver with TLS and one thread may accept the
 * next connection only after its response to the previous request.
 */
const LONGEST_HOLD_MS = 100;
/** Waits before the retries of a request: shorter than those of real senders, to save time. */
const RETRY_MS: readonly number[] = [50, 100, 200, 400, 800];

/** Sends the requests of a schedule, and retries as a sender would. Ends early if the receiver never accepts a message. */
export class ScheduleExecution {
  readonly #schedule: Pick<Schedule, 'waves'>;
  readonly #options: ExecutionOptions;
  readonly #startedAt: number;
  readonly #exchanges: ProofExchange[] = [];
  readonly #taken = new Set<number>();
  #failure: ExecutionFailure | undefined;

  constructor(schedule: Pick<Schedule, 'waves'>, options: ExecutionOptions) {
    this.#schedule = schedule;
    this.#options = options;
    this.#startedAt = options.clock.now();
  }

  async run(): Promise<Execution> {
    const { signal, clock } = this.#options;
    for (const wave of this.#schedule.waves) {
      await sleep(clock, wave.pauseMs ?? 0, signal);
      const { kill } = wave;
      await (kill === undefined ? this.#sendAll(wave) : this.#sendAndKill(wave, kill));
      signal.throwIfAborted();
      if (this.#failure !== undefined) break;
    }
    if (this.#failure === undefined) await this.#sendUntaken();
    return { exchanges: this.#exchanges, failure: this.#failure };
  }

  /** Sends the requests of a wave, each after its gap. */
  async #sendAll({ messages, gapShare = 0, cut }: Wave): Promise<void> {
    const { clock, signal, latencyMs } = this.#options;
    const hold = messages.length > 1 && gapShare === 0 ? this.#holdFor(messages.length) : undefined;
    const send = async (message: number, place: number): Promise<void> => {
      if (place > 0 && gapShare > 0) await sleep(clock, place * gapShare * latencyMs(message), signal);
      await (cut === undefined ? this.#deliver(message, hold) : this.#sendOnce(message, { cut }));
    };
    await Promise.all(messages.map(send));
  }

  /** Releases `count` requests at the same moment: when all have connections, or after LONGEST_HOLD_MS. */
  #holdFor(count: number): SendHold {
    const held: (() => void)[] = [];
    const release = (): void => held.splice(0).forEach((each) => each());
    return (each) => {
      this.#options.clock.after(held.push(each) === count ? 0 : LONGEST_HOLD_MS, release);
    };
  }

  /** Repeats messages whose last request was cut or killed, because their sender got no response. */
  async #sendUntaken(): Promise<void> {
    const sent = new Set(this.#exchanges.map(({ message }) => message));
    for (const message of sent) {
      if (!this.#taken.has(message) && this.#failure === undefined) await this.#deliver(message);
    }
  }

  /** Sends a message until the receiver accepts or rejects it, or the retries are used up. */
  async #deliver(message: number, hold?: SendHold): Promise<void> {
    const { clock, signal, subject, latencyMs, busyMs } = this.#options;
    const sentAt = clock.now();
    const atMs = sentAt - this.#startedAt;
    let response = await this.#send(message, { hold });
    let tries = 1;
    let failedWith: number | undefined;
    while (isRetried(response) && !signal.aborted && subject.gone() === undefined) {
      const enoughMs = Math.max(3 * latencyMs(message), BUSY.has(response.status) ? busyMs : 0);
      if (tries > RETRY_MS.length && clock.now() > sentAt + enoughMs) break;
      // Two timeouts are enough to see that the receiver does not respond to a message that it knows.
      if (response.error === 'timeout' && tries > 1 && this.#taken.has(message)) break;
      failedWith ??= response.status;
      await sleep(clock, RETRY_MS[tries - 1] ?? RETRY_MS.at(-1) ?? 0, signal);
      response = await this.#send(message);
      tries++;
    }
    const exchange: ProofExchange = { message, atMs, response, tries, failedWith };
    this.#note(exchange);
    if (response.kind !== 'taken') this.#failure ??= failureOf(exchange, subject.gone());
  }

  async #sendOnce(message: number, how: ProofSendOptions = {}): Promise<void> {
    const atMs = this.#options.clock.now() - this.#startedAt;
    const response = await this.#send(message, how);
    this.#note({ message, atMs, response, tries: 1 });
  }

  async #sendAndKill(wave: Wave, kill: Kill): Promise<void> {
    const { clock, signal, subject } = this.#options;
    const sentAt = clock.now();
    const first = this.#exchanges.length;
    const over = new AbortController();
    const responses = Promise.all(wave.messages.map((message) => this.#sendOnce(message)));
    const settled = responses.finally(() => over.abort());
    await Promise.race([settled, sleep(clock, this.#killAfterMs(wave, kill), over.signal)]);
    signal.throwIfAborted();
    const killedAfterMs = clock.now() - sentAt;
    await subject.kill?.();
    await settled;
    this.#exchanges.splice(
      first,
      Infinity,
      ...this.#exchanges.slice(first).map((exchange) => ({ ...exchange, killedAfterMs })),
    );
    const reason = await subject.revive();
    if (reason !== undefined) this.#failure = { kind: 'not-started', reason };
  }

  #killAfterMs({ messages: [message = 0] }: Wave, kill: Kill): number {
    if (kill.when === 'at') return kill.ms;
    // Kills after the response: the wait for it has no limit here, because the request has its own timeout.
    return kill.when === 'after' ? 2 ** 31 - 1 : kill.share * this.#options.latencyMs(message);
  }

  #send(message: number, how: ProofSendOptions = {}): Promise<ProofResponse> {
    const sent = this.#options.messages[message];
    if (sent === undefined) {
      throw new TypeError(`The schedule sends message ${message}, which does not exist`);
    }
    return this.#options.subject.send(sent, how);
  }

  #note(exchange: ProofExchange): void {
    this.#exchanges.push(exchange);
    if (exchange.response.kind === 'taken') this.#taken.add(exchange.message);
  }
}

function isRetried({ kind }: ProofResponse): boolean {
  return kind === 'failing' || kind === 'none';
}

function failureOf(exchange: ProofExchange, gone: string | undefined): ExecutionFailure {
  return gone === undefined ? { kind: 'not-taken', exchange } : { kind: 'gone', reason: gone };
}
