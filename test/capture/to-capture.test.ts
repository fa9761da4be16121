import { describe, expect, it } from 'vitest';
import { captureBody } from '../../src/capture/capture.ts';
import { toCapture } from '../../src/capture/to-capture.ts';
import { verify } from '../../src/app/explained.ts';
import { sign } from '../sign.ts';

const BODY = Buffer.from('{"at":"/h?access_token=body"}');

function headersOf(...headers: [string, string][]): readonly (readonly [string, string])[] {
  return toCapture({ method: 'POST', url: '/', headers, body: BODY }).headers;
}

describe('toCapture', () => {
  it.each([
    'X-Forwarded-Uri',
    'X-Original-URL',
    'x-original-uri',
    'X-Rewrite-Url',
    'X-Forwarded-Path',
    'Referer',
    'Location',
    'Content-Location',
  ])('masks secrets in the URL of %s', (name) => {
    expect(
      headersOf(
        [name, '/h?access_token=CANARY&a=1'],
        [name, 'https://a.example/h?a=1&key=CANARY'],
        [name, 'http://u:CANARY@h/'],
        [name, '//u:CANARY@h/'],
        [name, '/h?to=http://u:CANARY@h/'],
        [name, '/plain/path?a=1'],
      ),
    ).toEqual([
      [name, '/h?access_token=***&a=1'],
      [name, 'https://a.example/h?a=1&key=***'],
      [name, 'http://***@h/'],
      [name, '//***@h/'],
      [name, '/h?to=http://***@h/'],
      [name, '/plain/path?a=1'],
    ]);
  });

  it('masks the whole value of a secret header, and keeps other headers', () => {
    expect(
      headersOf(['X-Token', '/h'], ['From', 'a@b.example'], ['User-Agent', 'b (http://c@d/?key=1)']),
    ).toEqual([
      ['X-Token', '***'],
      ['From', 'a@b.example'],
      ['User-Agent', 'b (http://c@d/?key=1)'],
    ]);
  });

  it('keeps the body and the signature, which still verify', () => {
    const signature = sign(BODY, 's3cret');
    const headers = [['X-Signature', signature] as const, ['Referer', '/h?key=CANARY'] as const];
    const capture = toCapture({ method: 'POST', url: '/', headers, body: BODY });
    const [[, kept] = ['', '']] = capture.headers;
    expect(
      verify({ body: captureBody(capture), signature: kept, secrets: ['s3cret'], exact: true }).valid,
    ).toBe(true);
  });
});
