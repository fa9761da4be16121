import { HooksError, InputError, QueueError, ValidationError } from '../../errors.ts';

/**
 * Why a request or a message was rejected. Real clients drop a batch after 400, 401 and 413 and retry it after 429 and 503.
 */
export interface IngestRejection {
  readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 415 | 429 | 500 | 503;
  /** A code for programs that names the reason of the rejection. It does not change between versions. */
  readonly code:
    | 'malformed'
    | 'invalid'
    | 'unplanned'
    | 'unauthorized'
    | 'forbidden'
    | 'not-found'
    | 'method'
    | 'too-large'
    | 'encoding'
    | 'overloaded'
    | 'unavailable'
    | 'fault';
  /** The problem and its position in the request, as a sentence without secrets. */
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Whether a retry can succeed; then the response has `Retry-After`. */
export function isTemporary({ status }: IngestRejection): boolean {
  return status === 429 || status === 503;
}

/** The response body of a rejection. */
export function rejectionBody({ code, message, hint }: IngestRejection): object {
  return { success: false, code, message, ...(hint !== undefined && { hint }) };
}

export const OVERLOADED: IngestRejection = {
  status: 429,
  code: 'overloaded',
  message: 'overloaded: too much data in flight',
};

export const INTERNAL_ERROR: IngestRejection = {
  status: 500,
  code: 'fault',
  message: 'internal error of the service',
};

export const STOPPING: IngestRejection = {
  status: 503,
  code: 'unavailable',
  message: 'the service is stopping',
};

export function malformed(message: string, hint?: string): IngestRejection {
  return { status: 400, code: 'malformed', message, hint };
}

export function invalid(message: string, hint: string | undefined): IngestRejection {
  return { status: 400, code: 'invalid', message, hint };
}

export function tooLarge(message: string): IngestRejection {
  return { status: 413, code: 'too-large', message, hint: 'send less in one request' };
}

/**
 * The rejection for an error of readJson: malformed JSON, or JSON that cannot be parsed without loss. Rethrows any other
 * error.
 */
export function jsonRejection(error: unknown): IngestRejection {
  if (error instanceof InputError) return malformed(error.message, error.hint);
  if (error instanceof ValidationError) return invalid(error.message, error.hint);
  throw error;
}

/**
 * The rejection for an error of the store, which a retry can resolve. The response does not show the cause, but the log
 * does.
 */
export function storeRejection(error: unknown): IngestRejection {
  if (error instanceof QueueError && error.isBusy) {
    return { status: 429, code: 'overloaded', message: 'overloaded: the storage is busy' };
  }
  return error instanceof HooksError
    ? { status: 503, code: 'unavailable', message: 'storage unavailable' }
    : INTERNAL_ERROR;
}
