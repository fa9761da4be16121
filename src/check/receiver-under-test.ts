import { sleep, type Clock } from '../clock.ts';
import { withoutRepeated } from '../redact.ts';
import type { Transport } from '../transport/transport.ts';
import { checkResponseOf, type CheckResponse } from './check-response.ts';
import type { Check } from './check.ts';
import type { CheckRequest } from './sample.ts';

export interface TestedReceiverOptions {
  readonly transport: Transport;
  /** As it is asked: without userinfo. */
  readonly url: string;
  /** Name, value, name, value … without the signature. */
  readonly headers: readonly string[];
  readonly timeoutMs: number;
  readonly caFile?: string | undefined;
  readonly secret: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Why it cannot answer any more; undefined while it may. */
  readonly gone: () => string | undefined;
}

/** Something that restarts the receiver when it has crashed gets so long. */
const RESTART_MS = 3_000;
const RESTART_POLL_MS = 100;

export const INTERRUPTED = 'interrupted';

/** The receiver that is asked. */
export class ReceiverUnderTest {
  readonly #options: TestedReceiverOptions;
  /** Whether it ever answered. */
  hasAnswered = false;

  constructor(options: TestedReceiverOptions) {
    this.#options = options;
  }

  get secret(): string | undefined {
    return this.#options.secret;
  }

  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  /** Why nothing more can be asked: it was interrupted, or the receiver is gone. */
  get over(): string | undefined {
    return this.#options.signal.aborted ? INTERRUPTED : this.#options.gone();
  }

  /** All answers to a check's requests; none of those after an answer that did not come. */
  async answers(
    requests: readonly CheckRequest[],
    { atOnce }: Pick<Check, 'atOnce'>,
  ): Promise<CheckResponse[]> {
    if (atOnce) return Promise.all(requests.map((request) => this.ask(request)));
    const answers: CheckResponse[] = [];
    for (const request of requests) {
      const answer = await this.ask(request);
      answers.push(answer);
      if (answer.kind === 'none') break;
    }
    return answers;
  }

  /** One that has answered before and now refuses connections may be on its way back: nothing was sent, so it is asked again. */
  async ask(request: CheckRequest): Promise<CheckResponse> {
    const { clock, signal } = this.#options;
    const until = clock.now() + RESTART_MS;
    let answer = await this.#ask(request);
    while (isRefused(answer) && this.hasAnswered && this.over === undefined && clock.now() < until) {
      await sleep(clock, RESTART_POLL_MS, signal);
      answer = await this.#ask(request);
    }
    if (answer.kind !== 'none') this.hasAnswered = true;
    // Whether it has crashed is known a little after its connections are.
    else if (answer.error === 'reset') await sleep(clock, RESTART_POLL_MS, signal);
    return answer;
  }

  async #ask({ body, signature }: CheckRequest): Promise<CheckResponse> {
    const { transport, url, headers, timeoutMs, caFile, secret, signal } = this.#options;
    const result = await transport.send({
      url,
      headers: signature === undefined ? headers : [...headers, 'X-Signature', signature],
      body,
      timeoutMs,
      signal,
      ...(caFile !== undefined && { caFile }),
    });
    const answer = checkResponseOf(result);
    if (answer.kind === 'none' || answer.reply === undefined || secret === undefined) return answer;
    return { ...answer, reply: withoutRepeated(answer.reply, [secret]) };
  }
}

function isRefused(answer: CheckResponse): boolean {
  return answer.kind === 'none' && answer.error === 'refused';
}
