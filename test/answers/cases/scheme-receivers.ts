import { createHash, createHmac } from 'node:crypto';
import type { AnswerCase, AnswerTheme } from '../answer-case.ts';
import {
  hmac,
  isJson,
  responds,
  rightBut,
  SECRET,
  type CounterpartRequest,
  type Respond,
} from '../counterparts.ts';

type Hash = 'sha1' | 'sha256' | 'sha512';

/** How a receiver verifies; each default is what its scheme says. */
interface Verifying {
  readonly scheme: 'github' | 'shopify' | 'stripe' | 'slack' | 'standard-webhooks';
  readonly hash?: Hash;
  readonly encoding?: 'hex' | 'base64';
  readonly key?: string | Buffer;
  /** What it hashes of a request. */
  readonly text?: (fields: Fields) => string | Buffer;
  /** Instead of the HMAC. */
  readonly digest?: (text: string | Buffer) => string;
  /** Which signatures of the header it compares, from its value. */
  readonly signatures?: (value: string) => readonly string[];
  /** Whether it takes a time, in seconds. @default within 300 s of now */
  readonly takesTime?: (seconds: number) => boolean;
}

interface Fields {
  readonly id: string;
  readonly timestamp: string;
  readonly body: Buffer;
}

const WHSEC = 'whsec_c2VjcmV0LW9mLXRoZS10ZXN0cy1vbmx5';
const TEXT_SECRET = 'k7Jq-secret-of-the-tests';

const isNear = (seconds: number): boolean => Math.abs(Date.now() / 1000 - seconds) <= 300;
const joined = (before: string, body: Buffer): Buffer => Buffer.concat([Buffer.from(before), body]);

const RIGHT = {
  github: {
    header: 'x-hub-signature-256',
    encoding: 'hex',
    text: ({ body }: Fields) => body,
    signatures: (value: string) => [value.replace(/^sha256=/, '')].filter((each) => each !== value),
    hasTime: false,
  },
  shopify: {
    header: 'x-shopify-hmac-sha256',
    encoding: 'base64',
    text: ({ body }: Fields) => body,
    signatures: (value: string) => [value],
    hasTime: false,
  },
  stripe: {
    header: 'stripe-signature',
    encoding: 'hex',
    text: ({ timestamp, body }: Fields) => joined(`${timestamp}.`, body),
    signatures: (value: string) => [...value.matchAll(/v1=([^,]*)/g)].map(([, each = '']) => each),
    hasTime: true,
  },
  slack: {
    header: 'x-slack-signature',
    encoding: 'hex',
    text: ({ timestamp, body }: Fields) => joined(`v0:${timestamp}:`, body),
    signatures: (value: string) => [value.replace(/^v0=/, '')].filter((each) => each !== value),
    hasTime: true,
  },
  'standard-webhooks': {
    header: 'webhook-signature',
    encoding: 'base64',
    text: ({ id, timestamp, body }: Fields) => joined(`${id}.${timestamp}.`, body),
    signatures: (value: string) => [...value.matchAll(/v1,(\S*)/g)].map(([, each = '']) => each),
    hasTime: true,
  },
} as const;

/** A receiver that is right but for what is given. */
function verifying({ scheme, ...how }: Verifying): Respond {
  const right = RIGHT[scheme];
  const key =
    how.key ??
    (scheme === 'standard-webhooks' ? Buffer.from(WHSEC.slice('whsec_'.length), 'base64') : TEXT_SECRET);
  const { hash = 'sha256', encoding = right.encoding, takesTime = isNear } = how;
  const schemeDigest = (text: string | Buffer): string => createHmac(hash, key).update(text).digest(encoding);
  return (request) => {
    const fields = fieldsOf(request);
    const value = String(request.headers[right.header] ?? '');
    const expected = (how.digest ?? schemeDigest)((how.text ?? right.text)(fields));
    const isSigned = (how.signatures ?? right.signatures)(value).includes(expected);
    if (!isSigned || (right.hasTime && !takesTime(Number(fields.timestamp)))) {
      return { status: 401, body: 'bad signature' };
    }
    return isJson(request.body) ? { body: 'ok' } : { status: 400, body: 'not JSON' };
  };
}

function fieldsOf({ headers, body }: CounterpartRequest): Fields {
  const time =
    headers['webhook-timestamp'] ??
    headers['x-slack-request-timestamp'] ??
    /t=(\d+)/.exec(String(headers['stripe-signature'] ?? ''))?.[1];
  return { id: String(headers['webhook-id'] ?? ''), timestamp: String(time ?? ''), body };
}

function restringified(body: Buffer): string | undefined {
  try {
    return JSON.stringify(JSON.parse(body.toString()));
  } catch {
    return undefined;
  }
}

interface SchemeCase extends Pick<AnswerCase, 'id' | 'title' | 'cause' | 'fix' | 'never' | 'missed'> {
  readonly receiver: Verifying;
}

const again = ({ body }: Fields): string => restringified(body) ?? '';
const BYTES = 'hash the bytes of the body as received';

const CASES: readonly SchemeCase[] = [
  {
    id: 'github-reserialised',
    title: 'a receiver of X-Hub-Signature-256 hashes JSON.stringify(request.body)',
    receiver: { scheme: 'github', text: again },
    cause: 'it hashes re-serialized JSON: it accepts what is signed over the JSON-stringified body',
    fix: BYTES,
    never: ['its validation'],
  },
  {
    id: 'github-python',
    title: 'a receiver of X-Hub-Signature-256 hashes json.dumps of the parsed body',
    receiver: {
      scheme: 'github',
      text: ({ body }) => {
        const spaced = JSON.stringify(JSON.parse(again({ id: '', timestamp: '', body }) || '0'), null, 1);
        return (spaced ?? '').replaceAll(/\n\s*/g, ' ').replaceAll(/([{[]) | ([}\]])/g, '$1$2');
      },
    },
    cause: 'it hashes re-serialized JSON: it accepts what is signed as json.dumps of Python writes it',
    fix: BYTES,
  },
  {
    id: 'github-sha1',
    title: 'a receiver of X-Hub-Signature-256 computes SHA-1',
    receiver: { scheme: 'github', hash: 'sha1' },
    cause: 'it expects an HMAC with SHA-1 instead of SHA-256',
    fix: 'for github compute the HMAC-SHA256 of the raw body in hex',
  },
  {
    id: 'github-base64',
    title: 'a receiver of X-Hub-Signature-256 compares base64',
    receiver: { scheme: 'github', encoding: 'base64' },
    cause: 'it expects the digest in base64 instead of hex',
    fix: 'for github compute the HMAC-SHA256 of the raw body in hex',
  },
  {
    id: 'github-prefix',
    title: 'a receiver compares the bare digest with sha256=…',
    receiver: { scheme: 'github', signatures: (value) => [value] },
    cause: 'it expects the bare digest without sha256=',
    fix: 'remove sha256= from the header before comparing',
  },
  {
    id: 'github-plain-hash',
    title: 'a receiver computes sha256(secret + body)',
    receiver: {
      scheme: 'github',
      digest: (text) => createHash('sha256').update(TEXT_SECRET).update(text).digest('hex'),
    },
    cause: 'it accepts what is signed as SHA-256(secret + body), a plain hash in place of an HMAC',
    fix: 'hash once, with an HMAC that is keyed with the secret',
  },
  {
    id: 'github-newline-in-secret',
    title: "the receiver's secret of GitHub ends in a newline",
    receiver: { scheme: 'github', key: `${TEXT_SECRET}\n` },
    cause: 'it accepts what is signed with a newline at the end of the secret',
    fix: 'without white space or quotes around it',
  },
  {
    id: 'shopify-hex',
    title: 'a receiver of Shopify compares hex',
    receiver: { scheme: 'shopify', encoding: 'hex' },
    cause: 'it expects the digest in hex instead of base64',
    fix: 'for shopify compute the HMAC-SHA256 of the raw body in base64',
  },
  {
    id: 'shopify-reserialised',
    title: 'a receiver of Shopify hashes the JSON again',
    receiver: { scheme: 'shopify', text: again },
    cause: 'it hashes re-serialized JSON',
    fix: BYTES,
  },
  {
    id: 'stripe-body-alone',
    title: 'a receiver of Stripe hashes the body without the time',
    receiver: { scheme: 'stripe', text: ({ body }) => body },
    cause: 'it verifies another text than {timestamp}.{body}: it accepts what is signed over {body}',
    fix: 'for stripe compute the HMAC-SHA256 of {timestamp}.{body}',
  },
  {
    id: 'stripe-no-tolerance',
    title: 'a receiver of Stripe does not look at the age',
    receiver: { scheme: 'stripe', takesTime: () => true },
    cause: 'it accepts a message of any age',
    fix: 'reject a timestamp more than 300 s away',
  },
  {
    id: 'stripe-first-signature',
    title: 'a receiver of Stripe reads the first v1 only',
    receiver: {
      scheme: 'stripe',
      signatures: (value) => [/v1=([^,]*)/.exec(value)?.[1] ?? ''],
    },
    cause: 'it reads only the first of several signatures',
    fix: 'split Stripe-Signature at its commas and compare each signature in it',
  },
  {
    id: 'slack-no-version',
    title: 'a receiver of Slack hashes time:body without v0:',
    receiver: { scheme: 'slack', text: ({ timestamp, body }) => joined(`${timestamp}:`, body) },
    cause: 'it verifies another text than v0:{timestamp}:{body}',
    fix: 'for slack compute the HMAC-SHA256 of v0:{timestamp}:{body}',
  },
  {
    id: 'slack-reserialised',
    title: 'a receiver of Slack hashes the JSON again',
    receiver: {
      scheme: 'slack',
      text: (fields) => `v0:${fields.timestamp}:${again(fields)}`,
    },
    cause: 'it hashes re-serialized JSON',
    fix: BYTES,
  },
  {
    id: 'standard-secret-as-text',
    title: 'a receiver of Standard Webhooks takes the text after whsec_ as the key',
    receiver: { scheme: 'standard-webhooks', key: WHSEC.slice('whsec_'.length) },
    cause: 'it accepts what is signed with the text of the secret without its prefix as the key',
    fix: 'decode what follows the prefix of the secret from base64',
  },
  {
    id: 'standard-whole-secret',
    title: 'a receiver of Standard Webhooks takes the whole secret as the key',
    receiver: { scheme: 'standard-webhooks', key: WHSEC },
    cause: 'it accepts what is signed with the text of the secret',
    fix: 'decode what follows the prefix of the secret from base64',
  },
  {
    id: 'standard-no-id',
    title: 'a receiver of Standard Webhooks leaves the id out',
    receiver: {
      scheme: 'standard-webhooks',
      text: ({ timestamp, body }) => joined(`${timestamp}.`, body),
    },
    cause:
      'it verifies another text than {id}.{timestamp}.{body}: it accepts what is signed over {timestamp}.{body}',
    fix: 'for standard-webhooks compute the HMAC-SHA256 of {id}.{timestamp}.{body}',
  },
  {
    id: 'standard-prefix',
    title: 'a receiver of Standard Webhooks does not take v1, off',
    receiver: { scheme: 'standard-webhooks', signatures: (value) => [value] },
    cause: 'it expects the bare digest without v1,',
    fix: 'remove v1, from the header before comparing',
  },
  {
    id: 'standard-hex',
    title: 'a receiver of Standard Webhooks compares hex',
    receiver: { scheme: 'standard-webhooks', encoding: 'hex' },
    cause: 'it expects the digest in hex instead of base64',
    fix: 'for standard-webhooks compute the HMAC-SHA256',
  },
  {
    id: 'standard-first-signature',
    title: 'a receiver of Standard Webhooks reads the first signature only',
    receiver: {
      scheme: 'standard-webhooks',
      signatures: (value) => [value.split(' ')[0]?.replace(/^v1,/, '') ?? ''],
    },
    cause: 'it reads only the first of several signatures',
    fix: 'split webhook-signature at its spaces and compare each signature in it',
  },
  {
    id: 'standard-local-time',
    title: 'a receiver of Standard Webhooks takes UTC for local time, so its clock is 5 hours ahead',
    receiver: { scheme: 'standard-webhooks', takesTime: (seconds) => isNear(seconds - 5 * 3_600) },
    cause: 'it accepts only a timestamp that is 5 h ahead',
    fix: 'time.time(), not datetime.utcnow().timestamp()',
  },
  {
    id: 'slack-milliseconds',
    title: 'a receiver of Slack compares seconds with milliseconds',
    receiver: { scheme: 'slack', takesTime: (seconds) => isNear(seconds / 1_000) },
    cause: 'it accepts only a timestamp in milliseconds',
    fix: 'compare the timestamp with the present time in seconds',
  },
  {
    id: 'standard-no-tolerance',
    title: 'a receiver of Standard Webhooks does not look at the age',
    receiver: { scheme: 'standard-webhooks', takesTime: () => true },
    cause: 'it accepts a message of any age',
    fix: 'reject a timestamp more than 300 s away',
  },
  {
    id: 'standard-reserialised',
    title: 'a receiver of Standard Webhooks hashes the JSON again',
    receiver: {
      scheme: 'standard-webhooks',
      text: (fields) => `${fields.id}.${fields.timestamp}.${again(fields)}`,
    },
    cause: 'it hashes re-serialized JSON',
    fix: BYTES,
  },
];

/** A receiver of X-Signature that computes it so. */
function verifiesX(digest: (body: Buffer) => string): Respond {
  return ({ headers, body }) => {
    if (!isJson(body)) return { status: 400, body: 'not JSON' };
    return headers['x-signature'] === digest(body) ? { body: 'ok' } : { status: 401, body: 'bad signature' };
  };
}

interface Tested extends Omit<AnswerCase, 'given' | 'argv'> {
  readonly receiver: Respond;
  /** @default SECRET */
  readonly secret?: string;
  readonly flags?: readonly string[];
}

const TWO_SECRETS = ['--secret', 'the-new-secret', '--secret', TEXT_SECRET];

const OTHERS: readonly Tested[] = [
  {
    id: 'scheme-old-secret',
    title: 'the receiver holds only the old one of two secrets',
    receiver: verifying({ scheme: 'github' }),
    flags: ['--scheme', 'github', ...TWO_SECRETS],
    cause: 'it does not hold the first of the secrets given here, which signs, but another of them',
    fix: 'give the receiver the new secret besides the old one and let it accept both',
  },
  {
    id: 'receiver-old-secret',
    title: 'the receiver of X-Signature holds only the old one of two secrets',
    receiver: rightBut(undefined, TEXT_SECRET),
    flags: TWO_SECRETS,
    cause: 'it does not hold the first of the secrets given here, which signs, but another of them',
    fix: 'give the receiver the new secret besides the old one and let it accept both',
  },
  {
    id: 'receiver-of-github',
    title: 'the receiver verifies X-Hub-Signature-256, and is tested without --scheme',
    receiver: verifying({ scheme: 'github' }),
    secret: TEXT_SECRET,
    cause: 'it verifies by the scheme github (X-Hub-Signature-256), not by segment',
    fix: 'test it with --scheme github, and let the sender use this scheme, too',
  },
  {
    id: 'receiver-of-standard-webhooks',
    title: 'the receiver verifies Standard Webhooks, and is tested with --scheme stripe',
    receiver: verifying({ scheme: 'standard-webhooks' }),
    secret: WHSEC,
    flags: ['--scheme', 'stripe'],
    cause: 'it verifies by the scheme standard-webhooks (webhook-signature), not by stripe',
    fix: 'test it with --scheme standard-webhooks',
  },
  ...(
    [
      ['secret + body', SECRET, ''],
      ['body + secret', '', SECRET],
    ] as const
  ).map(([formula, before, after]) => ({
    id: `receiver-sha1-${formula.replace(' + ', '-')}`,
    title: `the receiver computes sha1(${formula})`,
    receiver: verifiesX((body) => createHash('sha1').update(before).update(body).update(after).digest('hex')),
    cause: `it accepts what is signed as SHA-1(${formula}), a plain hash in place of an HMAC`,
    fix: 'hash once, with an HMAC that is keyed with the secret',
  })),
  {
    id: 'receiver-key-and-body-swapped',
    title: 'the receiver swaps key and message of the HMAC',
    receiver: verifiesX((body) => createHmac('sha1', body).update(SECRET).digest('hex')),
    cause: 'it accepts what is signed with the body as the key and the secret as the message',
    fix: 'hash once, with an HMAC that is keyed with the secret',
  },
  {
    id: 'receiver-sha256-reserialised',
    title: 'the receiver computes SHA-256 of the JSON indented',
    receiver: verifiesX((body) => {
      const indented = JSON.stringify(JSON.parse(body.toString()), null, 2);
      return createHmac('sha256', SECRET).update(indented).digest('hex');
    }),
    cause:
      'it expects an HMAC with SHA-256 instead of SHA-1, and hashes re-serialized JSON: it accepts what is signed indented by 2 spaces',
    fix: BYTES,
  },
  {
    id: 'receiver-stringify',
    title: 'the receiver hashes JSON.stringify(request.body), as the docs of Segment do',
    receiver: verifiesX((body) => hmac(JSON.stringify(JSON.parse(body.toString())))),
    cause: 'it verifies the JSON that it parsed and wrote again, not the bytes received',
    fix: BYTES,
    never: ['✗', 'wrong:'],
    exitCode: 0,
  },
  {
    id: 'scheme-takes-everything',
    title: 'a receiver of Standard Webhooks verifies nothing',
    receiver: responds(200, 'ok'),
    secret: WHSEC,
    flags: ['--scheme', 'standard-webhooks'],
    cause: 'it accepts everything: it does not verify signatures',
    fix: 'for standard-webhooks compute the HMAC-SHA256',
  },
];

function ofScheme({ id, receiver, ...answers }: SchemeCase): AnswerCase {
  const { scheme } = receiver;
  const secret = scheme === 'standard-webhooks' ? WHSEC : TEXT_SECRET;
  return tested({
    id: `scheme-${id}`,
    receiver: verifying(receiver),
    secret,
    flags: ['--scheme', scheme],
    ...answers,
  });
}

/** No answer blames the secrets. */
function tested({ receiver, secret = SECRET, flags = [], never = [], ...answers }: Tested): AnswerCase {
  return {
    ...answers,
    given: { receiver, ...(!flags.includes('--secret') && { env: { HOOKS_SECRET: secret } }) },
    argv: ['test', '{url}', ...flags],
    never: ['the same secret', ...never],
  };
}

/** Receivers of other schemes than the default one, each with one planted fault. */
export const SCHEME_RECEIVERS: AnswerTheme = {
  title: 'hooks test --scheme: what is wrong with the receiver',
  cases: [...CASES.map(ofScheme), ...OTHERS.map(tested)],
};
