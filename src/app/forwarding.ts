import { prepareWebhook, type Webhook } from '../engine/webhook.ts';
import { ConfigError, HooksError } from '../errors.ts';
import {
  endToEndHeaders,
  type Forward,
  type ForwardRequest,
  type Forwarded,
} from '../receiver/response/forwarding.ts';
import { printable, withoutRepeated } from '../redact.ts';
import { validateRoute } from '../transport/route/validate-route.ts';
import type { NetworkCause, ResponseCause } from '../transport/cause.ts';
import { withoutSent, type SentRequest } from '../transport/sent-secrets.ts';
import type {
  ConnectionOptions,
  Transport,
  TransportResponse,
  TransportResult,
} from '../transport/transport.ts';
import { createUndiciTransport } from '../transport/undici-transport.ts';
import { whyNotLoopback } from '../transport/route/address-guard.ts';

/** Forwards received requests unchanged: the same bytes and headers, one POST each, without retries and redirects. */
export interface Forwarding {
  readonly forward: Forward;
  /** The target URL without secrets. */
  readonly shownUrl: string;
  readonly close: () => Promise<void>;
}

export interface ForwardingOptions {
  readonly url: string;
  /** The name of the URL in errors, such as `--forward`. */
  readonly origin: string;
  /** Secrets to mask in the response of the receiver, because that response is shown. */
  readonly secrets: readonly string[];
  /** Whether to connect to this machine only. @default false */
  readonly onlyLoopback?: boolean;
  readonly connection?: ConnectionOptions;
  /** Environment variables that name proxies. @default no proxy */
  readonly proxyEnv?: Readonly<NodeJS.ProcessEnv>;
}

/**
 * Timeout for status and body: less than the 5 s of the sender, so that the sender gets a 504 that blames the slow receiver
 * instead of timing out itself.
 */
const TIMEOUT_MS = 4_500;
/** Largest response body: enough for the error page of a framework. */
const RESPONSE_KB = 256;
/** Timeout for the body alone, within `TIMEOUT_MS`: a body that drips or never ends would delay the sender. */
const RESPONSE_SECONDS = 2;

/** Creates a forwarding to a URL. Throws ConfigError if requests cannot be sent to the URL. */
export function createForwarding(options: ForwardingOptions): Forwarding {
  const { url, origin, secrets, onlyLoopback, connection = {}, proxyEnv } = options;
  const target = targetOf(url, origin);
  if (onlyLoopback !== true) validateRoute(target.url, connection, proxyEnv);
  const transport = createUndiciTransport(
    onlyLoopback === true
      ? { addresses: whyNotLoopback }
      : { ...connection, ...(proxyEnv !== undefined && { proxyEnv }) },
  );
  return {
    forward: (request, signal) =>
      forwardTo(target, { transport, secrets, request, signal, env: proxyEnv ?? {} }),
    shownUrl: target.shownUrl,
    close: () => transport.close(),
  };
}

interface ForwardTarget extends Pick<Webhook, 'url' | 'shownUrl'> {
  /**
   * The `Authorization` header from the URL's user and password, as name and value. Replaces the received `Authorization`
   * header. Empty if the URL has neither.
   */
  readonly authorization: readonly string[];
}

interface Passing {
  readonly transport: Transport;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly secrets: readonly string[];
  readonly request: ForwardRequest;
  readonly signal: AbortSignal;
}

async function forwardTo(
  { url, shownUrl, authorization }: ForwardTarget,
  passing: Passing,
): Promise<Forwarded> {
  const { transport, secrets, request, signal } = passing;
  const headers = endToEndHeaders(request.rawHeaders).filter(
    ([name]) => authorization.length === 0 || name.toLowerCase() !== 'authorization',
  );
  const sent = { url, headers: [...headers.flat(), ...authorization] };
  try {
    const result = await transport.send({
      ...sent,
      body: request.body,
      timeoutMs: TIMEOUT_MS,
      responseBytes: RESPONSE_KB * 1024,
      responseMs: RESPONSE_SECONDS * 1_000,
      signal,
    });
    const facts = forwardedFacts(result, sent, secrets);
    return {
      url: shownUrl,
      ...facts,
      ...(await causeFacts(result, { ...passing, shownUrl, reply: facts.reply, headers })),
    };
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    return { url: shownUrl, error: 'protocol', detail: printable(error.message), ms: 0 };
  }
}

function forwardedFacts(
  result: TransportResult,
  sent: SentRequest,
  secrets: readonly string[],
): Omit<Forwarded, 'url'> {
  const { ms } = result;
  if (result.kind === 'failure') return { error: result.error, detail: printable(result.detail), ms };
  const { status, retryAfter, headers, body, bodyCutBy } = result;
  // A relayed body that is cut would look complete, so the result is an error.
  if (bodyCutBy !== undefined) {
    return {
      error: bodyCutBy === 'length' ? 'protocol' : bodyCutBy,
      detail: `it responded with ${status}, but the body ${cutText(bodyCutBy, ms)}`,
      ms,
    };
  }
  return {
    status,
    ...(retryAfter !== undefined && { retryAfter }),
    ...(headers !== undefined && { headers }),
    // The transport leaves the body of a 2xx unmasked, because some callers parse it. This body is shown, so it is masked
    // here.
    ...(body !== undefined && { reply: withoutRepeated(withoutSent(body, sent), secrets) }),
    ms,
  };
}

interface SentOn extends Pick<Passing, 'env' | 'signal'> {
  readonly shownUrl: string;
  readonly reply: string | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Explains why the target of the forwarding did not accept the request, with the causes that `send` shows. */
async function causeFacts(
  result: TransportResult,
  { shownUrl: url, reply = '', headers: sent, env, signal }: SentOn,
): Promise<Pick<Forwarded, 'cause' | 'confidence' | 'says' | 'hint' | 'detail'>> {
  if (result.kind === 'response' && result.status <= 299) return {};
  const { examineFailure, networkCauseOf, quotationOf, responseCauseOf } =
    await import('../diagnosis/explain.ts');
  if (result.kind === 'failure') {
    // The sender waits meanwhile.
    const isInTime = result.ms < TIMEOUT_MS / 2;
    const seen = isInTime ? await examineFailure({ ...result, url, env, signal }) : undefined;
    const found = networkCauseOf({ ...result, ...seen }, { url, ...seen });
    return found === undefined ? {} : factsOf(found);
  }
  const { status, headers = {}, retryAfter } = result;
  const body = reply.slice(0, CAUSE_LENGTH);
  const { server, location } = headers;
  const isSigned = sent.some(([name]) => /signature|hmac/i.test(name));
  const found = responseCauseOf(
    { status, headers, body, isSigned },
    { status, url, server, location, retryAfter },
  );
  const detail = quotationOf(body);
  return { ...(found && factsOf(found)), ...(detail !== '' && { detail }) };
}

/** Characters of a response body to search for the cause of a failure. */
const CAUSE_LENGTH = 16 * 1024;

function factsOf({ code, confidence, says, fix }: ResponseCause | NetworkCause) {
  return { cause: code, ...(confidence && { confidence }), ...(says !== undefined && { says }), hint: fix };
}

/** Describes how a body was cut. `statusMs` is the time until the status line. */
function cutText(cutBy: NonNullable<TransportResponse['bodyCutBy']>, statusMs: number): string {
  if (cutBy === 'length') return `is longer than ${RESPONSE_KB} KiB`;
  if (cutBy !== 'timeout') return 'broke off';
  const seconds = Math.min(RESPONSE_SECONDS, Math.max(0, TIMEOUT_MS - statusMs) / 1_000);
  return `did not end within ${Number(seconds.toFixed(1))} s`;
}

function targetOf(url: string, origin: string): ForwardTarget {
  try {
    const webhook = prepareWebhook({ url, headers: {} }, { userAgent: '', setting: `${origin}[0]` });
    const at = webhook.headers.indexOf('Authorization');
    return { ...webhook, authorization: at === -1 ? [] : webhook.headers.slice(at, at + 2) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(`${error.message} (${origin})`, { key: origin, origin, hint: error.hint });
  }
}
