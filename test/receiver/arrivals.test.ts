import { describe, expect, it } from 'vitest';
import { readConditions } from '../../src/message/filter.ts';
import { ArrivalCheck, type ExpectedArrivals, type ExpectedMessage } from '../../src/receiver/arrivals.ts';
import type { ReceivedRequest, SignatureVerdict } from '../../src/receiver/received-request.ts';

function arrivals(
  expected: Partial<Omit<ExpectedArrivals, 'matches' | 'each'>> & { matches?: string[]; each?: string[] },
): ArrivalCheck {
  return new ArrivalCheck({
    atLeast: 0,
    atMost: Infinity,
    signed: false,
    ...expected,
    matches: messages(expected.matches),
    each: messages(expected.each),
  });
}

function messages(texts: readonly string[] = []): ExpectedMessage[] {
  return texts.map((text) => ({ text, conditions: readConditions(text, '--match') }));
}

function request(
  body: unknown,
  { method = 'POST', verdict = 'unchecked' }: { method?: string; verdict?: SignatureVerdict } = {},
): ReceivedRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    at: 0,
    method,
    path: '/',
    rawHeaders: [],
    body: Buffer.from(text),
    verdict,
    answered: 'status',
    status: 200,
    ms: 1,
  };
}

const met = (judged: ArrivalCheck): boolean[] => judged.findings().map(({ isMet }) => isMet);

describe('arrivals', () => {
  it('count POSTs, exactly or within bounds', () => {
    const exact = arrivals({ atLeast: 2, atMost: 2 });
    exact.add(request({}));
    expect(exact.isOver).toBe(false);
    exact.add(request('', { method: 'PUT' }));
    expect(exact.isOver).toBe(false);
    exact.add(request({}));
    expect([exact.isOver, met(exact)]).toEqual([true, [true]]);
    exact.add(request({}));
    expect(exact.findings()).toEqual([
      {
        expectation: 'count',
        isMet: false,
        said: 'Expected 2 requests, got 4 requests: 3 unchecked, 1 not POST',
      },
    ]);
    const bounded = arrivals({ atLeast: 1, atMost: 3 });
    expect(bounded.findings()[0]?.said).toBe('Expected at least 1 and at most 3 requests, got no request');
  });

  it('give each match a request of its own, whichever order they come in', () => {
    const judged = arrivals({ matches: ['type=track', 'type=track,event=A'] });
    judged.add(request({ type: 'track', event: 'A' }));
    expect(met(judged).filter(Boolean)).toHaveLength(1);
    judged.add(request({ type: 'track', event: 'B' }));
    expect(judged.findings()).toMatchObject([
      { isMet: true, said: 'request 2' },
      { isMet: true, said: 'request 1' },
    ]);
  });

  it('do not let one request meet two equal matches', () => {
    const judged = arrivals({ matches: ['type=track', 'type=track'] });
    judged.add(request({ type: 'track' }));
    judged.add(request({ type: 'page' }));
    expect(met(judged)).toEqual([true, false]);
    expect(judged.isOver).toBe(false);
    judged.add(request({ type: 'track' }));
    expect([met(judged), judged.isOver]).toEqual([[true, true], true]);
  });

  it('name the request that comes nearest, and what differs in it', () => {
    const judged = arrivals({ matches: ['type=track,event=Signup,properties.plan=pro'] });
    judged.add(request('no JSON'));
    judged.add(request({ type: 'track', event: 'Signup', properties: { plan: 'free' } }));
    judged.add(request({ type: 'track', event: 'Login' }));
    const unmet = [{ path: 'properties.plan', isEqual: true, value: 'pro', found: 'free' }];
    expect(judged.findings()).toMatchObject([{ isMet: false, nearest: { request: 2, unmet } }]);
  });

  it('want --each of every request', () => {
    const judged = arrivals({ each: ['type!=delete'] });
    judged.add(request({ type: 'track' }));
    expect(met(judged)).toEqual([true]);
    judged.add(request({ type: 'delete' }));
    expect(judged.findings()).toMatchObject([{ isMet: false, nearest: { request: 2 } }]);
  });

  it('want every signature to be valid where there is a secret', () => {
    const judged = arrivals({ atLeast: 2, atMost: 2, signed: true });
    judged.add(request({}, { verdict: 'valid' }));
    expect(met(judged)).toEqual([false, true]);
    judged.add(request({}, { verdict: 'unsigned' }));
    expect(met(judged)).toEqual([true, false]);
  });

  it('keep no more requests than there are matches', () => {
    const judged = arrivals({ matches: ['type=track', 'type=track', 'type=track,event=last'] });
    for (let index = 0; index < 5_000; index++) judged.add(request({ type: 'track', event: `${index}` }));
    judged.add(request({ type: 'track', event: 'last' }));
    expect(met(judged)).toEqual([true, true, true]);
  });
});
