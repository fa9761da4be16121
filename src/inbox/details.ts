import { toCapture } from '../capture/to-capture.ts';
import type { Capture } from '../capture/capture.ts';
import { redactUrl, shownWriteKey, withoutWriteKeys } from '../redact.ts';
import { DEFAULT_SCHEME } from '../signature/schemes/built-in.ts';
import { libraryOf, messageLabel, messagesOf } from '../receiver/messages/messages-of.ts';
import { trackingCallOf, wholeMessage, type ReceivedMessage } from '../receiver/messages/tracking-call.ts';
import { pairsOf } from '../receiver/response/forwarding.ts';
import { listViolations, type DescribeViolations } from './plan-violations.ts';
import type { StoredRequest } from './request-store.ts';
import type { Details } from './wire.ts';

interface DetailsOptions {
  readonly withSignatures: boolean;
  /** Finds what a message violates in the tracking plan. Undefined without a plan. */
  readonly violations: DescribeViolations | undefined;
}

/**
 * The details of an opened request. Secret values are masked as in a capture; signatures are included only if
 * `withSignatures`.
 */
export function detailsOf(kept: StoredRequest, { withSignatures, violations }: DetailsOptions): Details {
  const { diagnosis, expected, got, note, secret, forwarded, response } = kept.request;
  const call = trackingCallOf(kept.request);
  const unplanned =
    violations && listViolations(messagesOf({ ...kept.request, ...(call && { call }) }), violations);
  const {
    verdict,
    scheme = DEFAULT_SCHEME,
    partial,
    warning = partial && `The signature ${partial}`,
  } = kept.request;
  return {
    summary: kept.summary,
    headers: captureOf(kept).headers,
    diagnosis,
    ...(withSignatures && expected !== undefined && { expected, got: got ?? '' }),
    note,
    secret,
    scheme: verdict === 'valid' ? scheme : undefined,
    warning,
    response,
    forwarded,
    messages: call?.messages.map((message) => wholeMessage(message, shownWriteKey)),
    messageTitles: call?.messages.map(messageTitle),
    problem: call?.rejection?.message,
    library: libraryOf(call?.messages ?? []),
    ...(unplanned !== undefined && unplanned.length > 0 && { violations: unplanned }),
  };
}

function messageTitle(message: ReceivedMessage): string {
  const { rejection } = message;
  const label = messageLabel(message);
  return rejection === undefined ? label : `${label}; a tracking API rejects it: ${rejection.message}`;
}

/** The body with masked write keys, or the exact bytes if the body has no write key. */
export function shownBody({ request: { body } }: StoredRequest): Uint8Array {
  const text = Buffer.from(body).toString();
  const shown = withoutWriteKeys(text);
  return shown === text ? body : Buffer.from(shown);
}

/** The capture of a request, as `--save` writes it. */
export function captureOf({ request }: StoredRequest): Capture {
  const { at, method, path, rawHeaders, body, verdict } = request;
  return toCapture({ at, method, url: redactUrl(path), headers: pairsOf(rawHeaders), body, verdict });
}
