import type { Transport, TransportRequest } from '../transport/transport.ts';

/** A request that would have been sent. Headers and body contain secrets: mask them before showing. */
export type RecordedRequest = Pick<TransportRequest, 'url' | 'headers' | 'body'>;

/**
 * Creates a transport for dry runs: it passes each request to `onRequest` and reports it as delivered without sending it.
 */
export function createRecordingTransport(onRequest: (request: RecordedRequest) => void): Transport {
  return {
    send: ({ url, headers, body }) => {
      onRequest({ url, headers, body });
      return Promise.resolve({ kind: 'response', status: 200, ms: 0, reconnected: false });
    },
    close: () => Promise.resolve(),
  };
}
