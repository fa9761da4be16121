import { BodyCandidate, bodyChangeLists, bodyReplacements } from '../signature/body/body-changes.ts';
import { COSTS, type Cost } from '../signature/change.ts';
import { CONSTRUCTS, hashName, otherHashCode } from '../signature/constructs.ts';
import { KeptBody } from '../../signature/body/kept-body.ts';
import { Deadline } from '../../signature/deadline.ts';
import { FrameChanges } from '../signature/frames.ts';
import type { ReasonCode } from '../../signature/reasons.ts';
import { decodedKeyFix, isExampleSecret, otherSecrets } from '../signature/other-secrets.ts';
import { secretChanges } from '../signature/secret-changes.ts';
import type { HmacAlgorithm } from '../../signature/hmac.ts';
import { DEFAULT_SCHEME } from '../../signature/schemes/built-in.ts';
import { layoutOf } from '../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import { schemeKey } from '../../signature/schemes/secrets.ts';
import type { ReceiverMistake } from '../../check/check.ts';
import { verifyingFixes } from '../../check/scheme-checks.ts';
import { EMPTY_BODY_FIX, KEY_FIX, MILLISECONDS, OLD_SECRET, RAW_BODY_FIX, TEXT_FIX } from './fixes.ts';
import { MistakenSigner, type ExplainedMistake, type SigningContext } from './mistaken-signer.ts';

export interface CommonMistake {
  readonly headers: readonly string[];
  readonly mistake: ReceiverMistake;
}

/** Maximum number of signatures to try for one scheme. Each costs a request to the receiver. */
const MOST_SIGNATURES = 280;

/** Yields the signatures that receivers with a common mistake compute, without duplicates, the likeliest first. */
export function* commonMistakes(body: Buffer, context: SigningContext): Generator<CommonMistake> {
  const signer = new MistakenSigner(body, context);
  // The right headers count as seen: a mistake that leads to the same headers has no effect on this body.
  const seen = new Set([signer.headers({}).join('\n')]);
  for (const [how, mistake] of allMistakes(signer)) {
    const headers = signer.headers(how);
    const key = headers.join('\n');
    if (seen.has(key)) continue;
    if (seen.size > MOST_SIGNATURES) return;
    seen.add(key);
    yield { headers, mistake };
  }
}

function* allMistakes(signer: MistakenSigner): Generator<ExplainedMistake> {
  const other = signer.context.scheme.hash === 'sha256' ? 'sha1' : 'sha256';
  const notations = [...otherNotations(signer)];
  const usual = notations.filter(([{ algorithm, prefix }]) => algorithm === other && prefix === '');
  yield* otherGivenSecrets(signer);
  yield* notations;
  yield* timeMistakes(signer);
  for (const cost of COSTS) {
    const likely = [...otherKeys(signer, cost), ...otherBytes(signer, cost)];
    yield* otherFrames(signer, cost);
    yield* otherConstructs(signer, cost);
    yield* likely;
    if (cost === 1) yield* pairs(usual, likely);
  }
}

function* pairs(
  notations: readonly ExplainedMistake[],
  others: readonly ExplainedMistake[],
): Generator<ExplainedMistake> {
  for (const [how, notation] of notations) {
    for (const [otherHow, other] of others) {
      const says = `${notation.says}, and ${other.says.replace('it ', '')}`;
      yield [
        { ...how, ...otherHow },
        { code: other.code, says, fix: `${other.fix}; and ${notation.fix}` },
      ];
    }
  }
}

function* timeMistakes({ context: { scheme, fields } }: MistakenSigner): Generator<ExplainedMistake> {
  if (!layoutOf(scheme).hasTimestamp || scheme.tolerance === undefined) return;
  yield [{ fields: { ...fields, timestamp: `${fields.timestamp}000` } }, MILLISECONDS];
}

function* otherGivenSecrets({ context }: MistakenSigner): Generator<ExplainedMistake> {
  const { scheme, secrets } = context;
  for (const secret of secrets.slice(1)) {
    const key = schemeKey(scheme, secret);
    if (key !== undefined) yield [{ key }, OLD_SECRET];
  }
}

function recipe(scheme: SignatureScheme): string {
  return scheme.name === DEFAULT_SCHEME
    ? "use HMAC-SHA1 in hex: createHmac('sha1', secret).update(body).digest('hex')"
    : verifyingFixes([scheme]);
}

const HASHES: readonly HmacAlgorithm[] = ['sha256', 'sha1', 'sha512', 'sha384', 'md5'];

/** Ways to write a digest, by name in a sentence. Hashes other than the scheme's are tried only in the first two. */
const NOTATIONS: Readonly<Record<string, (digest: Buffer) => string>> = {
  hex: (digest) => digest.toString('hex'),
  base64: (digest) => digest.toString('base64'),
  'upper-case hex': (digest) => digest.toString('hex').toUpperCase(),
  base64url: (digest) => digest.toString('base64url'),
  'base64 without the = at its end': (digest) => digest.toString('base64').replace(/=+$/, ''),
};

function* otherNotations({ context: { scheme } }: MistakenSigner): Generator<ExplainedMistake> {
  const { hash, encoding } = scheme;
  const [part, ...others] = layoutOf(scheme).signatureHeader.parts;
  const own = others.length === 0 ? (part?.text ?? '') : '';
  for (const algorithm of [hash, ...HASHES.filter((each) => each !== hash)]) {
    const isOwnHash = algorithm === hash;
    for (const [notation, write] of Object.entries(NOTATIONS).slice(0, isOwnHash ? undefined : 2)) {
      for (const prefix of new Set([own, '', `${algorithm}=`])) {
        const differences = [
          !isOwnHash && `an HMAC with ${hashName(algorithm)} instead of ${hashName(hash)}`,
          notation !== encoding && `the digest in ${notation} instead of ${encoding}`,
          prefix !== own && (prefix ? `${prefix} in front of the digest` : `the bare digest without ${own}`),
        ].filter((text) => text !== false);
        if (differences.length === 0) continue;
        const ofNotation = notation === 'base64' && encoding === 'hex' ? 'base64' : 'other-encoding';
        const code = isOwnHash ? ofNotation : otherHashCode(algorithm);
        const removal = prefix === '' && own !== '' ? `remove ${own} from the header before comparing; ` : '';
        const fix = removal + recipe(scheme);
        yield [
          { algorithm, write, prefix },
          { code, says: `it expects ${differences.join(' and ')}`, fix },
        ];
      }
    }
  }
}

/** Mistakes in the signed text around the body. Wrong ids and times are left out: receivers get both from headers. */
const RECEIVER_FRAMES: ReadonlySet<ReasonCode> = new Set(['other-template', 'timestamp-unit']);

function* otherFrames({ context, body }: MistakenSigner, cost: Cost): Generator<ExplainedMistake> {
  const { scheme, fields, url } = context;
  const { hasTimestamp, hasId } = layoutOf(scheme);
  const { host, pathname, search } = new URL(url);
  const target = { method: 'POST', path: pathname + search };
  const own = { id: hasId ? fields.id : '', timestamp: hasTimestamp ? fields.timestamp : '' };
  const frames = new FrameChanges(
    scheme,
    { headers: [['host', host]], body: new KeptBody(body), target },
    own,
  );
  for (const { code, would, frame } of frames.upTo(2).filter((each) => each.cost === cost)) {
    // Skips a text with a timestamp or an id that the scheme does not send, because a receiver cannot know the value.
    const isUnsent = (!hasTimestamp && would.includes('{timestamp}')) || (!hasId && would.includes('{id}'));
    if (isUnsent || !RECEIVER_FRAMES.has(code)) continue;
    const isBare = frame.before === '' && frame.after === '';
    const left = [...(hasId ? ['the id'] : []), ...(hasTimestamp ? ['the timestamp'] : [])].join(' and ');
    const says = isBare
      ? `it verifies the body alone, without ${left}`
      : `it verifies another text than ${scheme.signs === '{body}' ? 'the body' : scheme.signs}: it accepts what is signed ${would}`;
    yield [
      { frame },
      {
        code: isBare ? 'unsigned-fields' : code,
        says,
        fix: `${hasTimestamp || hasId ? '' : 'hash the body alone: '}${recipe(scheme)}`,
      },
    ];
  }
}

/** A deadline that never passes: sample bodies are small, and `hooks test` stops trying signatures after 10 s. */
const NEVER = new Deadline(Infinity, () => 0);

function* otherBytes({ body }: MistakenSigner, cost: Cost): Generator<ExplainedMistake> {
  const changes = [...bodyChangeLists(new BodyCandidate(body, true), cost, NEVER)].flat();
  for (const { code, would, value } of [...changes, ...bodyReplacements(cost)]) {
    const hashed = RESERIALIZED.has(code) ? 're-serialized JSON' : 'other bytes than the body';
    const says = `it hashes ${hashed}: it accepts what is signed ${would}`;
    const { bytes } = value.body;
    yield [{ bytes }, { code, says, fix: bytes.length === 0 ? EMPTY_BODY_FIX : RAW_BODY_FIX }];
  }
}

const RESERIALIZED: ReadonlySet<ReasonCode> = new Set([
  'python-json',
  'escaped-unicode',
  'escaped-slash',
  'reordered-keys',
  'pretty-printed',
]);

function* otherKeys({ context, key: own }: MistakenSigner, cost: Cost): Generator<ExplainedMistake> {
  const { scheme, secrets } = context;
  const [secret = ''] = secrets;
  const { secretPrefix = '' } = scheme;
  const decoding = `remove ${secretPrefix} from the secret, decode the rest from base64, and key the HMAC with those bytes`;
  const fix = scheme.secret === 'base64' ? decoding : KEY_FIX;
  if (cost === 1 && secret !== own) {
    yield [{ key: secret }, { code: 'misread-secret', says: TEXT_AS_KEY, fix }];
  }
  for (const { code, would, value: key } of secretChanges(secret, cost)) {
    const isDecoded = code === 'other-encoding' && fix === KEY_FIX;
    yield [{ key }, { code, says: `it accepts what is signed ${would}`, fix: isDecoded ? TEXT_FIX : fix }];
  }
  for (const { code, would, value: key } of otherSecrets({ secrets, otherSecrets: [], scheme }, cost)) {
    const decoded = key.length === 0 ? decodedKeyFix(secrets) : '';
    const says =
      typeof key === 'string' && isExampleSecret(key)
        ? `it accepts what is signed with "${key}", a secret of examples`
        : cost === 1
          ? `it accepts what is signed ${would}` // all given secrets joined into one text
          : `its secret is ${/^\*+$/.test(String(key)) ? 'masked' : 'not set'}${decoded && ', or decoded to nothing'}: it accepts what is signed ${would}, as anyone can`;
    yield [{ key }, { code, says, fix: KEY_FIX + decoded }];
  }
}

const TEXT_AS_KEY =
  'it accepts what is signed with the text of the secret as the key, which the scheme decodes from base64';

function* otherConstructs(signer: MistakenSigner, cost: Cost): Generator<ExplainedMistake> {
  const { context, key, frame, body } = signer;
  const { scheme, secrets } = context;
  const right = recipe(scheme).replace(/^use /, '');
  const fixes: Partial<Record<ReasonCode, string>> = {
    'plain-hash': `use an HMAC, keyed with the secret: ${right}`,
    'hashed-twice': `hash once, neither the body before the HMAC nor its digest again: ${right}`,
  };
  for (const algorithm of new Set([scheme.hash, 'sha256', 'sha1', 'md5'] as const)) {
    for (const { code, would, digest: digestOf } of CONSTRUCTS.filter((each) => each.cost === cost)) {
      const says = `it accepts what is signed ${would(hashName(algorithm))}`;
      const mistake = { code, says, fix: fixes[code] ?? right };
      const digest = digestOf({ algorithm, secret: secrets[0] ?? key, frame, body });
      yield [{ digest }, mistake];
    }
  }
}
