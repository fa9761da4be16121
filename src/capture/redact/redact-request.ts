import { createHash } from 'node:crypto';
import { ConfigError } from '../../errors.ts';
import { isSecretHeader, MASK } from '../../redact.ts';
import { isSignatureHeader } from '../../signature/signature-headers.ts';
import { detectSchemes } from '../../signature/schemes/detect-schemes.ts';
import {
  headerList,
  headerValues,
  receivedName,
  type HeaderList,
} from '../../signature/schemes/header-list.ts';
import { presentedSignature } from '../../signature/schemes/presented-signature.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import { signedFields, Signer } from '../../signature/schemes/signer.ts';
import type { HeaderPair } from '../capture.ts';
import { RequestRejection, type ImportedRequest } from '../import/imported.ts';
import { maskedHeader } from '../to-capture.ts';
import { redactBody } from './redact-body.ts';
import type { Redaction } from './redaction.ts';

/** The secrets of the fixtures, which are public: one as text, and one in base64 for schemes that need it. */
export const FIXTURE_SECRET = 'hooks-fixture-secret';
export const FIXTURE_BASE64_SECRET = `whsec_${Buffer.from('hooks-fixture-secret-32-bytes-ok').toString('base64')}`;

interface SigningAgain {
  /** Custom schemes to recognize besides the built-in ones. */
  readonly ownSchemes: readonly SignatureScheme[];
  /** Undefined for the secrets of the fixtures. */
  readonly secrets: readonly string[] | undefined;
  /** Time of the signature for a request without its own. Ms since the epoch. */
  readonly now: number;
}

/** Headers about the bytes of the body, which change. A digest of the old body would let others try values. */
const OF_THE_OLD_BODY = /^(?:content-md5|etag|x-amz-content-sha256|x-content-sha\d*)$/i;

/** Headers with the name of the event: `X-Shopify-Topic: customers/update`. */
const OF_THE_EVENT = /-(?:topic|event(?:-?(?:name|type|key))?)$/i;

/**
 * Redacts a request and signs it again by the schemes of its signature headers. Throws RequestRejection if personal data could
 * remain, or if no secret fits a scheme.
 */
export function redactRequest(
  request: ImportedRequest,
  redaction: Redaction,
  signing: SigningAgain,
): ImportedRequest {
  const { method, url, headers, at, verdict } = request;
  const valueOf = (name: string): string => headerValues(headerList(headers), name)[0]?.toLowerCase() ?? '';
  const type = valueOf('content-type').split(';', 1)[0]?.trim() ?? '';
  redaction.topic = headers.find(([name]) => OF_THE_EVENT.test(name))?.[1];
  const body = redactBody(request.body, { type, coding: valueOf('content-encoding').trim() }, redaction);
  const signed = signAgain({ headers, body, at }, redaction, signing);
  const isMadeAgain = ([name]: HeaderPair): boolean =>
    signed.some(([other]) => other.toLowerCase() === name.toLowerCase());
  const rest = headers.filter((header) => !isMadeAgain(header) && !OF_THE_OLD_BODY.test(header[0]));
  const redacted = rest.map((header) => redactHeader(header, body, redaction));
  const wasAt = headers.findIndex(isMadeAgain);
  const before = rest.filter((header) => headers.indexOf(header) < wasAt).length;
  return {
    method: redaction.text(method),
    url: redaction.url(url),
    headers: wasAt === -1 ? redacted : redacted.toSpliced(before, 0, ...signed),
    body,
    at,
    ...(verdict !== undefined && { verdict: signed.length > 0 ? 'valid' : 'unsigned' }),
  };
}

function redactHeader([name, value]: HeaderPair, body: Uint8Array, redaction: Redaction): HeaderPair {
  if (/^content-length$/i.test(name)) return [name, String(body.length)];
  if (isSecretHeader(name) || isSignatureHeader(name)) {
    if (value !== MASK) redaction.tally.count(isSecretHeader(name) ? 'token' : 'signature');
    return [name, MASK];
  }
  return [name, redaction.header(name, maskedHeader([name, value])[1])];
}

/** The signature headers of the new body, by the schemes of the old ones. */
function signAgain(
  { headers, body, at }: Pick<ImportedRequest, 'headers' | 'body' | 'at'>,
  redaction: Redaction,
  { ownSchemes, secrets, now }: SigningAgain,
): readonly HeaderPair[] {
  const list = headerList(headers);
  const given = secrets ?? [FIXTURE_SECRET, FIXTURE_BASE64_SECRET];
  const schemes = detectSchemes(list, { own: ownSchemes, secrets: given }).filter((scheme) =>
    hasItsDigest(scheme, list),
  );
  const id = redaction.text(headerValues(list, 'webhook-id')[0] ?? '') || 'msg_redacted';
  try {
    return schemes.flatMap((scheme) => {
      const usable = secrets ?? [scheme.secret === 'base64' ? FIXTURE_BASE64_SECRET : FIXTURE_SECRET];
      const signed = new Signer([scheme], usable).sign(body, signedFields(id, at ?? now)).headers;
      return signed.flatMap((name, index): HeaderPair[] =>
        index % 2 === 0 ? [[receivedName(list, name), signed[index + 1] ?? '']] : [],
      );
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // The scheme comes from the headers of the request, and not from an option.
    throw new RequestRejection(error.message.replace(/ \(scheme\)$/, ''));
  }
}

/** Whether a signature has the length of a digest of the scheme. Another one is of a product that signs in another way. */
function hasItsDigest(scheme: SignatureScheme, list: HeaderList): boolean {
  const length = createHash(scheme.hash).digest(scheme.encoding).length;
  const { signatures = [] } = presentedSignature(scheme, list) ?? {};
  return signatures.some((each) => each.replace(/^sha1=/, '').length === length);
}

/** Identifies the content of a redacted capture, so that --check recognizes it until it is edited. */
export function contentDigest({
  method,
  url,
  headers,
  body,
}: Pick<ImportedRequest, 'method' | 'url' | 'headers' | 'body'>): string {
  return createHash('sha256')
    .update(JSON.stringify([method, url, headers]))
    .update(body)
    .digest('hex');
}
