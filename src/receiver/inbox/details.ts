import { toCapture } from '../../capture/to-capture.ts';
import type { Capture } from '../../capture/capture.ts';
import { redactUrl } from '../../redact.ts';
import { pairsOf } from '../response/forwarding.ts';
import type { StoredRequest } from './request-store.ts';
import type { Details } from './wire.ts';

/** What the page shows of one request when it is opened: secret values masked, as in a capture; signatures only if asked. */
export function detailsOf(kept: StoredRequest, withSignatures: boolean): Details {
  const { diagnosis, expected, got, note, secret, forwarded } = kept.request;
  return {
    summary: kept.summary,
    headers: captureOf(kept).headers,
    ...(diagnosis !== undefined && { diagnosis }),
    ...(withSignatures && expected !== undefined && { expected, got: got ?? '' }),
    ...(note !== undefined && { note }),
    ...(secret !== undefined && { secret }),
    ...(forwarded !== undefined && { forwarded }),
  };
}

/** The capture of a request, as `--save` would write it. */
export function captureOf({ request }: StoredRequest): Capture {
  const { at, method, path, rawHeaders, body, verdict } = request;
  return toCapture({ at, method, url: redactUrl(path), headers: pairsOf(rawHeaders), body, verdict });
}
