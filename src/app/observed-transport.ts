import type { HeaderPair } from '../capture/capture.ts';
import { withoutSent } from '../transport/sent-secrets.ts';
import type { ResponseHeaders, Transport, TransportRequest } from '../transport/transport.ts';

/** Receives the headers of each request and response. Mask secret headers before showing them. */
export interface ExchangeObserver {
  readonly request: (request: TransportRequest) => void;
  /** Without secrets of the request that the receiver repeats. */
  readonly response: (status: number, headers: readonly HeaderPair[]) => void;
}

/** Returns a transport that passes the headers of each request and response to the observer. */
export function observedTransport(transport: Transport, observer: ExchangeObserver): Transport {
  return {
    send: (request) => {
      observer.request(request);
      const onHead = (status: number, headers: ResponseHeaders): void =>
        observer.response(status, headerPairs(headers, request));
      return transport.send({ ...request, onHead });
    },
    close: () => transport.close(),
  };
}

function headerPairs(headers: ResponseHeaders, request: TransportRequest): readonly HeaderPair[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): HeaderPair => [name, withoutSent(each, request)]),
  );
}
