import { redactUrl } from '../redact.ts';
import type { ResponseCause } from '../transport/cause.ts';
import { withoutSent } from '../transport/sent-secrets.ts';
import type { Transport } from '../transport/transport.ts';

/**
 * Limits for reading a response body, in bytes and milliseconds: enough for the text of a page, without a noticeable wait.
 */
const READING = { responseBytes: 16 * 1024, responseMs: 300 };

/** The reader of the response bodies. */
interface BodyReader {
  /** The secrets that sign the requests. */
  readonly secrets: readonly string[];
  /** Called with the failure that the body of a 2xx reports, or with the reason of a rejection that its body proves. */
  readonly onCause: (cause: ResponseCause) => void;
}

/**
 * Returns a transport that reads every body: that of a 2xx for a failure that it reports, that of a rejection for the
 * signature that the receiver expects. It waits for each body, so use it for few messages only.
 */
export function readingTransport(transport: Transport, { secrets, onCause }: BodyReader): Transport {
  return {
    send: async (request) => {
      const result = await transport.send({ ...request, ...READING });
      if (result.kind === 'failure' || result.body === undefined) return result;
      const { status, headers = {}, body } = result;
      const { explainShown, responseCauseOf } = await import('../diagnosis/explain.ts');
      if (status > 299) {
        const shown = await explainShown({ shown: body, request, secrets });
        const { mistake } = shown ?? {};
        if (mistake !== undefined) {
          onCause({ ...mistake, confidence: 'proved', kind: 'receiver', isQuotation: false });
        }
        return result;
      }
      const evidence = { status, headers, body: withoutSent(body, request), isSigned: true };
      const cause = responseCauseOf(evidence, { status, url: redactUrl(request.url) });
      if (cause !== undefined) onCause(cause);
      return result;
    },
    close: () => transport.close(),
  };
}
