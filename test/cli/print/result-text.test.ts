import { describe, expect, it } from 'vitest';
import { attemptText, detailText, durationText } from '../../../src/cli/attempt-text.ts';
import { explanation, resultText } from '../../../src/cli/print/result-text.ts';
import { failureCause } from '../../../src/cli/print/failure-cause.ts';
import { attempt, destination, failed, failing, outcomeOf, SCREEN, UNTRIED } from './facts.ts';

const FACTS = { type: 'track', title: 'Signup' };

describe('the line of a result for people', () => {
  it('aligns with the lines of other results', () => {
    const lines = [
      resultText(outcomeOf(destination()), { ...FACTS, origin: 'day.ndjson:1' }, SCREEN),
      resultText(
        outcomeOf(failed(failing(503, { ms: 12_345 }))),
        { ...FACTS, title: 'A name that is far too long for it', origin: 'day.ndjson:2' },
        SCREEN,
      ),
      resultText(UNTRIED, { type: 'identify', title: 'u1', origin: 'day.ndjson:3' }, SCREEN),
    ].map((text) => text.split('\n')[0]);
    expect(lines).toEqual([
      '✓ delivered track    Signup                   200       20ms day.ndjson:1 https://a.example/hook',
      '✗ failed    track    A name that is far too long for it 503      12.3s day.ndjson:2 https://a.example/hook',
      '∅ filtered  identify u1                                      day.ndjson:3',
    ]);
  });

  it('fits into the columns of a terminal, which keep the port of the URL', () => {
    const url = 'https://receiver.example:8443/hooks/orders';
    const facts = { ...FACTS, title: 'A name that is far too long for it', origin: 'day.ndjson:2' };
    const shown = [60, 80, 100, 140].map((stdoutColumns) => {
      const outcome = outcomeOf(failed(failing(503, { ms: 12_345, url })));
      return resultText(outcome, facts, { ...SCREEN, stdoutColumns }).split('\n')[0];
    });
    expect(shown).toEqual([
      '✗ failed    track    A name t… for it 503              12.3s',
      '✗ failed    track    A name…or it 503      12.3s day.ndjson:2     receive…e:8443',
      '✗ failed    track    A name that …long for it 503              12.3s day.ndjson:2     receive…e:8443',
      '✗ failed    track    A name that …long for it 503              12.3s day.ndjson:2             receiver.example:8443/hooks/orders',
    ]);
  });

  it('shows the verdict of --loopback and the problem of the message', () => {
    const judgement = { verdict: 'invalid', problem: 'expected `event`' } as const;
    expect(resultText(outcomeOf(destination()), { ...FACTS, judgement }, SCREEN)).toBe(
      '✓ delivered track    Signup                   200       20ms invalid https://a.example/hook\n  expected `event`',
    );
  });

  it('escapes text from outside, and shows the body below', () => {
    const text = resultText(
      outcomeOf(destination()),
      { ...FACTS, title: 'a\u001b[2J', body: '{"a":"\u009b"}' },
      SCREEN,
    );
    expect(text).toContain(String.raw`a\u001b[2J`);
    expect(text).toContain('\n  {"a":"\\u009b"}');
  });
});

function shownFailure(fields: Parameters<typeof failing>[1], body?: string): string {
  const outcome = outcomeOf(failed(failing(403, fields)));
  return resultText(outcome, { ...FACTS, body, cause: failureCause(outcome) }, SCREEN);
}

describe('the cause of a failed response', () => {
  it('is said with "probably" if it is likely', () => {
    expect(shownFailure({ cause: 'csrf', detail: 'CSRF token missing' })).toContain(
      '\n  cause: probably the framework wants',
    );
  });

  it('is not repeated if the quotation says it', () => {
    const shown = shownFailure({ cause: 'own-words', detail: 'wrong workspace' });
    expect(shown).toContain('\n  response: wrong workspace');
    expect(shown).not.toContain('cause:');
  });

  it('is shown with -v only if it is a guess', () => {
    expect(shownFailure({})).not.toContain('it rejects the signature or the sender');
    expect(shownFailure({}, '{}')).toContain('\n  perhaps: it rejects the signature or the sender');
  });

  it('is explained by the status if another version stored it', () => {
    expect(shownFailure({ cause: 'not-known-here' })).not.toContain('undefined');
  });
});

describe('why a message was not delivered', () => {
  it.each([
    [
      outcomeOf(
        failed(failing(503), failing(503, { round: 2, afterMs: 29_980, detail: ' down for\nmaintenance ' })),
      ),
      [
        'Delivery failed after 2 rounds in 30s: 503 Service Unavailable from https://a.example/hook',
        String.raw`response: down for\nmaintenance`,
      ],
    ],
    [
      outcomeOf(
        failed(attempt({ error: 'refused', detail: 'the connection was refused (ECONNREFUSED ::1:80)' })),
      ),
      [
        'Delivery failed after 1 round in 20ms: cannot connect to https://a.example/hook',
        'the connection was refused (ECONNREFUSED ::1:80)',
      ],
    ],
    [
      outcomeOf(
        failed(failing(503, { url: 'https://b.example', detail: 'busy' }), attempt({ error: 'timeout' })),
      ),
      [
        'Delivery failed after 1 round in 20ms: no response in time from https://a.example/hook',
        'also: 503 Service Unavailable from https://b.example (response: busy)',
      ],
    ],
    [
      outcomeOf({ ...failed(failing(404)), reason: 'rejected' }),
      ['Delivery rejected: 404 Not Found from https://a.example/hook'],
    ],
    [
      outcomeOf({ ...failed(failing(503), failing(410, { round: 2, afterMs: 980 })), reason: 'rejected' }),
      ['Delivery rejected after 2 rounds in 1s: 410 Gone from https://a.example/hook'],
    ],
    [outcomeOf({ ...failed(), reason: 'cancelled' }), ['Delivery failed: cancelled']],
    [UNTRIED, ['Its `integrations` exclude every destination']],
    [outcomeOf(destination()), []],
    [outcomeOf(destination({ outcome: 'unsent', attempts: [] })), []],
    [
      outcomeOf(destination({ outcome: 'unsent', attempts: [failing(500)] })),
      [
        'Interrupted before the next round; the last attempt: 500 Internal Server Error from https://a.example/hook',
      ],
    ],
    [
      { ...UNTRIED, outcome: 'failed' as const, refusal: { code: 'queue', reason: 'the disk is full' } },
      ['Not queued: the disk is full'],
    ],
    [
      {
        ...outcomeOf(failed(failing(500))),
        refusal: { code: 'http-5xx', reason: 'after 3 attempts: 500 from x' },
      },
      ['Delivery failed after 3 attempts: 500 from x'],
    ],
    [
      {
        ...outcomeOf(failed(failing(401))),
        refusal: { code: 'http-4xx', reason: '401 from x: no such key' },
      },
      ['Delivery failed: 401 from x: no such key'],
    ],
  ])('is explained in sentences (%#)', (outcome, sentences) => {
    expect(explanation(outcome, failureCause(outcome))).toEqual(sentences);
  });

  it('comes with a hint', () => {
    expect(failureCause(outcomeOf(failed(attempt({ error: 'tls-self-signed' }))))?.hint).toContain(
      'delivery: { ca: ./ca.pem }',
    );
    expect(failureCause(outcomeOf(failed(failing(401))))?.hint).toContain('same secret');
    expect(failureCause(outcomeOf(failed(failing(503))))?.hint).toContain('look into its log');
    expect(failureCause(UNTRIED)?.hint).toContain('`integrations`');
    expect(failureCause(outcomeOf(destination()))).toBeUndefined();
  });
});

it.each([
  [{ status: 429, error: 'http-4xx' }, '429 Too Many Requests from u'],
  [{ status: 599, error: 'http-5xx' }, '599 from u'],
  [{ error: 'dns' }, 'name lookup failed for u'],
  [{ error: 'something-new' }, 'something-new at u'],
])('describes the attempt %j', (fields, text) => {
  expect(attemptText({ url: 'u', ...fields })).toBe(text);
});

it('a response that is not HTTP gets a description of its own', () => {
  const fields = { url: 'u', status: 999, error: 'protocol', detail: 'no HTTP status: 999' };
  expect(detailText(fields)).toBe('no HTTP status: 999');
  expect(detailText({ ...fields, status: 500, error: 'http-5xx', detail: 'sorry' })).toBe('response: sorry');
});

it('an empty response has no detail', () => {
  expect(detailText({ url: 'u', status: 500, detail: ' \n' })).toBeUndefined();
  expect(detailText({ url: 'u', error: 'reset' })).toBeUndefined();
});

it.each([
  [0.4, '<1ms'],
  [999.4, '999ms'],
  [999.6, '1s'],
  [1_234, '1.2s'],
  [30_000, '30s'],
  [59_960, '1m 0s'],
  [83_000, '1m 23s'],
  [14_400_000, '4h 0m'],
])('shows %d ms as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
