import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Deadline } from '../../../src/signature/deadline.ts';
import type { ReasonCode } from '../../../src/signature/reasons.ts';
import { BUILT_IN_SCHEMES } from '../../../src/signature/schemes/built-in.ts';
import { layoutOf, withFields } from '../../../src/signature/schemes/layout.ts';
import type { SignatureScheme } from '../../../src/signature/schemes/scheme.ts';
import { schemeKey } from '../../../src/signature/schemes/secrets.ts';
import { sign } from '../../../src/signature/sign.ts';
import { verify } from '../../../src/app/explained.ts';

const SCHEMES = BUILT_IN_SCHEMES.filter(({ name }) => !name.startsWith('segment-'));
const WHSEC = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const BODY = '{"messageId":"evt_42","type":"track","event":"A","n":1,"text":"é"}';
const NOW = 1_763_673_005;

/** The steps of a sender, all of them right unless a mistake changes one. */
interface Sending {
  readonly key?: string | Uint8Array;
  readonly signs?: string;
  readonly signedId?: string;
  readonly signedTime?: string;
  readonly sentTime?: string;
  readonly encoding?: 'hex' | 'base64';
  readonly signedBody?: string;
  readonly withoutPrefix?: true;
}

function secretOf({ secretPrefix }: SignatureScheme): string {
  return secretPrefix === undefined ? 'a plain secret' : WHSEC;
}

/** Signs by a scheme without using our code. */
function headersOf(scheme: SignatureScheme, sending: Sending): Record<string, string> {
  const { signedTime = String(NOW), sentTime = signedTime, signedId = 'msg_1', withoutPrefix } = sending;
  const { signs = scheme.signs, encoding = scheme.encoding, signedBody = BODY } = sending;
  const key = sending.key ?? schemeKey(scheme, secretOf(scheme)) ?? '';
  const [before = '', after = ''] = signs.split('{body}');
  const signed = { id: signedId, timestamp: signedTime };
  const text = withFields(before, signed) + signedBody + withFields(after, signed);
  const signature = createHmac(scheme.hash, key).update(text).digest(encoding);
  const entries = Object.entries(scheme.headers).map(([name, template]) => {
    const isSignature = name === layoutOf(scheme).signatureHeader.name;
    const form = isSignature && withoutPrefix ? '{signature}' : template;
    return [name, withFields(form, { id: 'msg_1', timestamp: sentTime }).replace('{signature}', signature)];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

function diagnosisCode(scheme: SignatureScheme, sending: Sending, body = BODY): ReasonCode | 'valid' {
  const headers = headersOf(scheme, sending);
  const options = { body, headers, secrets: [secretOf(scheme)], scheme: scheme.name, at: NOW * 1000 };
  const verdict = verify({ ...options, diagnose: true, exact: true }, () => new Deadline(Infinity));
  return verdict.valid ? 'valid' : (verdict.diagnosis?.code ?? 'no-match');
}

interface UsualMistake {
  readonly name: string;
  readonly sending: (scheme: SignatureScheme) => Sending;
  readonly codes: readonly ReasonCode[];
  /** Whether the mistake is possible with the scheme. */
  readonly applies?: (scheme: SignatureScheme) => boolean;
  readonly receivedBody?: string;
}

const hasTime = (scheme: SignatureScheme): boolean => layoutOf(scheme).hasTimestamp;
const hasId = (scheme: SignatureScheme): boolean => layoutOf(scheme).hasId;

const MISTAKES: readonly UsualMistake[] = [
  {
    name: 'an old timestamp',
    sending: () => ({ signedTime: String(NOW - 3_600) }),
    codes: ['old-timestamp'],
    applies: hasTime,
  },
  {
    name: 'milliseconds for seconds in the header',
    sending: () => ({ signedTime: `${NOW}000` }),
    codes: ['timestamp-unit'],
    applies: hasTime,
  },
  {
    name: 'milliseconds for seconds in the header, and no separator',
    sending: (scheme) => ({
      signedTime: `${NOW}000`,
      signs: scheme.signs.replace(/(?<=\{timestamp\}).+(?=\{)/, ''),
    }),
    codes: ['other-template'],
    applies: (scheme) => scheme.signs === '{timestamp}.{body}',
  },
  {
    name: 'milliseconds for seconds in the header alone',
    sending: () => ({ signedTime: String(NOW), sentTime: `${NOW}000` }),
    codes: ['other-timestamp'],
    applies: hasTime,
  },
  {
    name: 'milliseconds for seconds in what is signed',
    sending: () => ({ signedTime: `${NOW}000`, sentTime: String(NOW) }),
    codes: ['timestamp-unit'],
    applies: hasTime,
  },
  {
    name: 'a time of another reading of the clock',
    sending: () => ({ signedTime: String(NOW - 1), sentTime: String(NOW) }),
    codes: ['other-timestamp'],
    applies: hasTime,
  },
  {
    name: 'the id of the body in place of the one that is sent',
    sending: () => ({ signedId: 'evt_42' }),
    codes: ['other-id'],
    applies: hasId,
  },
  {
    name: 'signed without the id',
    sending: ({ signs }) => ({ signs: signs.replace('{id}.', '') }),
    codes: ['other-template'],
    applies: hasId,
  },
  {
    name: 'the body signed alone',
    sending: () => ({ signs: '{body}' }),
    codes: ['other-template'],
    applies: hasTime,
  },
  {
    name: 'base64 for hex, and hex for base64',
    sending: ({ encoding }) => ({ encoding: encoding === 'hex' ? 'base64' : 'hex' }),
    codes: ['base64', 'other-encoding'],
  },
  {
    name: 'the secret not decoded, or decoded',
    sending: (scheme) => ({
      key:
        scheme.secret === 'base64'
          ? secretOf(scheme)
          : Buffer.from(secretOf(scheme).replace('whsec_', ''), 'base64'),
    }),
    codes: ['misread-secret', 'other-encoding'],
    applies: ({ secretPrefix }) => secretPrefix !== undefined,
  },
  {
    name: 'the secret with a newline',
    sending: (scheme) => ({ key: `${secretOf(scheme)}\n` }),
    codes: ['trimmed-secret'],
    applies: ({ secret }) => secret !== 'base64',
  },
  {
    name: 'the prefix missing',
    sending: () => ({ withoutPrefix: true }),
    codes: ['missing-prefix', 'malformed-header'],
    applies: (scheme) => layoutOf(scheme).signatureHeader.parts.some(({ text }) => text !== ''),
  },
  {
    name: 'a body that was written again in Python',
    sending: () => ({ signedBody: BODY.replaceAll('":', '": ').replaceAll(',"', ', "') }),
    codes: ['python-json'],
  },
  {
    name: 'a body that was indented',
    sending: () => ({ signedBody: JSON.stringify(JSON.parse(BODY), null, 2) }),
    codes: ['pretty-printed'],
  },
  { name: 'a trailing newline', sending: () => ({}), codes: ['trailing-newline'], receivedBody: `${BODY}\n` },
];

describe.each(SCHEMES)('a common mistake with $name', (scheme) => {
  it('is not diagnosed for a valid signature', () => {
    expect(diagnosisCode(scheme, {})).toBe('valid');
  });

  it.each(MISTAKES.filter(({ applies }) => applies?.(scheme) ?? true))(
    'is diagnosed: $name',
    ({ sending, codes, receivedBody }) => {
      expect(codes).toContain(diagnosisCode(scheme, sending(scheme), receivedBody));
    },
  );
});

const tried = SCHEMES.flatMap((scheme) =>
  MISTAKES.filter(({ applies }) => applies?.(scheme) ?? true).map(({ sending, codes, receivedBody }) =>
    codes.some((code) => code === diagnosisCode(scheme, sending(scheme), receivedBody)),
  ),
);
const named = tried.filter(Boolean).length;

it(`names ${named} of ${tried.length} usual mistakes with ${SCHEMES.length} schemes, of which 90 % must be`, () => {
  expect(named / tried.length).toBeGreaterThanOrEqual(0.9);
});

const diagnosed = (options: Parameters<typeof verify>[0]): string =>
  JSON.stringify(verify({ diagnose: true, ...options }, () => new Deadline(Infinity)));

describe('the signature of one scheme in the header of another', () => {
  it('is diagnosed in X-Signature, for the text that Slack, Stripe and Svix sign, with our hash and theirs', () => {
    const stripe = createHmac('sha1', 's').update(`${NOW}.${BODY}`).digest('hex');
    const headers = { 'X-Signature': stripe, 'X-Timestamp': String(NOW) };
    expect(diagnosed({ body: BODY, headers, secrets: ['s'] })).toContain(
      '{timestamp}.{body}, as stripe does',
    );
    const slack = createHmac('sha1', 's').update(`v0:${NOW}:${BODY}`).digest('hex');
    const slackHeaders = { 'X-Signature': slack, 'X-Slack-Request-Timestamp': String(NOW) };
    expect(diagnosed({ body: BODY, headers: slackHeaders, secrets: ['s'] })).toContain('as slack does');
    const svix = createHmac('sha256', 's').update(`msg_1.${NOW}.${BODY}`).digest('hex');
    const svixHeaders = { 'X-Signature': svix, 'svix-id': 'msg_1', 'svix-timestamp': String(NOW) };
    expect(diagnosed({ body: BODY, headers: svixHeaders, secrets: ['s'] })).toContain(
      'as standard-webhooks does',
    );
  });

  it('is diagnosed for our HMAC-SHA1 in the header of another scheme', () => {
    const headers = { 'X-Hub-Signature-256': `sha256=${sign(BODY, 's')}` };
    const text = diagnosed({ body: BODY, headers, secrets: ['s'], scheme: 'github' });
    expect(text).toContain('HMAC-SHA1');
    expect(text).toContain('Sign as github does: HMAC-SHA256');
  });
});
