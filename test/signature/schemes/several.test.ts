import { describe, expect, it } from 'vitest';
import { Deadline } from '../../../src/signature/diagnosis/deadline.ts';
import { BUILT_IN_SCHEMES } from '../../../src/signature/schemes/built-in.ts';
import { signRequest } from '../../../src/signature/schemes/signer.ts';
import type { SignatureScheme } from '../../../src/signature/schemes/scheme.ts';
import { sign } from '../../../src/signature/sign.ts';
import { verify } from '../../../src/signature/verify.ts';

const WHSEC = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const SECRETS = ['old', WHSEC];
const BODY = '{"type":"track","userId":"u","event":"A"}';
const BOTH = 'segment,standard-webhooks';

const signed = (scheme: string) => signRequest({ body: BODY, secrets: SECRETS, scheme, id: 'msg_1' });

describe('several schemes', () => {
  it('gives a request the headers of each, signed with the secret that is meant for it', () => {
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

  it('signs by segment with the first secret where all are for another scheme', () => {
    const headers = signRequest({ body: BODY, secrets: [WHSEC], scheme: BOTH });
    expect(headers['X-Signature']).toBe(sign(BODY, WHSEC));
  });

  it('wants at least one of them, and each that came to match', () => {
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

  it('rejects a downgrade: the stronger header removed, the weaker one there', () => {
    const { 'X-Signature': weaker = '' } = signed(BOTH);
    const headers = { 'X-Signature': weaker };
    expect(verify({ body: BODY, secrets: SECRETS, headers, scheme: 'standard-webhooks' }).valid).toBe(false);
  });

  it('takes none from the headers that came: without a name only the default counts', () => {
    for (const scheme of ['github', 'shopify', 'slack', 'stripe', 'standard-webhooks']) {
      expect(verify({ body: BODY, secrets: SECRETS, headers: signed(scheme) }).valid, scheme).toBe(false);
    }
    expect(verify({ body: BODY, secrets: SECRETS, headers: signed('segment') })).toEqual({
      valid: true,
      secret: 1,
      over: 'bytes',
    });
  });

  it('accepts any one signature of a list, and never two headers of one name', () => {
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

  it('is accepted only when it is named, and says what is not protected', () => {
    expect(verify({ body: list, headers, secrets: ['old'] }).valid).toBe(false);
    expect(verify({ body: list, headers, secrets: ['old'], scheme: 'segment-batch' })).toEqual({
      valid: true,
      secret: 1,
      over: 'stringified',
      scheme: 'segment-batch',
      partial: 'covers the first of 2 events only',
    });
  });

  it('is named by the diagnosis of a signature over the first event', () => {
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

  it('may be one of your own', () => {
    const headers = signRequest({ body: BODY, secrets: ['s'], scheme: [own, 'github'] });
    const accepted = { body: BODY, headers, secrets: ['s'], scheme: [own, 'github'] };
    expect(verify(accepted)).toMatchObject({ valid: true, scheme: 'acme,github' });
    expect(verify({ ...accepted, at: Date.now() + 12_000 }).valid).toBe(false);
    expect(verify({ ...accepted, at: Date.now() + 12_000, ignoreTimestamp: true }).valid).toBe(true);
  });

  it.each([
    ['an unknown name', 'gihub', 'Unknown signature scheme `gihub`'],
    ['no name', '', 'Unknown signature scheme ``'],
    ['an unknown placeholder', { ...own, signs: '{nonce}{body}' }, 'got {nonce}'],
    ['no body', { ...own, signs: '{timestamp}' }, 'which would sign nothing of the request'],
    ['a tolerance below 0', { ...own, tolerance: -1 }, 'got -1'],
    ['a time that is not signed', { ...own, signs: '{body}' }, 'has no {timestamp}'],
    ['an id that is not sent', { ...own, signs: '{id}{timestamp}{body}' }, 'to carry {id}'],
    ['an unknown key', { ...own, salt: 'x' }, 'salt'],
    ['another hash', { ...own, hash: 'md5' }, 'sha1 or sha256'],
    ['the name of a built-in scheme', { ...own, name: 'stripe' }, 'built-in'],
    ['a reserved header', { ...own, headers: { ...own.headers, Host: '{timestamp}' } }, 'Host'],
    ['two schemes with one header', 'segment,segment-batch', 'both want the header X-Signature'],
    ['a secret that it cannot use', 'standard-webhooks', 'whsec_%s\\n\' "$(openssl rand -base64 32)'],
  ])('is rejected for %s', (_, scheme, sentence) => {
    let text = '';
    try {
      signRequest({ body: BODY, secrets: ['s'], scheme: scheme as SignatureScheme }); // some are none
    } catch (error) {
      text = error instanceof Error ? `${error.message} ${'hint' in error ? String(error.hint) : ''}` : '';
    }
    expect(text).toContain(sentence);
  });
});

it('has at most 30 lines of data for each built-in scheme', () => {
  for (const scheme of BUILT_IN_SCHEMES) {
    expect(JSON.stringify(scheme, null, 2).split('\n').length, scheme.name).toBeLessThanOrEqual(30);
  }
});
