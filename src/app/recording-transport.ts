import type { Transport, TransportRequest } from '../transport/transport.ts';

/** A request as it would have gone out. Headers and body hold secrets: mask them before showing it. */
export type RecordedRequest = Pick<TransportRequest, 'url' | 'headers' | 'body'>;

/** A transport for a dry run: reports every request as delivered and sends none, so that what is shown is what the engine makes. */
export function createRecordingTransport(onRequest: (request: RecordedRequest) => void): Transport {
  return {
    send: ({ url, headers, body }) => {
      onRequest({ url, headers, body });
      return Promise.resolve({ kind: 'response', status: 200, ms: 0, reconnected: false });
    },
    close: () => Promise.resolve(),
  };
}
