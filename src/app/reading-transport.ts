import type { HeaderPair } from '../capture/capture.ts';
import type { Sources } from '../engine/options.ts';
import { redactUrl } from '../redact.ts';
import type { ResponseCause } from '../transport/cause.ts';
import { withoutSent } from '../transport/sent-secrets.ts';
import type { ResponseHeaders, Transport, TransportRequest } from '../transport/transport.ts';
import { createUndiciTransport } from '../transport/undici-transport.ts';
import { validateRoutes } from './validate-routes.ts';

/**
 * Limits for reading a response body, in bytes and milliseconds: enough for the text of a page, without a noticeable wait.
 */
const READING = { responseBytes: 16 * 1024, responseMs: 300 };

interface ReadingOptions {
  readonly sources: Sources;
  /** Environment variables that name proxies. */
  readonly proxyEnv: Readonly<NodeJS.ProcessEnv>;
  /** Called for a 2xx response whose body reports a failure. */
  readonly onContradiction: (cause: ResponseCause) => void;
  readonly observer?: ExchangeObserver | undefined;
}

/** Receives the headers of each request and response. Mask secret headers before showing them. */
export interface ExchangeObserver {
  readonly request: (request: TransportRequest) => void;
  /** Without secrets of the request that the receiver repeats. */
  readonly response: (status: number, headers: readonly HeaderPair[]) => void;
}

/**
 * Creates a transport that also reads 2xx bodies and reports those that contradict their status. It waits for each body, so
 * use it for few messages only. Throws ConfigError for an unusable proxy or CA file.
 */
export function createReadingTransport({
  sources,
  proxyEnv,
  onContradiction,
  observer,
}: ReadingOptions): Transport {
  validateRoutes(sources, proxyEnv);
  const transport = createUndiciTransport({ proxyEnv });
  return {
    send: async (request) => {
      observer?.request(request);
      const onHead = (status: number, headers: ResponseHeaders): void =>
        observer?.response(status, headerPairs(headers, request));
      const result = await transport.send({ ...request, ...READING, ...(observer && { onHead }) });
      if (result.kind === 'failure' || result.status > 299) return result;
      const { status, headers = {}, body: raw = '' } = result;
      if (raw === '') return result;
      const { responseCauseOf } = await import('../diagnosis/explain.ts');
      const body = withoutSent(raw, request);
      const url = redactUrl(request.url);
      const cause = responseCauseOf({ status, headers, body, isSigned: true }, { status, url });
      if (cause !== undefined) onContradiction(cause);
      return result;
    },
    close: () => transport.close(),
  };
}

function headerPairs(headers: ResponseHeaders, request: TransportRequest): readonly HeaderPair[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): HeaderPair => [name, withoutSent(each, request)]),
  );
}
