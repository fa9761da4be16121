import { refusalBody, type IngestRejection } from './refusal.ts';

/** What a request is answered with. */
export interface ServiceResponse {
  readonly status: number;
  readonly body: object;
  /** For the log. */
  readonly refusal?: IngestRejection;
  readonly source?: string;
}

export function refused(refusal: IngestRejection, source?: string): ServiceResponse {
  return {
    status: refusal.status,
    body: refusalBody(refusal),
    refusal,
    ...(source !== undefined && { source }),
  };
}
