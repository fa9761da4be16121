import { HooksError, InputError, ValidationError } from '../errors.ts';

/** Why a request is not taken. Real clients drop a batch at 400, 401 and 413 and try it again at 429 and 503. */
export interface IngestRejection {
  readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 415 | 429 | 500 | 503;
  /** Stable. */
  readonly code:
    | 'malformed'
    | 'invalid'
    | 'unauthorized'
    | 'forbidden'
    | 'not-found'
    | 'method'
    | 'too-large'
    | 'encoding'
    | 'overloaded'
    | 'unavailable'
    | 'fault';
  /** What is wrong, and where. Without secrets. */
  readonly message: string;
  /** The way out. */
  readonly hint?: string | undefined;
}

/** Whether it passes by itself: then the answer says when to come back. */
export function isPassing({ status }: IngestRejection): boolean {
  return status === 429 || status === 503;
}

/** What the client reads. */
export function refusalBody({ code, message, hint }: IngestRejection): object {
  return { success: false, code, message, ...(hint !== undefined && { hint }) };
}

export const OVERLOADED: IngestRejection = {
  status: 429,
  code: 'overloaded',
  message: 'more is coming in than can be stored at this time',
};

export const STOPPING: IngestRejection = {
  status: 503,
  code: 'unavailable',
  message: 'the service is being stopped',
};

export function malformed(message: string, hint?: string): IngestRejection {
  return { status: 400, code: 'malformed', message, hint };
}

export function tooLarge(message: string): IngestRejection {
  return { status: 413, code: 'too-large', message, hint: 'send less in one request' };
}

/** For what reading JSON throws: malformed, or something in it that would be lost. Anything else is thrown on. */
export function refusalOfJson(error: unknown): IngestRejection {
  if (error instanceof InputError) return malformed(error.message, error.hint);
  if (error instanceof ValidationError)
    return { status: 400, code: 'invalid', message: error.message, hint: error.hint };
  throw error;
}

/** For whatever went wrong while storing: never the client's fault, so never a 4xx. The cause is for the log only. */
export function refusalOfStore(error: unknown): IngestRejection {
  return error instanceof HooksError
    ? { status: 503, code: 'unavailable', message: 'it cannot be stored at this time' }
    : { status: 500, code: 'fault', message: 'this is a fault of the service' };
}
