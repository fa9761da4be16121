import { BodyCandidate, bodyChangeLists, bodyReplacements } from '../signature/body/body-changes.ts';
import { COSTS, type Cost } from '../signature/change.ts';
import { CONSTRUCTS, hashName, otherHashCode } from '../signature/constructs.ts';
import { KeptBody } from '../../signature/body/kept-body.ts';
import { Deadline } from '../../signature/deadline.ts';
import { FrameChanges } from '../signature/frames.ts';
import type { ReasonCode } from '../../signature/reasons.ts';
import { otherSecrets, undecoded } from '../signature/other-secrets.ts';
import { secretChanges } from '../signature/secret-changes.ts';
import type { HmacAlgorithm } from '../../signature/hmac.ts';
import { layoutOf } from '../../signature/schemes/layout.ts';
import { schemeKey } from '../../signature/schemes/secrets.ts';
import type { ReceiverMistake } from '../../check/check.ts';
import { verifyingFixes } from '../../check/scheme-checks.ts';
import { frameOf, MistakenSigner, type ExplainedMistake, type SigningContext } from './mistaken-signer.ts';

export interface CommonMistake {
  readonly headers: readonly string[];
  readonly mistake: ReceiverMistake;
}

/** The mistake of a receiver that has one of the given secrets, but not the first one, which signs the requests. */
export const OLD_SECRET: ReceiverMistake = {
  code: 'old-secret',
  says: 'it does not hold the first of the secrets given here, which signs, but another of them: it has only the old one',
  fix: 'give the receiver the new secret besides the old one and let it accept both, before any sender signs with the new one',
};
const KEY_FIX =
  'give the receiver exactly the secret that the sender has, without white space or quotes around it, and do not let it start without one';
const BODY_FIX =
  'hash the bytes of the body as received, before any parser, and read them once: express.raw({ type: "*/*" }), request.get_data(), io.ReadAll(r.Body), request.raw_post, or Buffer.concat of the chunks';

/** Maximum number of signatures to try for one scheme. Each costs a request to the receiver. */
const MOST_SIGNATURES = 340;

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
  const notations = [...otherNotations(signer)];
  yield* otherGivenSecrets(signer);
  yield* notations;
  yield* otherTimes(signer);
  for (const cost of COSTS) {
    yield* otherFrames(signer, cost);
    yield* otherConstructs(signer, cost);
    yield* otherKeys(signer, cost);
    yield* otherBytes(signer, cost);
    if (cost === 2) yield* combined(signer, notations, [...otherKeys(signer, 1), ...otherBytes(signer, 1)]);
  }
}

/** Combines base64, and the other usual hash (SHA-1 or SHA-256), with each likely mistake in the secret or the body. */
function* combined({ context: { scheme } }: MistakenSigner, ...lists: readonly ExplainedMistake[][]) {
  const [notations = [], others = []] = lists;
  const usual = notations.filter(([{ algorithm, write, prefix }]) => {
    const isSha = algorithm === (scheme.hash === 'sha256' ? 'sha1' : 'sha256');
    return prefix === '' && (isSha || (algorithm === scheme.hash && write === NOTATIONS['base64']));
  });
  for (const [how, notation] of usual) {
    for (const [otherHow, { code, says, fix }] of others) {
      const both = `${notation.says}, and ${says.replace('it ', '')}`;
      const mistake = { code, says: both, fix: `${fix}; and ${notation.fix}` };
      yield [{ ...how, ...otherHow }, mistake] as const;
    }
  }
}

function* otherGivenSecrets({ context }: MistakenSigner): Generator<ExplainedMistake> {
  const { scheme, secrets } = context;
  for (const secret of secrets.slice(1)) {
    const key = schemeKey(scheme, secret);
    if (key !== undefined) yield [{ key }, OLD_SECRET];
  }
}

/** Yields timestamps that a receiver with a wrong clock accepts, or one that takes seconds for milliseconds. */
function* otherTimes({ context: { scheme, fields } }: MistakenSigner): Generator<ExplainedMistake> {
  if (!layoutOf(scheme).hasTimestamp) return;
  const inMs = ['timestamp-unit', String(Date.now()), 'in milliseconds'] as const;
  // Local time differs from UTC by -12 to 14 hours, in some places by half an hour more.
  const atHours = Array.from({ length: 53 }, (_, index) => {
    const hours = index / 2 - 12;
    const what = `that is ${Math.abs(hours)} h ${hours < 0 ? 'behind' : 'ahead'}`;
    return ['other-timestamp', String(Number(fields.timestamp) + hours * 3_600), what] as const;
  });
  for (const [code, timestamp, what] of [inMs, ...atHours]) {
    yield [
      { timestamp, frame: frameOf(scheme, { ...fields, timestamp }) },
      { code, says: `it accepts only a timestamp ${what}`, fix: SAME_CLOCK },
    ];
  }
}

const SAME_CLOCK =
  'compare the timestamp with the present time in seconds, in UTC (Math.floor(Date.now() / 1000); time.time(), not datetime.utcnow().timestamp()), and set the clock of the machine';

const HASHES: readonly HmacAlgorithm[] = ['sha256', 'sha1', 'sha512', 'sha384', 'md5'];

/** Ways to write a digest, keyed by their names in messages. Hashes other than the scheme's use only the first two. */
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
        const fix = removal + verifyingFixes([scheme]);
        yield [
          { algorithm, write, prefix },
          { code, says: `it expects ${differences.join(' and ')}`, fix },
        ];
      }
    }
  }
}

/** Codes of mistakes in the signed text. Excludes wrong ids and times, because receivers get both from headers. */
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
    const text = scheme.signs === '{body}' ? 'the body' : scheme.signs;
    const says = `it verifies another text than ${text}: it accepts what is signed ${would}`;
    yield [{ frame }, { code, says, fix: verifyingFixes([scheme]) }];
  }
}

/** A deadline that never passes: sample bodies are small, and `hooks test` limits the time. */
const NEVER = new Deadline(Infinity, () => 0);

function* otherBytes({ body }: MistakenSigner, cost: Cost): Generator<ExplainedMistake> {
  const changes = [...bodyChangeLists(new BodyCandidate(body, true), cost, NEVER)].flat();
  for (const { code, would, value } of [...changes, ...bodyReplacements(cost)]) {
    const isJson = /^(?:python|escaped|reordered|pretty)-/.test(code);
    const hashed = isJson ? 're-serialized JSON' : 'other bytes than the body';
    const says = `it hashes ${hashed}: it accepts what is signed ${would}`;
    yield [{ bytes: value.body.bytes }, { code, says, fix: BODY_FIX }];
  }
}

function* otherKeys({ context }: MistakenSigner, cost: Cost): Generator<ExplainedMistake> {
  const { scheme, secrets } = context;
  const [secret = ''] = secrets;
  const asText = scheme.secret === 'base64' && cost === 1 ? undecoded(secret, scheme) : [];
  const changes = [
    ...asText,
    ...secretChanges(secret, cost),
    ...otherSecrets({ secrets, otherSecrets: [], scheme }, cost),
  ];
  for (const { code, would, value: key, fix = KEY_FIX } of changes) {
    const says = `it accepts what is signed ${would}`;
    yield [{ key }, { code, says, fix: fix.replace(/^./, (letter) => letter.toLowerCase()) }];
  }
}

function* otherConstructs(
  { context, key, frame, body }: MistakenSigner,
  cost: Cost,
): Generator<ExplainedMistake> {
  const { scheme, secrets } = context;
  const fix = `hash once, with an HMAC that is keyed with the secret: ${verifyingFixes([scheme])}`;
  for (const algorithm of new Set([scheme.hash, 'sha256', 'sha1', 'md5'] as const)) {
    for (const { code, would, digest: digestOf } of CONSTRUCTS.filter((each) => each.cost === cost)) {
      const says = `it accepts what is signed ${would(hashName(algorithm))}`;
      const digest = digestOf({ algorithm, secret: secrets[0] ?? key, frame, body });
      yield [{ digest: Buffer.from(digest, 'binary') }, { code, says, fix }];
    }
  }
}
