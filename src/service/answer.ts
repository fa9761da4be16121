import { refusalBody, type Refusal } from './refusal.ts';

/** What a request is answered with. */
export interface Answer {
  readonly status: number;
  readonly body: object;
  /** For the log. */
  readonly refusal?: Refusal;
  readonly source?: string;
}

export function refused(refusal: Refusal, source?: string): Answer {
  return {
    status: refusal.status,
    body: refusalBody(refusal),
    refusal,
    ...(source !== undefined && { source }),
  };
}
