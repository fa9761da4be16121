import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { processorMs } from '../../../src/clock.ts';
import { diagnosisBudget } from '../../../src/signature/deadline.ts';
import { verify, Verifier } from '../../../src/app/explained.ts';
import type { VerifyOptions, VerifyResult } from '../../../src/signature/verify-options.ts';

const KB = 1024;
const MB = 1024 * KB;
const depth = (items: number): string => `${'['.repeat(500)}${'1,'.repeat(items)}1${']'.repeat(500)}`;
const fields = (count: number): string => Array.from({ length: count }, (_, n) => `a=${n}`).join('&');

/** Of a body, each takes longer to diagnose than the time allows: the first two did with the square of its length. */
const COSTLY: readonly (readonly [name: string, body: string | Buffer])[] = [
  ['depth', depth(15 * KB)],
  ['depth of a megabyte', depth(500 * KB)],
  ['a form of one value', 'a=1&'.repeat(8 * KB)],
  ['a form of many values', fields(4 * KB)],
  ['a form of a megabyte', fields(100 * KB)],
  ['line ends', '\n'.repeat(4 * MB)],
  ['numbers', `[${'1,'.repeat(2 * MB)}1]`],
  ['white space', `${' '.repeat(4 * MB)}{"a":1}`],
  ['one long string', JSON.stringify('é/"<'.repeat(500 * KB))],
  ['a body that unpacks to much', gzipSync(Buffer.alloc(7 * MB, '[1,2],'))],
];

interface Diagnosed {
  readonly code: string | undefined;
  readonly hint: string;
  readonly looks: number;
}

const verifyBy = (now: () => number, options: Parameters<typeof verify>[0]): VerifyResult =>
  verify(options, diagnosisBudget(now));

/** Every look at the clock takes a millisecond, and nothing else does. */
function diagnosedByLooks(body: string | Buffer): Diagnosed {
  let looks = 0;
  const options = { body, signature: '0'.repeat(40), secrets: ['k'], exact: true, diagnose: true };
  const verdict = verifyBy(() => looks++, options);
  const diagnosis = verdict.valid ? undefined : verdict.diagnosis;
  return { code: diagnosis?.code, hint: diagnosis?.hint ?? '', looks };
}

describe('the time for a diagnosis', () => {
  it.each([
    [0, 20],
    [32 * KB, 20],
    [64 * KB, 40],
    [320 * KB, 200],
    [100 * MB, 200],
  ])('for %i bytes is %i ms', (bytes, ms) => {
    expect(diagnosisBudget(() => 0)(bytes).budgetMs).toBe(ms);
  });

  it('ends by the given clock', () => {
    let now = 1_000;
    const deadline = diagnosisBudget(() => now)(0);
    now += 19.9;
    expect(deadline.isOver).toBe(false);
    now += 0.1;
    expect(deadline.isOver).toBe(true);
  });

  it('does not pass while other programs have the processor', () => {
    const deadline = diagnosisBudget()(0);
    // As when the machine is busy with others: the thread waits and uses no processor.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 40);
    expect(deadline.isOver).toBe(false);
    const until = performance.now() + 5_000;
    while (!deadline.isOver && performance.now() < until);
    expect(deadline.isOver).toBe(true);
  });

  it('is named by a diagnosis that ran out of it', () => {
    const { code, hint, looks } = diagnosedByLooks(`{"a":"é/","b":[${'1,'.repeat(100)}1]}`);
    expect(code).toBe('no-match');
    expect(hint).toMatch(
      /computed over 219 bytes; the search ended after 20 ms and \d+ combinations without a match; probably the two sides hold different secrets, or what they sign differs\. Compare the secrets/,
    );
    expect(looks).toBeLessThan(30);
  });

  it('does not lead to blaming another body when it runs out', () => {
    let looks = 0;
    const options = { body: '{"a":"é/"}', signature: '0'.repeat(64), secrets: ['k'], diagnose: true };
    expect(verifyBy(() => (looks += 10), options)).toMatchObject({
      diagnosis: {
        code: 'sha256',
        hint: expect.stringContaining(
          'it is written as HMAC-SHA256, and the search ended after 20 ms and 31 combinations without a match; possibly the two sides',
        ) as string,
      },
    });
  });

  it('includes parsing and stringifying the body once for the verdict', () => {
    let now = 0;
    const [parse, stringify] = [JSON.parse.bind(JSON), JSON.stringify.bind(JSON)];
    const spies = [
      vi.spyOn(JSON, 'parse').mockImplementation((...given) => {
        if (given[0].length > KB) now += 100;
        return parse(...given) as unknown;
      }),
      vi.spyOn(JSON, 'stringify').mockImplementation((...given: unknown[]) => {
        if (Array.isArray(given[0])) now += 90;
        return Reflect.apply(stringify, JSON, given) as string;
      }),
    ];
    onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
    const body = `[ ${'{"a":1},'.repeat(100_000)}{}]`;
    const options = { body, signature: '0'.repeat(40), secrets: ['k'], diagnose: true };
    const verdict = verifyBy(() => now++, options);
    expect(verdict.valid).toBe(false);
    expect(now).toBeLessThan(210);
  });

  it.each([
    ['verify', (body: Buffer, options: VerifyOptions) => verify({ body, ...options })],
    ['Verifier', (body: Buffer, options: VerifyOptions) => new Verifier(options).update(body).finish()],
  ])('is not spent by %s on parsing a body of 4 MB', (_name, run) => {
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const bodies = [`[${'1,'.repeat(2 * MB)}1]`, `[${'{},'.repeat(MB)}{}]`, `{"a":"${'x'.repeat(4 * MB)}"}`];
    for (const body of bodies) {
      const options = { signature: '0'.repeat(40), secrets: ['k'], diagnose: true };
      const verdict = run(Buffer.from(body), options);
      expect(verdict).toMatchObject({ valid: false, diagnosis: { code: 'no-match' } });
      expect(verdict).not.toMatchObject({
        diagnosis: { hint: expect.stringContaining('is not JSON') as string },
      });
    }
    expect(parse.mock.calls.filter(([text]) => bodies.includes(text))).toEqual([]);
  });

  it('covers parsing the list of segment-batch once', () => {
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const options = { signature: '0'.repeat(40), secrets: ['k'], scheme: 'segment-batch', diagnose: true };
    const verifier = new Verifier(options).update(Buffer.from(`[${'{"a":1},'.repeat(200_000)}{}]`));
    expect(verifier.finish().valid).toBe(false);
    expect(verifier.expected).toHaveLength(40);
    expect(parse.mock.calls.filter(([text]) => text.startsWith('[{"a":1},'))).toHaveLength(1);
  });

  it.each(COSTLY)('is checked while trying %s', (_name, body) => {
    const { looks } = diagnosedByLooks(body);
    expect(looks).toBeLessThan(210);
  });

  it.each(COSTLY)('is enough for %s, with much to spare on a busy machine', (_name, body) => {
    const before = processorMs();
    verify({ body, signature: '0'.repeat(40), secrets: ['k'], diagnose: true });
    expect(processorMs() - before).toBeLessThan(5_000);
  });
});
