import { describe, expect, it } from 'vitest';
import { parseScript, playScript } from '../../../src/receiver/response/script.ts';

const status = (code: number, headers: string[] = [], delayMs = 0) => ({
  kind: 'status',
  status: code,
  headers,
  delayMs,
});

describe('parseScript', () => {
  it('reads the script of the help page', () => {
    expect(parseScript('503x2,timeout,reset,429@retry-after=3,200')).toEqual([
      { response: status(503), times: 2 },
      { response: { kind: 'timeout' }, times: 1 },
      { response: { kind: 'reset', delayMs: 0 }, times: 1 },
      { response: status(429, ['retry-after', '3']), times: 1 },
      { response: status(200), times: 1 },
    ]);
  });

  it.each([
    ['delay=5100ms', status(200, [], 5_100)],
    ['delay=1sx3', status(200, [], 1_000)],
    ['500@delay=2s', status(500, [], 2_000)],
    ['200@x-a=1@X-B=2', status(200, ['x-a', '1', 'X-B', '2'])],
    ['302@location=http://a/?b=c', status(302, ['location', 'http://a/?b=c'])],
    [' 503x2@retry-after=1 ', status(503, ['retry-after', '1'])],
    ['200@x-empty=', status(200, ['x-empty', ''])],
    ['slow-body@x-a=1', { kind: 'slow-body', status: 200, headers: ['x-a', '1'], delayMs: 0 }],
    ['reset@delay=1s', { kind: 'reset', delayMs: 1_000 }],
  ])('reads %s', (text, answer) => {
    expect(parseScript(text)[0]?.response).toEqual(answer);
  });

  it('keeps commas and at-signs of a quoted value', () => {
    expect(parseScript('429@retry-after="Wed, 21 Oct 2026 07:28:00 GMT"@x="a@b",200')).toEqual([
      { response: status(429, ['retry-after', 'Wed, 21 Oct 2026 07:28:00 GMT', 'x', 'a@b']), times: 1 },
      { response: status(200), times: 1 },
    ]);
  });

  it.each([
    ['', 'Expected a step, got nothing', 1, 1],
    ['200,', 'Expected a step, got nothing', 2, 5],
    ['503x2, timeot', 'Expected a status, delay=…, slow-body, reset or timeout, got `timeot`', 2, 8],
    ['199', 'Expected a status from 200 to 599, got `199`', 1, 1],
    ['503x0', 'Expected a count from x1 to x1000000, got `503x0`', 1, 1],
    ['delay=5', 'Expected a delay such as 300ms or 5s, at most 1h, got `delay=5`', 1, 1],
    ['200@delay=2h', 'Expected a delay such as 300ms or 5s, at most 1h, got `delay=2h`', 1, 5],
    ['200@retry-after', 'Expected @header=value or @delay=300ms, got `retry-after`', 1, 5],
    ['200@x="a,500', 'Expected a closing quote, got `x="a,500`', 1, 5],
    ['200@a b=c', 'Expected the name of a header, got `a b=c`', 1, 5],
    ['200@x=a\r\nb', 'Expected a header value without control characters, got `x=a\\r\\nb`', 1, 5],
    [
      '200@Content-Length=3',
      'Expected no Content-Length header, which the receiver sets itself, got `Content-Length=3`',
      1,
      5,
    ],
    ['200@Trailer=X', 'Expected no Trailer header, which the receiver sets itself, got `Trailer=X`', 1, 5],
    ['timeout@delay=1s', 'Expected nothing after timeout: no response, got `delay=1s`', 1, 9],
    ['reset@x=1', 'Expected no header after reset, which sends none, got `reset`', 1, 1],
  ])('rejects %j with the position of the problem', (text, message, step, character) => {
    const place = `(--respond, step ${step}, character ${character})`;
    expect(() => parseScript(text)).toThrow(`${message} ${place}`);
  });

  it('explains the syntax in the hint', () => {
    const hint = expect.stringContaining('503x2,429@retry-after=3') as string;
    const error = { code: 'ERR_HOOKS_CONFIG', key: 'respond', hint };
    expect(() => parseScript('nope')).toThrow(expect.objectContaining(error));
  });
});

describe('playScript', () => {
  it('returns each response as often as its step says and the last one forever', () => {
    const next = playScript(parseScript('503x2,500,200x2'));
    const statuses = Array.from({ length: 7 }, () => next()).map(
      (answer) => 'status' in answer && answer.status,
    );
    expect(statuses).toEqual([503, 503, 500, 200, 200, 200, 200]);
  });

  it('responds with 200 without a script', () => {
    expect(playScript([])()).toEqual(status(200));
  });
});
