import { describe, expect, it } from 'vitest';
import type { Check, CheckResult } from '../../src/check/check.ts';
import { CHECKS, selectChecks } from '../../src/check/checks.ts';
import { CheckRun, type RunEnd, type RunOptions } from '../../src/check/run-checks.ts';
import type { NetworkError, TransportRequest, TransportResult } from '../../src/transport/transport.ts';
import {
  explainShown,
  mistakenRequests,
  networkCauseOf,
  printedCauseOf,
  responseCauseOf,
} from '../../src/diagnosis/explain.ts';
import { verify } from '../../src/app/explained.ts';
import { FakeClock } from '../fake-clock.ts';

const SECRET = 's3cret';
/** A secret that each way of quoting changes. */
const ODD_SECRET = '<s3c&ret/"1">';

type Receiver = (request: TransportRequest, index: number) => TransportResult;

const status = (code: number, reply?: string): TransportResult => ({
  kind: 'response',
  status: code,
  body: reply,
  ms: 1,
  reconnected: false,
});
const failure = (error: NetworkError): TransportResult => ({
  kind: 'failure',
  error,
  detail: `it was ${error}`,
  ms: 1,
  reconnected: false,
});

interface Ran {
  readonly end: RunEnd;
  readonly results: readonly CheckResult[];
  readonly requests: readonly TransportRequest[];
  readonly outcomes: () => Record<string, string>;
}

/** Runs the checks of these codes against a receiver that is a function. Advances the clock until the run ends. */
async function run(
  codes: readonly string[],
  receiver: Receiver,
  more: Partial<Omit<RunOptions, 'causes' | 'mistakenRequests' | 'explainShown'>> = {},
): Promise<Ran> {
  const requests: TransportRequest[] = [];
  const results: CheckResult[] = [];
  const clock = new FakeClock();
  const checks = selectChecks({ only: codes, skip: [] });
  const state = { isOver: false };
  const running = new CheckRun({
    checks,
    transport: {
      send: (request) => {
        requests.push(request);
        return Promise.resolve(receiver(request, requests.length - 1));
      },
      close: () => Promise.resolve(),
    },
    url: 'http://receiver.example/',
    headers: ['User-Agent', 'test'],
    timeoutMs: 5_000,
    secrets: [SECRET],
    signer: undefined,
    clock,
    signal: new AbortController().signal,
    gone: () => undefined,
    runId: 'run',
    causes: { networkCauseOf, responseCauseOf, printedCauseOf },
    mistakenRequests,
    explainShown,
    onResult: (result) => results.push(result),
    ...more,
  })
    .run()
    .finally(() => {
      state.isOver = true;
    });
  for (let turn = 0; !state.isOver && turn < 1_000; turn++) await clock.advance(100);
  return {
    end: await running,
    results,
    requests,
    outcomes: () => Object.fromEntries(results.map(({ check, outcome }) => [check, outcome])),
  };
}

function isRight(request: TransportRequest, index: number): boolean {
  const { kind, ...response } = right(request, index);
  return kind === 'response' && 'status' in response && response.status === 200;
}

/** A receiver that obeys the contract. */
const right: Receiver = ({ headers, body }) => {
  const at = headers.indexOf('X-Signature');
  const signature = at === -1 ? '' : (headers[at + 1] ?? '');
  if (!verify({ body, signature, secrets: [SECRET], exact: true }).valid) return status(401);
  try {
    JSON.parse(Buffer.from(body).toString());
    return status(200);
  } catch {
    return status(400);
  }
};

describe('a run', () => {
  it('passes a correct receiver, and sends only the requests of the checks', async () => {
    const { results, requests } = await run([], right);
    expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(results.map(({ check }) => check)).toEqual(CHECKS.map(({ code }) => code));
    const expected = CHECKS.flatMap(
      ({ code }) => ({ duplicate: 2, malformed: 2, latency: 10, tls: 0 })[code] ?? 1,
    );
    expect(requests).toHaveLength(expected.reduce((sum, count) => sum + count, -1)); // constant-time sends nothing
  });

  it('sends the same bytes twice as a duplicate', async () => {
    const { requests } = await run(['duplicate'], right);
    expect(requests).toHaveLength(2);
    expect(requests[0]?.body).toEqual(requests[1]?.body);
  });

  it.each(['refused', 'dns', 'blocked-address'] as const)(
    'reports an unreachable receiver (%s), and runs no check',
    async (error) => {
      const { end, outcomes, requests } = await run(['track', 'unsigned'], () => failure(error));
      expect(end.untestable).toMatchObject({ code: error, says: `it was ${error}` });
      expect(outcomes()).toEqual({ track: 'unsent', unsigned: 'unsent' });
      expect(requests).toHaveLength(1);
    },
  );

  it('waits for a receiver that restarts', async () => {
    const { outcomes } = await run(['track', 'alias', 'unsigned'], (request, index) =>
      index >= 1 && index < 6 ? failure('refused') : right(request, index),
    );
    expect(outcomes()).toEqual({ track: 'passed', alias: 'passed', unsigned: 'passed' });
  });

  it('gives up on a receiver that does not restart', async () => {
    const { end, results } = await run(['track', 'alias', 'unsigned'], (request, index) =>
      index === 0 ? right(request, index) : failure('refused'),
    );
    expect(end).toEqual({});
    expect(results).toMatchObject([
      { check: 'track', outcome: 'passed' },
      { check: 'alias', outcome: 'failed', error: 'refused' },
      { check: 'unsigned', outcome: 'unsent', reason: 'nothing listens there anymore' },
    ]);
  });

  it('continues after a reset connection', async () => {
    const { outcomes } = await run(['track', 'alias'], (request, index) =>
      index === 0 ? failure('reset') : right(request, index),
    );
    expect(outcomes()).toEqual({ track: 'failed', alias: 'passed' });
  });

  it('gives up after three requests in a row without a response', async () => {
    const hangs = await run(['page', 'track', 'alias', 'group'], () => failure('timeout'));
    expect(hangs.outcomes()).toEqual({ page: 'failed', track: 'failed', alias: 'failed', group: 'unsent' });
    const limps = await run(['page', 'track', 'alias', 'group', 'delete'], (request, index) =>
      index % 2 === 0 ? failure('timeout') : right(request, index),
    );
    expect(Object.values(limps.outcomes())).not.toContain('unsent');
  });

  it('leaves the remaining checks if it is interrupted, without blaming the receiver', async () => {
    const interruption = new AbortController();
    const { signal } = interruption;
    const interrupt: Receiver = (request, index) => {
      if (index === 0) return right(request, index);
      interruption.abort();
      return failure('reset');
    };
    const { results } = await run(['track', 'alias', 'unsigned'], interrupt, { signal });
    expect(results).toMatchObject([
      { outcome: 'passed' },
      { outcome: 'unsent', reason: 'interrupted' },
      { outcome: 'unsent', reason: 'interrupted' },
    ]);
  });

  it("removes the secret from the receiver's response", async () => {
    const { results } = await run(['track'], () => status(500, `wrong key ${SECRET}`));
    expect(results[0]?.reply).toBe('wrong key ***');
  });

  it.each([
    ['base64', Buffer.from(ODD_SECRET).toString('base64'), '***=='],
    ['JSON', JSON.stringify({ key: ODD_SECRET }), '{"key":"***"}'],
    ['HTML', 'key &lt;s3c&amp;ret/&quot;1&quot;&gt;.', 'key ***.'],
    ['a URL', `/hook?key=${encodeURIComponent(ODD_SECRET)}&a=b`, '/hook?key=***&a=b'],
    ['a reply that was cut', `wrong key ${ODD_SECRET.slice(0, -2)}`, 'wrong key ***'],
  ])('removes the secret as spelled by %s', async (_, said, shown) => {
    const { results } = await run(['track'], () => status(500, said), { secrets: [ODD_SECRET] });
    expect(results[0]?.reply).toBe(shown);
  });
});

describe('a check', () => {
  it('for a forgery fails on 500, after which senders retry', async () => {
    expect((await forgeriesGet(500)).results[0]).toMatchObject({
      outcome: 'failed',
      mistake: { code: 'fails-on-bad-signature' },
    });
  });

  it.each([
    [408, 'too-early'],
    [423, 'too-early'],
    [425, 'too-early'],
    [429, 'rate-limit'],
    [502, 'bad-gateway'],
    [503, 'unavailable'],
    [504, 'late'],
  ])('for a forgery fails on %i without blaming the comparison', async (code, mistake) => {
    expect((await forgeriesGet(code)).results[0]).toMatchObject({
      outcome: 'failed',
      mistake: { code: mistake },
    });
  });

  it.each([400, 401, 403, 404])('for a forgery passes on %i', async (code) => {
    expect((await forgeriesGet(code)).outcomes()).toEqual({ unsigned: 'passed' });
  });

  it.each([401, 404, 429, 502])('for a forgery is not sent if correct messages get %i', async (code) => {
    const { results, requests } = await run(['unsigned', 'tampered'], () => status(code));
    expect(results).toMatchObject([
      { outcome: 'unsent', reason: expect.stringContaining('would prove nothing') as string },
      { outcome: 'unsent' },
    ]);
    expect(requests).toHaveLength(1);
  });

  it('waits for the lines that a receiver prints one after another', async () => {
    let lines: string[] = [];
    const { results } = await run(
      ['track'],
      () => {
        lines = ['POST /hook', 'Error: no user'];
        return status(500);
      },
      { printed: () => lines.shift() ?? '' },
    );
    expect(results).toMatchObject([{ mistake: { says: 'its output says: "Error: no user"' } }]);
  });

  it('does not probe a server that is not a receiver', async () => {
    const { results, requests } = await run([], () => status(403, 'CSRF verification failed'));
    expect(results.find(({ outcome }) => outcome === 'failed')).toMatchObject({
      check: 'page',
      mistake: { code: 'csrf' },
    });
    expect(results.filter(({ outcome }) => outcome === 'failed')).toHaveLength(1);
    expect(requests).toHaveLength(2);
  });

  it('stops after three failures in a row for a reason that does not depend on the message', async () => {
    const { outcomes, requests } = await run(['page', 'track', 'alias', 'group'], () => status(502));
    expect(outcomes()).toEqual({ page: 'failed', track: 'failed', alias: 'failed', group: 'unsent' });
    expect(requests).toHaveLength(3);
  });

  it('reports in one line that a receiver accepts everything', async () => {
    const { end } = await run([], () => status(200));
    expect(end.verdict).toMatchObject({ code: 'takes-everything' });
    expect((await run([], right)).end.verdict).toBeUndefined();
  });

  it.each([
    ['{"error":"bad signature"}', 'error-in-body'],
    ['{"statusCode":401,"body":"no"}', 'error-in-body'],
    ['<!doctype html><title>Welcome</title>', 'page'],
    ['<html><input type="password">', 'login-page'],
    ['<b>Warning</b>:  Undefined variable', 'trace-in-body'],
  ])('reports a 200 that says %j', async (body, mistake) => {
    expect((await run(['track'], () => status(200, body))).results[0]?.mistake?.code).toBe(mistake);
  });

  it.each([
    'ok',
    '',
    '{"ok":true}',
    '{"error":null,"success":true}',
    '{"errors":[]}',
    '<p>ok',
    '{"code":200}',
    '{"status":"ok","error":"none"}',
    '{"error":{"code":0,"message":"success"}}',
    '{"failed":0,"error":"0 errors"}',
    '{"success":true,"error":"n/a"}',
    '{"code":400,"queue":5}',
  ])('accepts a 200 that says %j', async (body) => {
    expect((await run(['track'], () => status(200, body))).outcomes()).toEqual({ track: 'passed' });
  });

  it('of the URL explains what a status has to do with the URL', async () => {
    expect(await Promise.all([404, 405, 413, 415, 301, 429, 503].map(mistakeOf))).toEqual([
      'wrong-path',
      'wrong-path',
      'refuses-valid',
      'refuses-valid',
      'redirect',
      'rate-limit',
      'unavailable',
    ]);
  });

  it('of unusual content blames the hashed bytes if plain messages are accepted and no spelling explains the rejection', async () => {
    const { results } = await run(['track', 'numbers'], (request, index) =>
      Buffer.from(request.body).includes('e-7') ? status(401) : right(request, index),
    );
    const says = 'it rejects a correct message with 401, but accepted 1 others: the secret is right';
    expect(results[1]).toMatchObject({ outcome: 'failed', mistake: { says } });
  });

  it('does not blame a special message for a response that every message gets', async () => {
    const { results } = await run(['duplicate', 'large', 'unknown-type'], () => status(500));
    expect(results.map(({ mistake }) => mistake?.code)).toEqual(['http-5xx', 'http-5xx', 'http-5xx']);
  });

  it('of the latency fails above half of the timeout', async () => {
    expect((await burstWithin(2_400)).outcomes()).toEqual({ latency: 'passed' });
    expect((await burstWithin(2_600)).results[0]?.mistake?.code).toBe('slow');
  });

  it('of the latency measures a slow burst again', async () => {
    const { outcomes } = await run(['latency'], (_, index) => ({
      ...status(200),
      ms: index < 10 ? 2_600 : 1,
    }));
    expect(outcomes()).toEqual({ latency: 'passed' });
  });
});

describe('a choice of checks', () => {
  it('keeps the order, and drops skipped checks', () => {
    expect(codesOf(selectChecks({ only: ['unsigned', 'track', 'page'], skip: ['page'] }))).toEqual([
      'track',
      'unsigned',
    ]);
  });

  it('has a unique code for each check that is easy to type', () => {
    const all = codesOf(CHECKS);
    expect(new Set(all).size).toBe(all.length);
    expect(all.filter((code) => !/^[a-z][a-z-]{1,16}$/.test(code))).toEqual([]);
  });
});

async function mistakeOf(code: number): Promise<string | undefined> {
  return (await run(['track'], () => status(code))).results[0]?.mistake?.code;
}

function burstWithin(ms: number): Promise<Ran> {
  return run(['latency'], () => ({ ...status(200), ms }));
}

function codesOf(checks: readonly Check[]): string[] {
  return checks.map(({ code }) => code);
}

/** Runs a check against a receiver that is correct except for its responses to forgeries. */
function forgeriesGet(code: number): Promise<Ran> {
  return run(['unsigned'], (request, index) => (isRight(request, index) ? status(200) : status(code)));
}
