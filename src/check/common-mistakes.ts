import { createHmac } from 'node:crypto';
import type { BodyVariant } from '../signature/diagnosis/body/body-variant.ts';
import { bodyVariants } from '../signature/diagnosis/body/body-variants.ts';
import { Deadline } from '../signature/diagnosis/deadline.ts';
import { KeptBody } from '../signature/diagnosis/body/kept-body.ts';
import type { ReasonCode } from '../signature/diagnosis/reasons.ts';
import { isExampleSecret, otherSecrets, secretVariants } from '../signature/diagnosis/secret-variants.ts';
import { sign } from '../signature/sign.ts';
import type { Fault } from './check.ts';

/** A wrong signature, and the fault of a receiver that accepts it. */
export interface CommonMistake {
  readonly signature: string;
  readonly fault: Fault;
}

/** The signatures of a body that receivers compute by common mistakes, the likeliest first; each signature once. */
export function* commonMistakes(body: Buffer, secret: string): Generator<CommonMistake> {
  const seen = new Set([sign(body, secret)]);
  for (const mistake of allCommonMistakes(body, secret)) {
    if (seen.has(mistake.signature)) continue;
    seen.add(mistake.signature);
    yield mistake;
  }
}

/** Sample bodies are small, and the run has another deadline. */
const NEVER = new Deadline(Infinity);

function* allCommonMistakes(body: Buffer, secret: string): Generator<CommonMistake> {
  yield* otherDigests(body, secret);
  for (const variant of bodyVariants(new KeptBody(body), NEVER)) {
    yield { signature: digestOf(variant, secret), fault: overOtherBytes(variant) };
  }
  for (const { code, would, key } of secretVariants(secret)) {
    yield {
      signature: digestOf({ bytes: body }, key),
      fault: { code, says: `it accepts what is signed ${would}`, ...KEY },
    };
  }
  for (const { code, would, key } of otherSecrets([])) {
    const says =
      typeof key === 'string' && isExampleSecret(key)
        ? `it accepts what is signed with "${key}", a secret of examples`
        : `its secret is not set: it accepts what is signed ${would.replace(/:.*$/s, '')}, as anyone can`;
    yield { signature: digestOf({ bytes: body }, key), fault: { code, says, ...KEY } };
  }
}

const KEY = {
  fix: 'give the receiver exactly the secret that the sender has, without white space or quotes around it, and do not let it start without one',
};

const HASH = {
  fix: "use HMAC-SHA1 in hex: createHmac('sha1', secret).update(body).digest('hex')",
};

function* otherDigests(body: Buffer, secret: string): Generator<CommonMistake> {
  const hmac = (algorithm: string, encoding: 'hex' | 'base64'): string =>
    createHmac(algorithm, secret).update(body).digest(encoding);
  const algorithms = [
    ['sha256', 'SHA-256'],
    ['sha512', 'SHA-512'],
    ['md5', 'MD5'],
  ] as const;
  for (const [code, name] of algorithms) {
    const fault = { code, says: `it verifies an HMAC with ${name} instead of SHA-1`, ...HASH };
    yield { signature: hmac(code, 'hex'), fault };
    yield { signature: `${code}=${hmac(code, 'hex')}`, fault };
    yield { signature: hmac(code, 'base64'), fault };
  }
  const base64 = { code: 'base64', says: 'it expects the digest in base64 instead of hex', ...HASH };
  yield { signature: hmac('sha1', 'base64'), fault: base64 };
  const prefix = { code: 'prefix', says: 'it expects sha1= in front of the digest', ...HASH };
  yield { signature: `sha1=${hmac('sha1', 'hex')}`, fault: prefix };
  const upper = { code: 'upper-case', says: 'it expects the digest in upper-case hex', ...HASH };
  yield { signature: hmac('sha1', 'hex').toUpperCase(), fault: upper };
}

/** Mistakes that come from parsing the JSON and writing it again. */
const RESERIALISED: ReadonlySet<ReasonCode> = new Set([
  'python-json',
  'escaped-unicode',
  'escaped-slash',
  'reordered-keys',
  'pretty-printed',
]);

const RAW_BYTES =
  'hash the bytes of the body as received, before any parser: express.raw(), request.get_data(), io.ReadAll(r.Body), request.raw_post';

function overOtherBytes({ code, would }: BodyVariant): Fault {
  const what = RESERIALISED.has(code)
    ? 'it hashes re-serialized JSON'
    : 'it hashes other bytes than the body';
  return { code, says: `${what}: it accepts what is signed ${would}`, fix: RAW_BYTES };
}

/** Computes a signature; also with the empty key of a receiver whose secret is not set, which `sign` rejects. */
function digestOf({ bytes }: Pick<BodyVariant, 'bytes'>, secret: string | Uint8Array): string {
  const hmac = createHmac('sha1', secret);
  if (typeof bytes === 'function') bytes((piece) => Boolean(hmac.update(piece)));
  else hmac.update(bytes);
  return hmac.digest('hex');
}
