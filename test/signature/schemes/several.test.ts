import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import { Deadline } from '../../../src/signature/deadline.ts';
import { BUILT_IN_SCHEMES } from '../../../src/signature/schemes/built-in.ts';
import { signRequest } from '../../../src/signature/schemes/signer.ts';
import type { SignatureScheme } from '../../../src/signature/schemes/scheme.ts';
import { sign } from '../../../src/signature/sign.ts';
import { signatureHeadersText } from '../../../src/signature/signature-headers.ts';
import { verify } from '../../../src/app/explained.ts';
import { doesNotThrow } from './vendors.ts';

const WHSEC = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const SECRETS = ['old', WHSEC];
const BODY = '{"type":"track","userId":"u","event":"A"}';
const BOTH = 'segment,standard-webhooks';

const signed = (scheme: string) => signRequest({ body: BODY, secrets: SECRETS, scheme, id: 'msg_1' });

describe('several schemes', () => {
  it('add the headers of each scheme, signed with its own secret', () => {
    const headers = signed(BOTH);
    expect(Object.keys(headers)).toEqual([
      'X-Signature',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ]);
    expect(headers['X-Signature']).toBe(sign(BODY, 'old'));
    const verdict = verify({ body: BODY, headers, secrets: SECRETS, scheme: BOTH });
    expect(verdict).toEqual({ valid: true, secret: 1, over: 'bytes', scheme: BOTH });
  });

  it('sign by segment with the first secret if all secrets are for another scheme', () => {
    const headers = signRequest({ body: BODY, secrets: [WHSEC], scheme: BOTH });
    expect(headers['X-Signature']).toBe(sign(BODY, WHSEC));
  });

  it('accept a Standard Webhooks secret without its prefix if no scheme has text secrets', () => {
    const bare = WHSEC.slice('whsec_'.length);
    const accepted = { body: BODY, secrets: ['plain', bare], scheme: 'standard-webhooks' };
    const headers = signRequest(accepted);
    expect(doesNotThrow(() => new Webhook(bare).verify(BODY, { ...headers }))).toBe(true);
    expect(verify({ ...accepted, headers })).toMatchObject({ valid: true, secret: 2 });
    expect(verify({ ...accepted, headers, secrets: [WHSEC] }).valid).toBe(true);
    // A secret with the prefix takes precedence over secrets that could be text.
    const own = signRequest({ ...accepted, secrets: [bare, `whsec_${bare.replace('M', 'N')}`] });
    expect(verify({ ...accepted, headers: own }).valid).toBe(false);
  });

  it('use only secrets with the prefix beside segment', () => {
    const bare = WHSEC.slice('whsec_'.length);
    expect(() => signRequest({ body: BODY, secrets: [bare], scheme: BOTH })).toThrow('begins with whsec_');
    const headers = { ...signRequest({ body: BODY, secrets: [bare], scheme: 'standard-webhooks' }) };
    expect(verify({ body: BODY, headers, secrets: [bare], scheme: BOTH }).valid).toBe(false);
    expect(sign(BODY, bare)).toBe(signRequest({ body: BODY, secrets: [bare] })['X-Signature']);
  });

  it.each([
    ['fewer bytes than 24', Buffer.alloc(23, 'k').toString('base64')],
    ['more bytes than 64', Buffer.alloc(65, 'k').toString('base64')],
    ['no padding', Buffer.alloc(32, 'k').toString('base64').slice(0, -1)],
    ['the alphabet of URLs', Buffer.alloc(24, 0xff).toString('base64url')],
    ['white space', `${Buffer.alloc(24, 'k').toString('base64')} `],
  ])('reject a secret without the prefix that has %s', (_what, secret) => {
    const scheme = 'standard-webhooks';
    expect(() => signRequest({ body: BODY, secrets: [secret], scheme })).toThrow('begins with whsec_');
  });

  it('require at least one signature, and that all signatures match', () => {
    const { 'X-Signature': weaker = '', ...stronger } = signed(BOTH);
    const accepted = { body: BODY, secrets: SECRETS, scheme: BOTH };
    expect(verify({ ...accepted, headers: stronger }).valid).toBe(true);
    expect(verify({ ...accepted, headers: { 'X-Signature': weaker } }).valid).toBe(true);
    expect(verify({ ...accepted, headers: {} }).valid).toBe(false);
    const forged = { ...stronger, 'webhook-signature': 'v1,AAAA' };
    expect(verify({ ...accepted, headers: { ...forged, 'X-Signature': weaker } }).valid).toBe(false);
    expect(verify({ ...accepted, headers: { ...stronger, 'X-Signature': '0'.repeat(40) } }).valid).toBe(
      false,
    );
  });

  it('reject a downgrade in which the stronger header was removed', () => {
    const { 'X-Signature': weaker = '' } = signed(BOTH);
    const headers = { 'X-Signature': weaker };
    expect(verify({ body: BODY, secrets: SECRETS, headers, scheme: 'standard-webhooks' }).valid).toBe(false);
  });

  it('are not detected from headers: without a name, only the default counts', () => {
    for (const scheme of ['github', 'shopify', 'slack', 'stripe', 'standard-webhooks']) {
      expect(verify({ body: BODY, secrets: SECRETS, headers: signed(scheme) }).valid, scheme).toBe(false);
    }
    expect(verify({ body: BODY, secrets: SECRETS, headers: signed('segment') })).toEqual({
      valid: true,
      secret: 1,
      over: 'bytes',
    });
  });

  it('accept any signature of a list, and reject two headers with one name', () => {
    const headers = signed('standard-webhooks');
    const right = headers['webhook-signature'] ?? '';
    const accepted = { body: BODY, secrets: SECRETS, scheme: 'standard-webhooks' };
    const among = { ...headers, 'webhook-signature': `v1a,b3RoZXI= v1,b3RoZXI= ${right}` };
    expect(verify({ ...accepted, headers: among }).valid).toBe(true);
    const twice = [...Object.entries(headers), ['webhook-signature', right] as const].flat();
    expect(verify({ ...accepted, headers: twice }).valid).toBe(false);
    const stripe = signed('stripe')['Stripe-Signature'] ?? '';
    const [time, one] = stripe.split(',');
    const rotated = { 'stripe-signature': `${time},v1=00,${one},v0=11` };
    expect(verify({ body: BODY, secrets: SECRETS, headers: rotated, scheme: 'stripe' }).valid).toBe(true);
    const twoTimes = { 'stripe-signature': `${time},t=1,${one}` };
    expect(verify({ body: BODY, secrets: SECRETS, headers: twoTimes, scheme: 'stripe' }).valid).toBe(false);
  });
});

describe('segment-batch', () => {
  const list = '[{"event":"A"},{"event":"B"}]';
  const headers = { 'X-Signature': sign('{"event":"A"}', 'old') };

  it('is accepted only if it is named, and reports what is not protected', () => {
    expect(verify({ body: list, headers, secrets: ['old'] }).valid).toBe(false);
    expect(verify({ body: list, headers, secrets: ['old'], scheme: 'segment-batch' })).toEqual({
      valid: true,
      secret: 1,
      over: 'stringified',
      scheme: 'segment-batch',
      partial: 'covers the first of 2 events only',
    });
  });

  it('is suggested by the diagnosis of a signature over the first event', () => {
    const options = { body: list, headers, secrets: ['old'], diagnose: true };
    const verdict = verify(options, () => new Deadline(Infinity));
    expect(verdict).toMatchObject({ valid: false, diagnosis: { code: 'first-of-array' } });
    expect(JSON.stringify(verdict)).toContain('--scheme segment-batch');
  });
});

describe('a scheme that is chosen', () => {
  const own: SignatureScheme = {
    name: 'acme',
    headers: { 'X-Acme': 'sha512={signature}', 'X-Acme-Time': '{timestamp}' },
    signs: '{timestamp}\n{body}\n',
    hash: 'sha512',
    encoding: 'base64',
    tolerance: 10,
  };

  it('can be a custom scheme', () => {
    const headers = signRequest({ body: BODY, secrets: ['s'], scheme: [own, 'github'] });
    const accepted = { body: BODY, headers, secrets: ['s'], scheme: [own, 'github'] };
    expect(verify(accepted)).toMatchObject({ valid: true, scheme: 'acme,github' });
    expect(verify({ ...accepted, at: Date.now() + 12_000 }).valid).toBe(false);
    expect(verify({ ...accepted, at: Date.now() + 12_000, ignoreTimestamp: true }).valid).toBe(true);
  });

  it.each([
    ['an unknown name', 'gihub', 'Unknown signature scheme `gihub`'],
    ['no name', '', 'Expected the name of a signature scheme, got an empty one'],
    ['an empty name among others', 'github,,slack', 'got an empty one'],
    ['no separator before the body', { ...own, signs: '{timestamp}{body}' }, '{timestamp}.{body}'],
    ['a digit as the separator', { ...own, signs: '{timestamp}0{body}' }, 'got {timestamp}0{body}'],
    ['no separator after the id', { ...own, signs: '{body}.{id}{timestamp}' }, 'got {id}{timestamp}'],
    ['an unknown placeholder', { ...own, signs: '{nonce}{body}' }, 'got {nonce}'],
    ['no body', { ...own, signs: '{timestamp}' }, 'which would sign nothing of the request'],
    ['a tolerance below 0', { ...own, tolerance: -1 }, 'got -1'],
    ['a time that is not signed', { ...own, signs: '{body}' }, 'has no {timestamp}'],
    ['an id that is not sent', { ...own, signs: '{id}.{timestamp}.{body}' }, 'to have {id}'],
    ['an unknown key', { ...own, salt: 'x' }, 'salt'],
    ['another hash', { ...own, hash: 'md5' }, 'sha1 or sha256'],
    ['the name of a built-in scheme', { ...own, name: 'stripe' }, 'built-in'],
    ['a reserved header', { ...own, headers: { ...own.headers, Host: '{timestamp}' } }, 'Host'],
    ['two schemes with one header', 'segment,segment-batch', 'both use the header X-Signature'],
    ['a secret that it cannot use', 'standard-webhooks', 'whsec_%s\\n\' "$(openssl rand -base64 32)'],
  ])('is rejected for %s', (_, scheme, sentence) => {
    let text = '';
    try {
      signRequest({ body: BODY, secrets: ['s'], scheme: scheme as SignatureScheme }); // some are invalid
    } catch (error) {
      text = error instanceof Error ? `${error.message} ${'hint' in error ? String(error.hint) : ''}` : '';
    }
    expect(text).toContain(sentence);
  });
});

describe('signRequest', () => {
  it.each([
    [{ at: NaN }, 'Expected `at` to be a time in ms, got NaN'],
    [{ at: -1 }, 'got -1'],
    [{ at: '1700000000000' }, 'Expected `at` to be a time in ms, got "1700000000000"'],
    [{ id: '' }, 'Expected `id` to be a message id, got an empty string'],
  ])('throws for %s', (wrong, sentence) => {
    const options = { body: BODY, secrets: SECRETS, scheme: 'standard-webhooks', ...wrong };
    // JavaScript can pass any value.
    expect(() => signRequest(options as Parameters<typeof signRequest>[0])).toThrow(sentence);
  });

  it('verifies only with a valid time', () => {
    const headers = signed('standard-webhooks');
    const options = { body: BODY, headers, secrets: SECRETS, scheme: 'standard-webhooks', at: NaN };
    expect(() => verify(options)).toThrow('Expected `at` to be a time in ms, got NaN');
  });
});

describe('an id with the separator of signed fields', () => {
  const accepted = { body: BODY, secrets: SECRETS, scheme: 'standard-webhooks' };

  it('is replaced by its SHA-256', () => {
    const headers = signRequest({ ...accepted, id: 'a.1' });
    expect(headers['webhook-id']).toMatch(/^[0-9a-f]{64}$/);
    expect(verify({ ...accepted, headers }).valid).toBe(true);
  });

  it('is rejected, because a part of the body could count as a part of the id', () => {
    const at = Date.now();
    const seconds = Math.floor(at / 1000);
    const headers = signRequest({ ...accepted, body: `x.${seconds}.${BODY}`, id: 'm', at });
    const moved = { ...headers, 'webhook-id': `m.${seconds}.x` };
    const verdict = verify({ ...accepted, headers: moved, diagnose: true });
    expect(verdict).toMatchObject({ valid: false, diagnosis: { code: 'malformed-header' } });
    expect(JSON.stringify(verdict)).toContain('the id has `.` in it, which separates what is signed');
  });
});

describe('a list of signatures', () => {
  const at = Date.now();
  const t = Math.floor(at / 1000);
  const stripe = createHmac('sha256', 's').update(`${t}.${BODY}`).digest('hex');
  const standard = createHmac('sha256', Buffer.from(WHSEC.slice(6), 'base64'))
    .update(`m.${t}.${BODY}`)
    .digest('base64');
  const vendor = new Stripe('sk_test_none');

  // Each header has the verdict of the vendor's own library.
  it.each([
    `t=${t},v1=${stripe},`,
    `t=${t},,v1=${stripe}`,
    `t=${t},junk,v1=${stripe}`,
    `t=${t},v1=00,v1=${stripe}`,
    `t=${t},__proto__=1,v0=00,v1=${stripe}`,
    `t=${t},xv1=${stripe}`,
    `t=${t}, v1=${stripe}`,
    `t=${t},v1=${stripe}0`,
    `t=${t},V1=${stripe}`,
    `t=${t - 1},v1=${stripe}`,
    `t=${t}`,
  ])('is read like by the library of Stripe: %s', (header) => {
    const headers = { 'stripe-signature': header };
    const ours = verify({ body: BODY, headers, secrets: ['s'], scheme: 'stripe', at }).valid;
    expect(ours).toBe(doesNotThrow(() => vendor.webhooks.constructEvent(BODY, header, 's')));
  });

  it.each([
    `v1,${standard} `,
    ` v1,${standard}`,
    `v1,xx  v1,${standard}`,
    `junk v1,${standard} junk`,
    `v1,${standard},foo`,
    `v1a,${standard}`,
    `V1,${standard}`,
    `xv1,${standard}`,
    standard,
    `v1,${standard.slice(0, -1)}`,
    `v1,,${standard}`,
    `v1, ${standard}`,
  ])('is read like by the library of Standard Webhooks: %s', (header) => {
    const headers = { 'webhook-id': 'm', 'webhook-timestamp': String(t), 'webhook-signature': header };
    const ours = verify({ body: BODY, headers, secrets: [WHSEC], scheme: 'standard-webhooks', at }).valid;
    expect(ours).toBe(doesNotThrow(() => new Webhook(WHSEC).verify(BODY, headers)));
  });
});

describe('a signature that was removed', () => {
  const { 'X-Signature': weaker = '', 'webhook-signature': _removed, ...rest } = signed(BOTH);
  const headers = { ...rest, 'X-Signature': weaker };

  it('is rejected if its scheme is named and its other headers are present', () => {
    const verdict = verify({ body: BODY, headers, secrets: SECRETS, scheme: BOTH, diagnose: true });
    expect(verdict).toMatchObject({ valid: false, diagnosis: { code: 'missing-header' } });
    expect(JSON.stringify(verdict)).toContain('webhook-signature is missing, though webhook-id came');
    expect(verify({ body: BODY, headers, secrets: SECRETS }).valid).toBe(true);
  });
});

it('names headers called like properties of Object.prototype', () => {
  const headers = ['__proto__', 'constructor', 'X-Signatures'];
  expect(signatureHeadersText(headers)).toBe('X-Signature is missing; X-Signatures came');
});

it('uses the singular for one character', () => {
  const headers = { 'X-Hub-Signature-256': 'sha256=x' };
  const verdict = verify({ body: BODY, headers, secrets: ['s'], scheme: 'github', diagnose: true });
  expect(JSON.stringify(verdict)).toContain('the signature has 1 character instead of 64 in hex');
  const ours = verify({ body: BODY, signature: 'x', secrets: ['s'], diagnose: true });
  expect(JSON.stringify(ours)).toContain('the signature has 1 character instead of');
});

it('has at most 30 lines of data for each built-in scheme', () => {
  for (const scheme of BUILT_IN_SCHEMES) {
    expect(JSON.stringify(scheme, null, 2).split('\n').length, scheme.name).toBeLessThanOrEqual(30);
  }
});
