import { PLAIN_PALETTE } from '../../../src/cli/palette.ts';
import type { DestinationOutcome, Outcome } from '../../../src/app/pipeline/outcomes.ts';
import type { AttemptRecord } from '../../../src/attempt-record.ts';

export const SCREEN = { color: PLAIN_PALETTE, stdoutColumns: undefined };
export const AT = Date.parse('2026-11-20T21:10:05.123Z');

/** An attempt of 20 ms that starts `afterMs` after the first. */
export function attempt(fields: Partial<AttemptRecord> & { readonly afterMs?: number } = {}): AttemptRecord {
  const { afterMs = 0, ...rest } = fields;
  return { at: AT + afterMs, url: 'https://a.example/hook', round: 1, result: 'delivered', ms: 20, ...rest };
}

export function failing(status: number, fields: Parameters<typeof attempt>[0] = {}): AttemptRecord {
  return attempt({
    result: status < 500 ? 'rejected' : 'retryable',
    status,
    error: status < 500 ? 'http-4xx' : 'http-5xx',
    ...fields,
  });
}

export function destination(fields: Partial<DestinationOutcome> = {}): DestinationOutcome {
  return { name: 'Webhooks', outcome: 'delivered', attempts: [attempt({ status: 200 })], ...fields };
}

export function failed(...attempts: AttemptRecord[]): DestinationOutcome {
  return destination({ outcome: 'failed', reason: 'exhausted', attempts });
}

/** The outcome of a message at these destinations. */
export function outcomeOf(...destinations: DestinationOutcome[]): Outcome {
  const outcome = destinations.find((each) => each.outcome !== 'delivered')?.outcome ?? 'delivered';
  return { messageId: 'm1', outcome, destinations };
}

export const UNTRIED: Outcome = { messageId: 'm1', outcome: 'filtered', destinations: [] };
