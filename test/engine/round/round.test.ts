import { describe, expect, it } from 'vitest';
import type { DeliveryOptions } from '../../../src/engine/options.ts';
import type { TransportResult } from '../../../src/transport/transport.ts';
import { A, after, answer, B, startHarness, failure, type Harness } from '../harness.ts';

const HOUR = 3_600_000;
const URLS = ['a', 'b', 'c', 'd', 'e'].map((host) => `http://${host}.example/`);
const LETTERS = { S: answer(200), R: answer(503), P: answer(404) };

type Letter = keyof typeof LETTERS;

/** Success, Retryable and Permanent failure for five URLs, in every combination. */
function combinations(length: number): Letter[][] {
  if (length === 0) return [[]];
  return combinations(length - 1).flatMap((rest) =>
    (['S', 'R', 'P'] as const).map((letter) => [letter, ...rest]),
  );
}

const ALL = combinations(5);

/** The first response of each URL follows its letter; all later ones succeed. */
async function firstRound(letters: readonly Letter[], delivery: Partial<DeliveryOptions>): Promise<Harness> {
  const firstAnswers = new Map(URLS.map((url, index) => [url, LETTERS[letters[index] ?? 'S']]));
  const harness = startHarness(
    ({ url }, turn): TransportResult => (turn === 0 && firstAnswers.get(url)) || answer(200),
    { urls: URLS, delivery },
  );
  await harness.sendAndAdvance(0);
  return harness;
}

const asked = ({ requests }: Harness): string => requests.map(({ url }) => url.charAt(7)).join('');

/** The hosts with a retryable failure. */
const retryable = (letters: readonly Letter[]): string =>
  letters.map((letter, index) => (letter === 'R' ? 'abcde'.charAt(index) : '')).join('');

describe('fallback', () => {
  it('has 243 combinations', () => {
    expect(new Set(ALL.map((letters) => letters.join(''))).size).toBe(243);
  });

  it.each(ALL.map((letters) => letters.join('')))(
    '%s: asks webhooks in order up to the first success',
    async (word) => {
      const letters = word.split('') as Letter[];
      const firstSuccess = letters.indexOf('S');
      const harness = await firstRound(letters, {});
      if (firstSuccess !== -1) {
        expect(asked(harness)).toBe('abcde'.slice(0, firstSuccess + 1));
        expect(harness.onlySettled().state).toBe('delivered');
      } else if (retryable(letters) === '') {
        expect(asked(harness)).toBe('abcde');
        expect(harness.onlySettled()).toMatchObject({ state: 'dead', reason: 'rejected' });
      } else {
        expect(asked(harness)).toBe('abcde');
        expect(harness.settled()).toEqual([]);
        await harness.clock.advance(1_000);
        // The second round asks the URLs with a retryable failure, and the first of them succeeds.
        expect(asked(harness)).toBe(`abcde${retryable(letters).charAt(0)}`);
        expect(harness.onlySettled()).toMatchObject({ state: 'delivered', progress: { rounds: 2 } });
      }
      const before = harness.requests.length;
      await harness.clock.advance(5 * HOUR);
      expect(harness.requests).toHaveLength(before);
      expect(harness.onlySettled().progress.attempts).toHaveLength(before);
    },
  );

  it('asks all remaining webhooks in the second round, in order', async () => {
    const harness = startHarness(
      ({ url }, turn) => (url.startsWith('http://b') && turn === 0 ? LETTERS.P : LETTERS.R),
      { urls: URLS },
    );
    await harness.sendAndAdvance(1_000);
    expect(asked(harness)).toBe('abcdeacde');
  });

  it('distinguishes webhooks that share a URL', async () => {
    const urls = ['http://u:1@a.example/', 'http://u:2@a.example/'];
    const harness = startHarness((_, turn) => [answer(401), answer(503), answer(200)][turn] ?? answer(500), {
      urls,
    });
    await harness.sendAndAdvance(1_000);
    const authorizations = harness.requests.map(
      ({ headers }) => headers[headers.indexOf('Authorization') + 1],
    );
    expect(authorizations.map((value) => atob(value?.slice(6) ?? ''))).toEqual(['u:1', 'u:2', 'u:2']);
    expect(harness.onlySettled().progress).toMatchObject({
      rejectedBy: ['http://***@a.example/'],
      attempts: [
        { url: 'http://***@a.example/' },
        { url: 'http://***@a.example/' },
        { url: 'http://***@a.example/' },
      ],
    });
  });
});

describe('broadcast', () => {
  it.each(ALL.map((letters) => letters.join('')))('%s: asks all, and needs one success', async (word) => {
    const letters = word.split('') as Letter[];
    const harness = await firstRound(letters, { strategy: 'broadcast' });
    expect(asked(harness)).toBe('abcde');
    const left = retryable(letters);
    if (letters.includes('S')) expect(harness.onlySettled().state).toBe('delivered');
    else if (left === '') expect(harness.onlySettled()).toMatchObject({ state: 'dead', reason: 'rejected' });
    else expect(harness.settled()).toEqual([]);
    await harness.clock.advance(5 * HOUR);
    expect(asked(harness)).toBe(letters.includes('S') ? 'abcde' : `abcde${left}`);
    expect(harness.onlySettled().progress.attempts).toHaveLength(harness.requests.length);
  });

  it('asks all webhooks at once, and records every attempt', async () => {
    const harness = startHarness(
      (request) =>
        after(harness.clock, request.url === A ? 3_000 : 10, request, answer(request.url === A ? 503 : 200)),
      { urls: [A, B], delivery: { strategy: 'broadcast' } },
    );
    await harness.sendAndAdvance(2_999);
    expect(harness.requests.map(({ at }) => at - harness.clock.now())).toEqual([-2_999, -2_999]);
    expect(harness.settled()).toEqual([]);
    await harness.clock.advance(1);
    expect(harness.onlySettled()).toMatchObject({
      state: 'delivered',
      progress: {
        attempts: [
          { url: B, status: 200 },
          { url: A, status: 503 },
        ],
      },
    });
  });
});

describe('health', () => {
  const failures = 3;

  it('skips a webhook that fails repeatedly while another accepts the deliveries', async () => {
    let isDown = true;
    const harness = startHarness(({ url }) => (url === A && isDown ? failure('timeout') : answer(200)), {
      urls: [A, B],
      delivery: { health: { failures } },
    });
    const sendOne = async (): Promise<string> => {
      const before = harness.requests.length;
      await harness.sendAndAdvance(0);
      return harness.requests
        .slice(before)
        .map(({ url }) => (url === A ? 'A' : 'B'))
        .join('');
    };
    expect([await sendOne(), await sendOne(), await sendOne()]).toEqual(['AB', 'AB', 'AB']);
    expect([await sendOne(), await sendOne()]).toEqual(['B', 'B']);
    await harness.clock.advance(1_000);
    expect([await sendOne(), await sendOne()]).toEqual(['AB', 'B']);
    await harness.clock.advance(1_999);
    expect(await sendOne()).toBe('B');
    isDown = false;
    await harness.clock.advance(1);
    expect([await sendOne(), await sendOne()]).toEqual(['A', 'A']);
  });

  it('allows one trial at a time', async () => {
    const harness = startHarness(
      (request) =>
        request.url === A ? after(harness.clock, 5_000, request, failure('timeout')) : answer(200),
      { urls: [A, B], delivery: { health: { failures: 1 } } },
    );
    await harness.sendAndAdvance(5_000 + 1_000);
    const before = harness.requests.length;
    await Promise.all([harness.send(), harness.send(), harness.send()]);
    await harness.clock.advance(4_999);
    expect(harness.requests.slice(before).map(({ url }) => url)).toEqual([A, B, B]);
  });

  it('asks skipped webhooks in the same round if no other accepts the delivery', async () => {
    const harness = startHarness(
      ({ url }, turn) =>
        url === A ? answer(turn < failures ? 500 : 200) : answer(turn < failures ? 200 : 429),
      { urls: [A, B], delivery: { health: { failures } } },
    );
    for (let sent = 0; sent < failures; sent++) {
      await harness.sendAndAdvance(0);
    }
    await harness.sendAndAdvance(0);
    expect(harness.requests.slice(-2).map(({ url }) => url)).toEqual([B, A]);
    expect(harness.settled()).toHaveLength(failures + 1);
  });

  it('keeps the configured order in the last round', async () => {
    const harness = startHarness(({ url }) => (url === A ? answer(500) : answer(200)), {
      urls: [A, B],
      delivery: { health: { failures: 1 }, retryForMs: 0 },
    });
    await harness.sendAndAdvance(0);
    await harness.sendAndAdvance(0);
    expect(harness.requests.map(({ url }) => url)).toEqual([A, B, A, B]);
  });

  it('skips an unhealthy webhook in a broadcast unless the others fail', async () => {
    const harness = startHarness(
      ({ url }, turn) => (url === A ? answer(500) : answer(turn === 1 ? 429 : 200)),
      { urls: [A, B], delivery: { health: { failures: 1 }, strategy: 'broadcast' } },
    );
    const sendOne = async (): Promise<string[]> => {
      const before = harness.requests.length;
      await harness.sendAndAdvance(0);
      return harness.requests.slice(before).map(({ url }) => url);
    };
    expect(await sendOne()).toEqual([A, B]);
    expect(await sendOne()).toEqual([B, A]);
    // The success of B makes the second delivery, which waits for its retry, due.
    expect(await sendOne()).toEqual([B, B]);
  });

  it('is not affected by 4xx responses', async () => {
    const harness = startHarness(({ url }) => (url === A ? answer(429) : answer(200)), {
      urls: [A, B],
      delivery: { health: { failures: 1 } },
    });
    for (let sent = 0; sent < 3; sent++) await harness.send();
    await harness.clock.advance(0);
    expect(harness.requests.filter(({ url }) => url === A)).toHaveLength(3);
  });
});
