import { sleep, type Clock } from '../clock.ts';
import { redactUrl, withoutRepeated } from '../redact.ts';
import { maskedParts, withoutSent } from '../transport/sent-secrets.ts';
import type { CauseFacts, FailureEvidence, ResponseCause } from '../transport/cause.ts';
import type { ConnectionOptions, Transport } from '../transport/transport.ts';
import { checkResponseOf, type CheckCauses, type CheckResponse } from './check-response.ts';
import type { Check } from './check.ts';
import { messageIdIn, type CheckRequest } from './sample.ts';

export interface TestedReceiverOptions {
  readonly transport: Transport;
  /** URL of the receiver, without userinfo. */
  readonly url: string;
  /** Header names and values in turn, without the signature. */
  readonly headers: readonly string[];
  /** Makes the value of `Idempotency-Key` for a message id. Undefined to leave the header as it is in `headers`. */
  readonly idempotencyKeyOf?: ((messageId: string) => string) | undefined;
  /** Makes the keys of each run unique. */
  readonly runId: string;
  readonly timeoutMs: number;
  readonly connection?: ConnectionOptions | undefined;
  /** Secrets to remove from responses. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Returns why the receiver can no longer respond; undefined if it still can. */
  readonly gone: () => string | undefined;
  /** Returns what the receiver has printed since the last call. Undefined if its output is not known. */
  readonly printed?: (() => string) | undefined;
  readonly causes: CheckCauses;
  /** Examines the connection after a network error, to find why there was no response. @default no examination */
  readonly examine?: (failure: FailureEvidence) => Promise<Examined | undefined>;
}

/** Changes of a single request. */
interface AskChanges {
  /** @default the URL of the receiver */
  readonly url?: string;
  /** A shorter timeout. */
  readonly timeoutMs?: number;
  /** Whether to leave out the headers and the query, because another route that trusts their tokens would act on the message. */
  readonly isBare?: boolean;
  /** A header with another value. */
  readonly header?: readonly [name: string, value: string];
  /** Id of the message, of which `Idempotency-Key` is made. @default a new id */
  readonly messageId?: string | undefined;
}

/** Result of an examination: the code of a NetworkCause, and the location at which the receiver was found. */
type Examined = { readonly cause: string } & Pick<CauseFacts, 'location' | 'proxy' | 'shown'>;

/** Time for a supervisor to restart a crashed receiver. */
const RESTART_MS = 3_000;
const RESTART_POLL_MS = 100;

/** Time for the output of a receiver to arrive after its response. */
const OUTPUT_MS = 100;
const OUTPUT_POLL_MS = 10;
/** Failures in a row without any output after which the output is no longer waited for. */
const MOST_SILENT = 3;

/** Bytes of a response's body to read: enough for the words of a framework's error page. */
const RESPONSE_BYTES = 16 * 1024;
/** Bodies in a row without an end after which bodies are no longer read. A single one can be that of a slow handler. */
const MOST_ENDLESS = 2;

/** The fix for a receiver that the run started and that closes each connection. */
const CLOSES_EACH =
  'look at what ends its connections: a timeout of its server in the wrong unit (Go: ReadTimeout: 5 * time.Second, because time.Duration(5) is 5 ns), a handler that closes the socket, or a worker that crashes';

export const INTERRUPTED = 'interrupted';

/** The receiver to which the checks send requests. */
export class ReceiverUnderTest {
  readonly #options: TestedReceiverOptions;
  /** Number of response bodies in a row that did not end within the timeout. */
  #endlessBodies = 0;
  /** Number of failures in a row without any output. */
  #silent = 0;
  #seen: Promise<Examined | undefined> | undefined;
  /** The examination of the first response, if that was a 404 or 405. */
  #routes: Promise<Examined | undefined> | undefined;
  /** Number of message ids that were made. */
  #made = 0;
  /** Whether the receiver has ever responded. */
  hasResponded = false;

  constructor(options: TestedReceiverOptions) {
    this.#options = options;
  }

  /** Why no further request can be sent (the run was interrupted, or the receiver has ended); undefined if it can. */
  get over(): string | undefined {
    return this.#options.signal.aborted ? INTERRUPTED : this.#options.gone();
  }

  /** Whether the bodies of its responses do not end. */
  get neverEnds(): boolean {
    return this.#endlessBodies >= MOST_ENDLESS;
  }

  /**
   * Sends the requests of a check and returns the responses. Requests that are sent one after another end at the first one
   * without a response. Each has the id of its message as key, so that a duplicate has the same key.
   */
  async askAll(
    requests: readonly CheckRequest[],
    { atOnce }: Pick<Check, 'atOnce'>,
  ): Promise<CheckResponse[]> {
    const send = (request: CheckRequest) => this.ask(request, { messageId: messageIdIn(request) });
    if (atOnce) return Promise.all(requests.map(send));
    const responses: CheckResponse[] = [];
    for (const request of requests) {
      const response = await send(request);
      responses.push(response);
      if (response.kind === 'none') break;
    }
    return responses;
  }

  /** Forgets what the receiver has printed, before a request whose output matters. */
  forgetOutput(): void {
    this.#options.printed?.();
  }

  /** The error that the receiver has printed while it handled the last request; undefined if it printed none. */
  async printedError(response: CheckResponse): Promise<ResponseCause | undefined> {
    const { causes, url } = this.#options;
    const status = response.kind === 'none' ? 500 : response.status;
    return causes.printedCauseOf(await this.output(), { status, url: redactUrl(url) });
  }

  /** The text that the receiver has printed while it handled the last request. Empty if its output is not known. */
  async output(): Promise<string> {
    const { printed, clock, signal } = this.#options;
    if (printed === undefined) return '';
    const lines: string[] = [];
    // Lines of one request can arrive one after another.
    for (let ms = 0; ms < OUTPUT_MS; ms += OUTPUT_POLL_MS) {
      const more = printed();
      if (more === '' && (lines.length > 0 || this.#silent >= MOST_SILENT)) break;
      if (more !== '') lines.push(more);
      if (signal.aborted) return '';
      await sleep(clock, OUTPUT_POLL_MS, signal);
    }
    const text = lines.join('\n');
    this.#silent = text === '' ? this.#silent + 1 : 0;
    return text;
  }

  /**
   * Sends one request. It has a key of its own, unless `changes` has its message id: a receiver that knows a key does not
   * look at the request again, so the response would not show what the request was sent for.
   */
  async ask(request: CheckRequest, changes: AskChanges = {}): Promise<CheckResponse> {
    return (await this.askAgain(request, changes)).response;
  }

  /**
   * Sends one request. Retries for a while if a receiver that responded before refuses connections, because it may be
   * restarting. Returns whether it refused any.
   */
  async askAgain(
    request: CheckRequest,
    { messageId = `hooks-test-${this.#options.runId}-${++this.#made}`, ...more }: AskChanges = {},
  ): Promise<{ readonly response: CheckResponse; readonly wasRefused: boolean }> {
    const { clock, signal } = this.#options;
    const until = clock.now() + RESTART_MS;
    const changes = { ...more, messageId };
    let response = await this.#ask(request, changes);
    const wasRefused = isRefused(response);
    const reconnected = response.kind === 'none' && response.reconnected === true;
    while (isRefused(response) && this.hasResponded && this.over === undefined && clock.now() < until) {
      await sleep(clock, RESTART_POLL_MS, signal);
      response = await this.#ask(request, changes);
    }
    if (response.kind === 'none' && !this.hasResponded) response = await this.#examined(response);
    if (response.kind !== 'none') response = await this.#routed(response);
    if (response.kind !== 'none') this.hasResponded = true;
    // Waits, because the end of a crashed process is noticed a little later than the reset of its connections.
    else if (response.error === 'reset') await sleep(clock, RESTART_POLL_MS, signal);
    return { response: isRefused(response) ? { ...response, reconnected } : response, wasRefused };
  }

  /** Examines the URL if no response came, because another program may listen at it, and adds the result to the response. */
  async #examined(response: CheckResponse & { kind: 'none' }): Promise<CheckResponse> {
    const { examine, url, causes } = this.#options;
    const { error, cause } = response;
    this.#seen ??= examine?.({ error, cause: cause?.code === error ? undefined : cause?.code });
    const seen = await this.#seen;
    if (seen === undefined) return response;
    const found = causes.networkCauseOf({ error, ...seen }, { url: redactUrl(url), ...seen });
    const isOwn = this.#options.printed !== undefined && found?.code === 'silent';
    return { ...response, cause: isOwn ? { ...found, fix: CLOSES_EACH } : found };
  }

  /** Examines the path if the first response says that there is none, and explains each such response by the result. */
  async #routed(response: Exclude<CheckResponse, { kind: 'none' }>): Promise<CheckResponse> {
    const { examine, url, causes } = this.#options;
    const { status, cause } = response;
    if (cause === undefined || (status !== 404 && status !== 405)) return response;
    if (!this.hasResponded) this.#routes = examine?.({ error: 'http-4xx', status, cause: cause.code });
    const seen = await this.#routes;
    const found = seen && causes.networkCauseOf({ error: '', ...seen }, { url: redactUrl(url), ...seen });
    if (found?.says === undefined) return response;
    const { code, says, confidence, fix } = found;
    return { ...response, cause: { ...cause, code, says, confidence, fix, isQuotation: false } };
  }

  async #ask(
    { body, signature, signatureHeaders, cutsAt }: CheckRequest,
    { url: to = this.#options.url, timeoutMs: most = Infinity, messageId = '', header, isBare }: AskChanges,
  ): Promise<CheckResponse> {
    const { transport, idempotencyKeyOf, connection, signal, secrets, causes } = this.#options;
    const timeoutMs = Math.min(most, this.#options.timeoutMs);
    const own = signatureHeaders ?? (signature === undefined ? [] : ['X-Signature', signature]);
    const key = idempotencyKeyOf === undefined ? [] : ['Idempotency-Key', idempotencyKeyOf(messageId)];
    const url = isBare ? to.replace(/\?.*$/s, '') : to;
    const settings = isBare ? [] : this.#options.headers;
    const sent = { url, headers: withHeader([...settings, ...key, ...own], header) };
    const isRead = !this.neverEnds;
    const limit = isRead ? { responseBytes: RESPONSE_BYTES } : {};
    const raw = await transport.send({ ...sent, body, cutsAt, timeoutMs, ...limit, signal, connection });
    // Responses are displayed and quoted.
    const mask = (text: string): string => withoutRepeated(withoutSent(text, sent), secrets);
    const result = raw.kind === 'response' ? { ...raw, ...maskedParts(raw, mask) } : raw;
    // Stops reading bodies that do not end: only the status decides, and each check would wait for the whole timeout.
    if (isRead) {
      const isEndless = raw.kind === 'response' && raw.bodyCutBy === 'timeout';
      this.#endlessBodies = isEndless ? this.#endlessBodies + 1 : 0;
    }
    const response = checkResponseOf(result, { url, isSigned: own.length > 0, causes });
    if (response.kind === 'none' || response.cause === undefined) return response;
    // A quotation is decoded text, which can contain a secret that was encoded in the body.
    return { ...response, cause: { ...response.cause, says: mask(response.cause.says) } };
  }
}

/** Replaces a header of the settings. */
function withHeader(headers: readonly string[], header: AskChanges['header']): readonly string[] {
  const at = headers.findIndex((name) => name.toLowerCase() === header?.[0].toLowerCase());
  return header === undefined ? headers : [...(at === -1 ? headers : headers.toSpliced(at, 2)), ...header];
}

function isRefused(response: CheckResponse): response is CheckResponse & { kind: 'none' } {
  return response.kind === 'none' && response.error === 'refused';
}
