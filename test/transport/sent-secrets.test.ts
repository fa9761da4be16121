import { describe, expect, it } from 'vitest';
import { receiver } from '../hostile-receivers.ts';
import { withoutSent } from '../../src/transport/sent-secrets.ts';
import { newTransport, requestTo, started } from './sending.ts';

const BASIC = Buffer.from('me:hidden:pass').toString('base64');

describe('withoutSent', () => {
  it.each([
    [['Authorization', `Basic ${BASIC}`], `Basic ${BASIC} is unknown`, 'Basic *** is unknown'],
    [['authorization', `Basic ${BASIC}`], 'no user me:hidden:pass', 'no user ***'],
    [['Authorization', `Basic ${BASIC}`], 'wrong password: hidden:pass', 'wrong password: ***'],
    // A tracking API has the write key as user name, and no password.
    [['Authorization', `Basic ${btoa('write-key:')}`], 'unknown key write-key', 'unknown key ***'],
    [['Authorization', 'Bearer hidden'], '{"token":"hidden"}', '{"token":"***"}'],
    [['Authorization', 'hidden'], 'hidden, hidden', '***, ***'],
    [['X-Api-Key', ' hidden ', 'X-Env', 'staging'], 'hidden in staging', '*** in staging'],
    [['X-Token', 'hidden', 'X-Secret', 'hidden-too'], 'hidden-too hidden', '*** ***'],
    [['X-Token', 'on'], 'only on Mondays', 'only on Mondays'],
  ])('removes %j from %j', (headers, reply, shown) => {
    expect(withoutSent(reply, { url: 'http://a.test/', headers })).toBe(shown);
  });

  it.each([
    ['JSON in JSON', (token: string) => JSON.stringify(JSON.stringify({ token }))],
    ['base64 of JSON', (token: string) => btoa(JSON.stringify({ token }))],
    [
      'base64 of JSON of PHP',
      (token: string) => btoa(JSON.stringify({ token }).replaceAll('/', String.raw`\/`)),
    ],
    ['a form', (token: string) => new URLSearchParams({ token }).toString()],
    ['a form in lower case', (token: string) => new URLSearchParams({ token }).toString().toLowerCase()],
    ['a query of Python', (token: string) => `token=${encodeURIComponent(token).replaceAll('%2F', '/')}`],
  ])('removes a secret from %s', (_name, spell) => {
    const secret = `a"b\\c/d e!f'(g)*~+=`;
    const sent = { url: 'http://a.test/', headers: ['X-Key', secret] };
    const spelled = spell(secret);
    const [start, end] = [spell(''), spelled.slice(-2)];
    const shown = withoutSent(`got ${spelled}; ok`, sent);
    expect(shown).toContain('***');
    expect(shown.replace('***', '').length).toBeLessThan(`got ${start}; ok`.length + end.length + 4);
  });

  it.each(['', 'x', 'xy'])('removes credentials from a base64 dump of the headers after %j', (before) => {
    const headers = ['Authorization', `Basic ${BASIC}`, 'X-Api-Key', 'hidden-key'];
    const dump = btoa(
      `${before}POST / HTTP/1.1\r\nAuthorization: Basic ${BASIC}\r\nX-Api-Key: hidden-key\r\n`,
    );
    const shown = Buffer.from(
      withoutSent(dump, { url: 'http://a.test/', headers }).replaceAll('*', ''),
      'base64',
    );
    expect(shown.toString('latin1')).toContain('POST / HTTP/1.1');
    expect(shown.toString('latin1')).not.toMatch(/hidden|key|bWU6/);
  });

  it.each([
    [
      'http://a.test/hook?token=hidden&a=seen',
      'Cannot POST /hook?token=hidden&a=seen',
      'Cannot POST /hook?token=***&a=seen',
    ],
    ['http://a.test/?sig=hid%2Fden', 'no hid%2Fden, no hid/den', 'no ***, no ***'],
  ])('removes the secrets in the query of %s from %j', (url, reply, shown) => {
    expect(withoutSent(reply, { url, headers: [] })).toBe(shown);
  });
});

describe('a receiver that repeats the request that it rejects', () => {
  it('reveals no secret', async () => {
    const echo = await started(
      receiver((socket, { head }) => {
        const body = head.join('\n');
        socket.write(`HTTP/1.1 500 No\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      }),
    );
    const request = requestTo(`${echo.url}?token=hidden1`, {
      headers: ['Authorization', 'Bearer hidden2', 'X-Api-Key', 'hidden3', 'X-Env', 'staging'],
    });
    for (const responseBytes of [undefined, 10_000]) {
      const result = await newTransport().send({ ...request, ...(responseBytes && { responseBytes }) });
      expect(result).toHaveProperty('body', expect.stringContaining('X-Env: staging'));
      expect(JSON.stringify(result)).not.toContain('hidden');
    }
    expect(echo.requests[0]?.head.join()).toMatch(/hidden1.*hidden2.*hidden3/);
  });
});
