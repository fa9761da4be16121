import { describe, expect, it } from 'vitest';
import { appliesTo, filledTemplate } from '../../../src/diagnosis/causes/cause-rule.ts';
import { CAUSE_RULES } from '../../../src/diagnosis/causes/cause-rules.ts';
import { responseWords } from '../../../src/diagnosis/causes/response-words.ts';
import { causeCodeOf, causeOf, responseCauseOf } from '../../../src/diagnosis/explain.ts';
import type { CauseFacts } from '../../../src/transport/cause.ts';
import { EVIDENCE_HEADERS } from '../../../src/transport/connection/exchange.ts';

const FACTS: CauseFacts = { status: 502, url: 'https://a.example:8443/hook?x=1', server: 'nginx/1.25' };

/** The page of an Apache with ServerSignature Off. */
const APACHE_403 = `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">
<html><head>
<title>403 Forbidden</title>
</head><body>
<h1>Forbidden</h1>
<p>You don't have permission to access this resource.</p>
</body></html>`;

function codeOf(status: number, body = '', headers: Readonly<Record<string, string>> = {}): string {
  return causeCodeOf({ status, headers, body, isSigned: true });
}

describe('the rules', () => {
  it('have unique codes', () => {
    const codes = CAUSE_RULES.map(({ code }) => code);
    expect(codes.filter((code, at) => codes.indexOf(code) !== at)).toEqual([]);
  });

  it('use only headers that are kept as evidence', () => {
    const patterns = CAUSE_RULES.flatMap(({ headers }) => headers?.source ?? []);
    const names = patterns.flatMap(
      (text) => /^\^(?:\(\?:)?([\w|-]+)\)?: /.exec(text)?.[1]?.split('|') ?? text,
    );
    expect(names.filter((name) => ![...EVIDENCE_HEADERS, ':forwarded'].includes(name))).toEqual([]);
  });

  it('have a sentence and a fix without full stops, and name only known facts', () => {
    const wrong = CAUSE_RULES.filter(({ says, fix }) => {
      const texts = [says ?? 'it fails', fix].map((text) => filledTemplate(text, FACTS));
      return texts.some((text) => /\.$|\{[a-z]+\}/.test(text)) || /^[A-Z]/.test(fix);
    });
    expect(wrong.map(({ code }) => code)).toEqual([]);
  });

  it('match a hostile body quickly', () => {
    const bodies = [' ', '<', 'a ', 'missing ', 'Host ', 'no signature', 'signature\n', 'ECONNREFUSED'].map(
      (piece) => piece.repeat(16_384).slice(0, 16_384),
    );
    const before = process.cpuUsage();
    for (const body of bodies) {
      for (const rule of CAUSE_RULES) appliesTo({ ...rule, status: [400] }, evidence(body));
    }
    expect(process.cpuUsage(before).user / 1_000 / bodies.length).toBeLessThan(50);
  });
});

function evidence(body: string) {
  return { status: 400, headers: {}, body, isSigned: true, words: responseWords(body) };
}

describe('a response', () => {
  it.each([
    [403, '<p>CSRF verification failed. Request aborted.</p>', {}, 'csrf'],
    [419, 'Page Expired', {}, 'csrf'],
    [422, 'ActionController::InvalidAuthenticityToken', {}, 'csrf'],
    [401, '', { 'www-authenticate': 'Basic realm="x"' }, 'authentication'],
    [302, '', { location: 'https://a.example/login?next=/hook' }, 'login-redirect'],
    [301, '', { location: 'https://a.example/hook/' }, 'redirect'],
    // The page of nginx, which would otherwise count as a rejection by it.
    [
      301,
      '<html><head><title>301 Moved Permanently</title></head><body><center><h1>301 Moved Permanently</h1></center><hr><center>nginx</center></body></html>',
      { location: 'https://a.example/hook', server: 'nginx' },
      'redirect',
    ],
    [502, '<center>nginx</center>', { server: 'nginx' }, 'proxy-nginx'],
    [502, '', { server: 'nginx' }, 'bad-gateway'],
    [429, 'slow down', {}, 'rate-limit'],
    [429, 'error code: 1015', { server: 'cloudflare' }, 'firewall-cloudflare'],
    [404, 'x', { 'ngrok-error-code': 'ERR_NGROK_3200' }, 'tunnel-ngrok'],
    [400, "Invalid HTTP_HOST header: 'a'", {}, 'hosts'],
    [401, '{"error":"missing signature"}', {}, 'signature-missing-there'],
    [401, '{"error":"missing or invalid signature"}', {}, 'signature-invalid-there'],
    [401, 'No matching signature found', {}, 'signature-invalid-there'],
    [400, 'no valid signature for this payload', {}, 'signature-invalid-there'],
    [400, 'No signatures found matching the expected signature', {}, 'signature-invalid-there'],
    [401, 'bad sig', {}, 'signature-invalid-there'],
    [403, '{"error":"sig mismatch"}', {}, 'signature-invalid-there'],
    [400, 'invalid sig', {}, 'signature-invalid-there'],
    [401, 'ERR_BAD_SIG', {}, 'signature-invalid-there'],
    [401, 'bad design', {}, 'own-words'],
    [401, 'no signature found', {}, 'signature-missing-there'],
    [403, APACHE_403, { server: 'Apache' }, 'proxy-apache'],
    [422, '{"detail":[{"loc":["body","user"],"msg":"Field required"}]}', {}, 'validation'],
    [403, 'wrong workspace', {}, 'own-words'],
    [403, 'unknown API key', {}, 'wants-token'],
    [404, '{"error":"no such workspace"}', {}, 'not-found-words'],
    [404, '404 page not found', {}, 'not-found'],
    [503, '', { 'retry-after': '120' }, 'unavailable'],
    [500, 'no plan for this user', {}, 'failure-words'],
    [500, 'PlanError: no plan for this user', {}, 'exception'],
    [500, 'oops', {}, 'status'],
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
    expect(causeOf('bad-gateway', FACTS)).toMatchObject({
      confidence: 'likely',
      says: 'probably a proxy (nginx/1.25) responded in place of the application, which it did not reach, or which closed the connection',
    });
    expect(causeOf('rate-limit', { ...FACTS, status: 429, retryAfter: '2' }).says).toBe(
      'it limits the rate (429, Retry-After 2 s)',
    );
    expect(causeOf('unavailable', { ...FACTS, status: 503, retryAfter: '120' }).says).toBe(
      'the receiver, or a proxy in front of it, is not available now, Retry-After 120 s',
    );
  });

  it('is explained by its status and quotation if another version stored its code', () => {
    expect(causeOf('of a later version', { ...FACTS, status: 404 }).code).toBe('not-found');
    expect(causeOf('gateway-down', FACTS).code).toBe('bad-gateway');
    const quotation = 'CSRF verification failed. Request aborted.';
    expect(causeOf('csrf-django', { ...FACTS, status: 403, quotation }).code).toBe('csrf');
  });

  it('is quoted if no rule knows more', () => {
    const facts = { status: 403, url: FACTS.url };
    const seen = { status: 403, headers: {}, body: '{"error":"wrong workspace"}', isSigned: true };
    expect(responseCauseOf(seen, facts)).toMatchObject({
      confidence: 'proved',
      says: 'the response says: "wrong workspace"',
      isQuotation: true,
    });
  });

  it.each([
    '{"errors":[]}',
    '{"failed":0}',
    '0 failed',
    'error: none',
    '{"error":null}',
    '{"status":"ok","error":""}',
  ])('with status 200 and the body %j has no cause', (body) => {
    const seen = { status: 200, headers: {}, body, isSigned: true };
    expect(responseCauseOf(seen, { status: 200, url: FACTS.url })).toBeUndefined();
  });
});

it.each([
  ['Cannot POST /', '/'],
  ['No route matches [POST] "/hook/x"', '/hook/x'],
  ['{"message":"Route POST:/v1/hook not found"}', '/v1/hook'],
])('finds in %j that a proxy changed the path', (body, path) => {
  const { quotation } = responseWords(body);
  const { says, kind } = causeOf('not-found-words', { ...FACTS, status: 404, quotation });
  expect({ says, kind }).toEqual({
    says: `the response names ${path}, not /hook: probably a proxy changes the path`,
    kind: 'way',
  });
});

it.each(['Cannot POST /hook', 'POST is not known'])('takes %j for no other path', (quotation) => {
  const { says } = causeOf('not-found-words', { ...FACTS, status: 404, quotation });
  expect(says).toBe(`the response says: "${quotation}"`);
});
