import { describe, expect, it } from 'vitest';
import { jsonLine } from '../../../src/cli/json-line.ts';
import { failureCause } from '../../../src/cli/print/failure-cause.ts';
import { resultLine, messageTitleOf } from '../../../src/cli/print/result-line.ts';
import { buildMessage } from '../../../src/message/build.ts';
import { attempt, AT, destination, failed, failing, outcomeOf, UNTRIED } from './facts.ts';

const FACTS = { type: 'track', title: 'Signup' };

describe('the JSON line of a result', () => {
  it('describes the attempt that delivered the message', () => {
    const attempts = [
      failing(503),
      attempt({ status: 204, url: 'https://b.example', afterMs: 900, ms: 41.26 }),
    ];
    const outcome = outcomeOf(destination({ attempts, signature: 'ab' }));
    const line = resultLine(outcome, { ...FACTS, origin: 'f:1' });
    expect(line).toEqual({
      messageId: 'm1',
      type: 'track',
      outcome: 'delivered',
      url: 'https://b.example',
      status: 204,
      attempts: [
        { at: new Date(AT).toISOString(), url: attempts[0]?.url, status: 503, error: 'http-5xx', ms: 20 },
        { at: new Date(AT + 900).toISOString(), url: 'https://b.example', status: 204, ms: 41.3 },
      ],
      ms: 941.3,
      signature: 'ab',
      origin: 'f:1',
    });
  });

  it('describes the last attempt of a failed message, with its code', () => {
    const outcome = outcomeOf(failed(failing(503), attempt({ error: 'timeout', afterMs: 10 })));
    const line = resultLine(outcome, FACTS);
    expect(line).toMatchObject({ outcome: 'failed', error: 'timeout', reason: 'exhausted', ms: 30 });
    expect(JSON.parse(jsonLine(line))).not.toHaveProperty('status');
  });

  it('escapes characters that reverse the reading direction, and keeps its meaning', () => {
    const value = { title: 'a\u061cb\u200ec\u202ed\u2069e' };
    expect(jsonLine(value)).toBe(`${String.raw`{"title":"a\u061cb\u200ec\u202ed\u2069e"}`}\n`);
    expect(JSON.parse(jsonLine(value))).toEqual(value);
  });

  it('describes each of several destinations, and at the top level the one that failed', () => {
    const line = resultLine(outcomeOf(destination(), { ...failed(failing(404)), name: 'Other' }), FACTS);
    expect(line).toMatchObject({
      outcome: 'failed',
      status: 404,
      destinations: {
        Webhooks: { outcome: 'delivered', status: 200 },
        Other: { outcome: 'failed', status: 404 },
      },
    });
  });

  it('has an empty list of attempts if there were none', () => {
    const outcome = { messageId: 'm1', type: 'track', outcome: 'filtered' };
    expect(resultLine(UNTRIED, FACTS)).toEqual({ ...outcome, attempts: [], ms: 0 });
  });

  it('has the reason why a message was rejected before any attempt', () => {
    const refusal = { code: 'queue', reason: 'no room\u0007' };
    expect(resultLine({ ...UNTRIED, outcome: 'failed', refusal }, FACTS)).toMatchObject({
      outcome: 'failed',
      error: 'queue',
      reason: String.raw`no room\u0007`,
    });
  });

  it('has the confidence of the cause beside it', () => {
    const outcome = outcomeOf(failed(failing(403, { cause: 'csrf' })));
    const line = resultLine(outcome, { ...FACTS, cause: failureCause(outcome) });
    expect(line).toMatchObject({ cause: 'csrf', confidence: 'likely' });
  });

  it('marks an attempt that was repeated on a new connection', () => {
    const attempts = [attempt({ status: 200, reconnected: true })];
    const line = resultLine(outcomeOf(destination({ attempts })), FACTS);
    expect(line['attempts']).toMatchObject([{ reconnected: true }]);
  });
});

describe('the title of a message', () => {
  it.each([
    [{ type: 'track', event: 'E', userId: 'u' }, 'E'],
    [{ type: 'page', name: 'P', userId: 'u' }, 'P'],
    [{ type: 'screen', name: 'S', userId: 'u' }, 'S'],
    [{ type: 'group', groupId: 'g', userId: 'u' }, 'g'],
    [{ type: 'identify', anonymousId: 'a' }, 'a'],
    [{ type: 'alias', previousId: 'p', userId: 'u' }, 'u'],
    [{ type: 'page', userId: 'u', properties: { name: 5 } }, ''],
  ])('%j is %j', (input, title) => {
    expect(messageTitleOf(buildMessage(input, { now: AT }))).toBe(title);
  });
});
