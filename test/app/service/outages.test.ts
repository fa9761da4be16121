import { describe, expect, it } from 'vitest';
import { Outages } from '../../../src/app/service/outages.ts';
import type { AttemptRecord } from '../../../src/attempt-record.ts';
import { FakeClock } from '../../fake-clock.ts';

const LANE = { source: 'web', destination: 'Webhooks' };
const [A, B] = ['https://a.example/hook', 'https://b.example/hook'];

function watching() {
  const clock = new FakeClock(1_000);
  const told: string[] = [];
  const outages = new Outages({
    clock,
    onDown: ({ url, since, last }) => told.push(`down ${url} since ${since}: ${last.error}`),
    onBack: ({ url, since }) => told.push(`back ${url} since ${since}`),
  });
  const see = (url: string, attempt: Pick<AttemptRecord, 'result'> & Partial<AttemptRecord>): void =>
    outages.see(LANE, { at: clock.now(), url, round: 1, ms: 1, ...attempt });
  return {
    clock,
    told,
    fails: (url: string, error = 'http-5xx') => see(url, { result: 'retryable', error }),
    takes: (url: string) => see(url, { result: 'delivered', status: 200 }),
  };
}

describe('an outage', () => {
  it('is reported once after three consecutive failures and once when it is over', async () => {
    const { clock, told, fails, takes } = watching();
    fails(A);
    fails(A);
    takes(A);
    expect(told).toEqual([]);
    for (let time = 0; time < 20; time++) {
      fails(A, 'refused');
      await clock.advance(100);
    }
    takes(A);
    takes(A);
    expect(told).toEqual([`down ${A} since 1000: refused`, `back ${A} since 1000`]);
  });

  it('is reported for each webhook, even if another webhook accepts the messages', () => {
    const { told, fails, takes } = watching();
    for (let time = 0; time < 3; time++) {
      fails(A, 'timeout');
      takes(B);
    }
    expect(told).toEqual([`down ${A} since 1000: timeout`]);
  });

  it('of a flapping webhook is reported once a minute', async () => {
    const { clock, told, fails, takes } = watching();
    for (let second = 0; second < 90; second++) {
      for (let time = 0; time < 3; time++) fails(A);
      takes(A);
      await clock.advance(1_000);
    }
    expect(told).toHaveLength(4);
  });

  it.each(['http-4xx', 'redirect', 'aborted'])('does not follow from %s', (error) => {
    const { told, fails } = watching();
    for (let time = 0; time < 10; time++) fails(A, error);
    expect(told).toEqual([]);
  });
});
