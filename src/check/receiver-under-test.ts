import { sleep, type Clock } from '../clock.ts';
import { redactUrl, withoutRepeated } from '../redact.ts';
import { withoutSent, type SentRequest } from '../transport/sent-secrets.ts';
import type { ConnectionOptions, NetworkError, Transport, TransportResult } from '../transport/transport.ts';
import { checkResponseOf, type CheckCauses, type CheckResponse } from './check-response.ts';
import type { Check } from './check.ts';
import type { CheckRequest } from './sample.ts';

export interface TestedReceiverOptions {
  readonly transport: Transport;
  /** The URL without userinfo. */
  readonly url: string;
  /** Name, value, name, value … without the signature. */
  readonly headers: readonly string[];
  readonly timeoutMs: number;
  readonly connection?: ConnectionOptions | undefined;
  readonly secret: string | undefined;
  /** All that were given, of which the first signs. @default the one */
  readonly secrets?: readonly string[] | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Returns why the receiver can no longer respond; undefined while it can. */
  readonly gone: () => string | undefined;
  readonly causes: CheckCauses;
  /** Looks closer at why there was no response, given its code. @default no look */
  readonly examine?: (error: NetworkError) => Promise<Examined | undefined>;
}

/** What a look at the port shows: the code of a NetworkCause, and where the receiver is instead. */
interface Examined {
  readonly cause: string;
  readonly location?: string;
}

/** How long a supervisor gets to restart a crashed receiver. */
const RESTART_MS = 3_000;
const RESTART_POLL_MS = 100;

/** How much of a response's body is read: enough for the words of a framework's page. */
const RESPONSE_BYTES = 4_000;
const SLOW_BODY_MS = 500;
/** One may be late because this machine is busy. */
const MOST_SLOW_BODIES = 2;

export const INTERRUPTED = 'interrupted';

/** The receiver that the checks send requests to. */
export class ReceiverUnderTest {
  readonly #options: TestedReceiverOptions;
  /** How many bodies in a row did not end soon. */
  #slowBodies = 0;
  #seen: Promise<Examined | undefined> | undefined;
  /** Whether it has ever responded. */
  hasResponded = false;

  constructor(options: TestedReceiverOptions) {
    this.#options = options;
  }

  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  /** Why no further request can be sent: the run was interrupted, or the receiver has ended. */
  get over(): string | undefined {
    return this.#options.signal.aborted ? INTERRUPTED : this.#options.gone();
  }

  /** Sends a check's requests and returns the responses, up to the first that did not come. */
  async askAll(
    requests: readonly CheckRequest[],
    { atOnce }: Pick<Check, 'atOnce'>,
  ): Promise<CheckResponse[]> {
    if (atOnce) return Promise.all(requests.map((request) => this.ask(request)));
    const responses: CheckResponse[] = [];
    for (const request of requests) {
      const response = await this.ask(request);
      responses.push(response);
      if (response.kind === 'none') break;
    }
    return responses;
  }

  /** Sends one request. A receiver that responded before and now refuses connections may be restarting: nothing was sent, so it is sent again. */
  async ask(request: CheckRequest): Promise<CheckResponse> {
    const { clock, signal } = this.#options;
    const until = clock.now() + RESTART_MS;
    let response = await this.#ask(request);
    while (isRefused(response) && this.hasResponded && this.over === undefined && clock.now() < until) {
      await sleep(clock, RESTART_POLL_MS, signal);
      response = await this.#ask(request);
    }
    if (response.kind === 'none' && !this.hasResponded) response = await this.#examined(response);
    if (response.kind !== 'none') this.hasResponded = true;
    // A crash is noticed a little later than the reset of its connections.
    else if (response.error === 'reset') await sleep(clock, RESTART_POLL_MS, signal);
    return response;
  }

  /** One that has never responded may be no receiver, or be somewhere else. */
  async #examined(response: CheckResponse & { kind: 'none' }): Promise<CheckResponse> {
    const { examine, url, causes } = this.#options;
    this.#seen ??= examine?.(response.error);
    const seen = await this.#seen;
    if (seen === undefined) return response;
    return {
      ...response,
      cause: causes.networkCauseOf({ error: response.error, ...seen }, { url: redactUrl(url), ...seen }),
    };
  }

  async #ask({ body, signature, signatureHeaders }: CheckRequest): Promise<CheckResponse> {
    const { transport, url, headers, timeoutMs, connection, clock, signal, causes } = this.#options;
    const { secret, secrets = secret === undefined ? [] : [secret] } = this.#options;
    const startedAt = clock.now();
    const own = signatureHeaders ?? (signature === undefined ? [] : ['X-Signature', signature]);
    const sent = { url, headers: own.length === 0 ? headers : [...headers, ...own] };
    const result = withoutSecretsInBody(
      await transport.send({
        ...sent,
        body,
        timeoutMs,
        ...(this.#slowBodies < MOST_SLOW_BODIES && { responseBytes: RESPONSE_BYTES }),
        signal,
        connection,
      }),
      sent,
      secrets,
    );
    // The status decides, and the body need not end: waiting for it at each check would take the whole timeout each time.
    if (this.#slowBodies < MOST_SLOW_BODIES) {
      this.#slowBodies = clock.now() - startedAt - result.ms > SLOW_BODY_MS ? this.#slowBodies + 1 : 0;
    }
    return checkResponseOf(result, { url, isSigned: own.length > 0, causes });
  }
}

/** What a receiver sends back is shown and quoted. */
function withoutSecretsInBody(
  result: TransportResult,
  sent: SentRequest,
  secrets: readonly string[],
): TransportResult {
  if (result.kind === 'failure' || result.body === undefined) return result;
  const body = withoutSent(result.body, sent);
  return { ...result, body: withoutRepeated(body, secrets) };
}

function isRefused(response: CheckResponse): boolean {
  return response.kind === 'none' && response.error === 'refused';
}
