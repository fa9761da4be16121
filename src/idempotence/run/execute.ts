import { sleep, type Clock } from '../../clock.ts';
import type { Kill, Schedule, Wave } from '../plan/schedule.ts';
import type { SendHold, ProofMessage, ProofResponse, ProofSendOptions, Subject } from '../subject.ts';

export interface ExecuteOptions {
  readonly subject: Subject;
  readonly messages: readonly ProofMessage[];
  /** How long a response to a message takes. Ms. */
  readonly latencyMs: (message: number) => number;
  /** How long, at the least, a message is sent again that the receiver is still at work on, as it says. Ms. */
  readonly busyMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** One request of a schedule and what came of it. */
export interface ProofExchange {
  readonly message: number;
  /** When it was sent first, from the start of the schedule. */
  readonly atMs: number;
  readonly response: ProofResponse;
  /** How often it was sent: a response that asks for it makes a sender try again. */
  readonly tries: number;
  /** The first status that asked for it again, where it was sent again. */
  readonly failedWith?: number;
  readonly isCut: boolean;
  /** How long after it was sent the receiver was killed. */
  readonly killedAfterMs?: number;
}

export interface Execution {
  readonly exchanges: readonly ProofExchange[];
  /** What went wrong besides the state: a message that the receiver does not take again, or a receiver that is gone. */
  readonly failure?: ExecutionFailure;
}

export type ExecutionFailure =
  | { readonly kind: 'not-taken'; readonly exchange: ProofExchange }
  | { readonly kind: 'gone'; readonly reason: string }
  | { readonly kind: 'not-started'; readonly reason: string };

/** Locked or at work: what a receiver responds to a copy while the first request is at work. */
const BUSY: ReadonlySet<number | undefined> = new Set([409, 423, 425, 429, 503]);

/** A receiver with TLS and one thread may open a connection only when it has responded on the one before. */
const LONGEST_HOLD_MS = 100;
/** Waits between tries of a sender that is in a hurry. */
const RETRY_MS: readonly number[] = [50, 100, 200, 400, 800];

/** Sends the requests of a schedule as a sender would: what is not taken is sent again. Ends early when a message is not taken at all. */
export async function execute(
  schedule: Pick<Schedule, 'waves'>,
  options: ExecuteOptions,
): Promise<Execution> {
  return new ScheduleExecution(schedule, options).run();
}

class ScheduleExecution {
  readonly #schedule: Pick<Schedule, 'waves'>;
  readonly #options: ExecuteOptions;
  readonly #startedAt: number;
  readonly #exchanges: ProofExchange[] = [];
  readonly #taken = new Set<number>();
  #failure: ExecutionFailure | undefined;

  constructor(schedule: Pick<Schedule, 'waves'>, options: ExecuteOptions) {
    this.#schedule = schedule;
    this.#options = options;
    this.#startedAt = options.clock.now();
  }

  async run(): Promise<Execution> {
    const { signal, clock } = this.#options;
    for (const wave of this.#schedule.waves) {
      await sleep(clock, wave.pauseMs ?? 0, signal);
      await this.#sendWave(wave);
      signal.throwIfAborted();
      if (this.#failure !== undefined) break;
    }
    if (this.#failure === undefined) await this.#sendUntaken();
    const exchanges = this.#exchanges;
    return this.#failure === undefined ? { exchanges } : { exchanges, failure: this.#failure };
  }

  async #sendWave(wave: Wave): Promise<void> {
    const { kill } = wave;
    if (kill === undefined) await Promise.all(this.#starts(wave).map((start) => start()));
    else await this.#sendAndKill(wave, kill);
  }

  /** Each request of a wave with the wait before it. */
  #starts({ messages, gapShare = 0, cut }: Wave): (() => Promise<void>)[] {
    const { clock, signal, latencyMs } = this.#options;
    const hold = messages.length > 1 && gapShare === 0 ? this.#holdFor(messages.length) : undefined;
    return messages.map((message, place) => async () => {
      if (place > 0 && gapShare > 0) await sleep(clock, place * gapShare * latencyMs(message), signal);
      await (cut === undefined ? this.#deliver(message, hold) : this.#sendOnce(message, { isCut: true }));
    });
  }

  /** Sends `count` requests at the same moment: when each has its connection, or the receiver opens no more of them. */
  #holdFor(count: number): SendHold {
    const held: (() => void)[] = [];
    const release = (): void => held.splice(0).forEach((each) => each());
    return (each) => {
      this.#options.clock.after(held.push(each) === count ? 0 : LONGEST_HOLD_MS, release);
    };
  }

  /** A message whose last request was cut or killed has no response that its sender knows: it sends it again. */
  async #sendUntaken(): Promise<void> {
    const sent = new Set(this.#exchanges.map(({ message }) => message));
    for (const message of sent) {
      if (!this.#taken.has(message) && this.#failure === undefined) await this.#deliver(message);
    }
  }

  /** Sends until it is taken, or refused, or was tried often enough. */
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
      // A receiver that does not respond to a message that it knows has had the timeout twice.
      if (response.error === 'timeout' && tries > 1 && this.#taken.has(message)) break;
      failedWith ??= response.status;
      await sleep(clock, RETRY_MS[tries - 1] ?? RETRY_MS.at(-1) ?? 0, signal);
      response = await this.#send(message);
      tries++;
    }
    const failed = failedWith === undefined ? {} : { failedWith };
    const exchange: ProofExchange = { message, atMs, response, tries, ...failed, isCut: false };
    this.#note(exchange);
    if (response.kind !== 'taken') this.#failure ??= failureOf(exchange, subject.gone());
  }

  async #sendOnce(message: number, { isCut }: { readonly isCut: boolean }): Promise<void> {
    const atMs = this.#options.clock.now() - this.#startedAt;
    const response = await this.#send(message, { cut: isCut });
    this.#note({ message, atMs, response, tries: 1, isCut });
  }

  async #sendAndKill(wave: Wave, kill: Kill): Promise<void> {
    const { clock, signal, subject } = this.#options;
    const sentAt = clock.now();
    const first = this.#exchanges.length;
    const over = new AbortController();
    const responses = Promise.all(wave.messages.map((message) => this.#sendOnce(message, { isCut: false })));
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
    // The response ends the wait, and a timeout does where there is none.
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
