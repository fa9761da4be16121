import { redactUrl } from '../redact.ts';
import type { ResponseCause } from '../transport/cause.ts';
import { withoutSent } from '../transport/sent-secrets.ts';
import type { Transport } from '../transport/transport.ts';

/**
 * Limits for reading a response body, in bytes and milliseconds: enough for the text of a page, without a noticeable wait.
 */
const READING = { responseBytes: 16 * 1024, responseMs: 300 };

/**
 * Returns a transport that also reads 2xx bodies and passes those that contradict their status to `onContradiction`. It waits
 * for each body, so use it for few messages only.
 */
export function readingTransport(
  transport: Transport,
  onContradiction: (cause: ResponseCause) => void,
): Transport {
  return {
    send: async (request) => {
      const result = await transport.send({ ...request, ...READING });
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
