import { describe, expect, it } from 'vitest';
import { appliesTo, filledTemplate } from '../../../src/diagnosis/causes/cause-rule.ts';
import { CAUSE_RULES } from '../../../src/diagnosis/causes/cause-rules.ts';
import { causeCodeOf, causeOf } from '../../../src/diagnosis/explain.ts';
import type { CauseFacts } from '../../../src/transport/cause.ts';
import { EVIDENCE_HEADERS } from '../../../src/transport/connection/exchange.ts';

const FACTS: CauseFacts = { status: 502, url: 'https://a.example:8443/hook?x=1', server: 'nginx/1.25' };

function codeOf(status: number, body = '', headers: Readonly<Record<string, string>> = {}): string {
  return causeCodeOf({ status, headers, body, isSigned: true });
}

describe('the rules', () => {
  it('have unique codes', () => {
    const codes = CAUSE_RULES.map(({ code }) => code);
    expect(codes.filter((code, at) => codes.indexOf(code) !== at)).toEqual([]);
  });

  it('use only headers that are kept as evidence', () => {
    const names = CAUSE_RULES.flatMap(({ headers = {} }) => Object.keys(headers));
    expect(names.filter((name) => !EVIDENCE_HEADERS.includes(name))).toEqual([]);
  });

  it('have a sentence and a fix without full stops, and name only known facts', () => {
    const wrong = CAUSE_RULES.filter(({ says, fix }) => {
      const texts = [says, fix].map((text) => filledTemplate(text, FACTS));
      return texts.some((text) => /\.$|\{[a-z]+\}/.test(text)) || /^[A-Z]/.test(fix);
    });
    expect(wrong.map(({ code }) => code)).toEqual([]);
  });

  it('match a hostile body quickly', () => {
    const bodies = [' ', '<', 'a ', 'missing ', 'Host ', 'no signature', 'signature\n', 'ECONNREFUSED'].map(
      (piece) => piece.repeat(4_000).slice(0, 4_000),
    );
    const before = process.cpuUsage();
    for (const body of bodies) {
      for (const rule of CAUSE_RULES) appliesTo({ ...rule, status: [400] }, evidence(body));
    }
    expect(process.cpuUsage(before).user / 1_000 / bodies.length).toBeLessThan(50);
  });
});

function evidence(body: string) {
  return { status: 400, headers: {}, body, isSigned: true };
}

describe('a response', () => {
  it.each([
    [403, '<p>CSRF verification failed. Request aborted.</p>', {}, 'csrf-django'],
    [419, 'Page Expired', {}, 'csrf-laravel'],
    [422, 'ActionController::InvalidAuthenticityToken', {}, 'csrf-rails'],
    [401, '', { 'www-authenticate': 'Basic realm="x"' }, 'authentication'],
    [401, '', { 'www-authenticate': 'Bearer' }, 'authentication-token'],
    [302, '', { location: 'https://a.example/login?next=/hook' }, 'login-redirect'],
    [301, '', { location: 'https://a.example/hook/' }, 'redirect'],
    [502, '<center>nginx</center>', { server: 'nginx' }, 'gateway-down'],
    [502, '', {}, 'bad-gateway'],
    [429, 'slow down', {}, 'rate-limit'],
    [404, 'x', { 'ngrok-error-code': 'ERR_NGROK_3200' }, 'tunnel-ngrok-header'],
    [400, "Invalid HTTP_HOST header: 'a'", {}, 'hosts-django'],
    [401, '{"error":"missing signature"}', {}, 'signature-missing-there'],
    [401, '{"error":"missing or invalid signature"}', {}, 'signature-invalid-there'],
    [422, '{"detail":[{"loc":["body","user"],"msg":"Field required"}]}', {}, 'validation'],
    [418, '', {}, 'status'],
    [599, '', {}, 'status'],
  ] as const)('with status %i, body %j and headers %j has the cause %s', (status, body, headers, code) => {
    expect(codeOf(status, body, headers)).toBe(code);
  });

  it('has a cause and a fix whatever its status', () => {
    for (let status = 300; status < 600; status++) {
      const cause = causeOf(codeOf(status), { ...FACTS, status });
      expect(cause?.says.length, String(status)).toBeGreaterThan(10);
      expect(cause?.fix.length, String(status)).toBeGreaterThan(10);
    }
  });

  it('is explained with its own facts', () => {
    expect(causeOf('gateway-down', FACTS)?.says).toBe(
      '502: the proxy (nginx/1.25) responds, not the receiver: the application behind it is not running, or closed the connection',
    );
    expect(causeOf('rate-limit', { ...FACTS, status: 429, retryAfter: '2' })?.says).toBe(
      'it limits the rate (429, Retry-After 2 s)',
    );
    expect(causeOf('hosts-django', FACTS)?.fix).toContain("'…'");
    expect(causeOf('of a later version', FACTS)).toBeUndefined();
  });
});
