import { createHash } from 'node:crypto';
import { ConfigError } from '../../errors.ts';
import { isSecretHeader, MASK } from '../../redact.ts';
import { receivedSignature } from '../../signature/received-signature.ts';
import { detectSchemes } from '../../signature/schemes/detect-schemes.ts';
import { headerList, headerValues } from '../../signature/schemes/header-list.ts';
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
  const body = redactBody(request.body, { type, coding: valueOf('content-encoding').trim() }, redaction);
  const redacted = headers
    .filter((header) => !isOfSignature(header) && !OF_THE_OLD_BODY.test(header[0]))
    .map((header) => redactHeader(header, body, redaction));
  const signed = signAgain({ headers, body, at }, redaction, signing);
  for (const [name] of headers.filter(isOfSignature)) {
    const isMadeAgain = signed.some(([other]) => other.toLowerCase() === name.toLowerCase());
    if (!isMadeAgain) redaction.tally.count('signature');
  }
  const wasAt = headers.findIndex(isOfSignature);
  const before = headers.slice(0, wasAt).filter(([name]) => !OF_THE_OLD_BODY.test(name)).length;
  return {
    method: redaction.text(method),
    url: redaction.url(url),
    headers: wasAt === -1 ? redacted : redacted.toSpliced(before, 0, ...signed),
    body,
    at,
    ...(verdict !== undefined && { verdict: signed.length > 0 ? 'valid' : 'unsigned' }),
  };
}

function isOfSignature(header: HeaderPair): boolean {
  const [name] = header;
  // Asks for each header together with a signature, because a timestamp counts only beside one.
  return (
    receivedSignature([
      [name, 'any'],
      ['x-signature', 'any'],
    ])?.headers.length === 4
  );
}

function redactHeader([name, value]: HeaderPair, body: Uint8Array, redaction: Redaction): HeaderPair {
  if (/^content-length$/i.test(name)) return [name, String(body.length)];
  const [shownName, shown] = [redaction.text(name), maskedHeader([name, value])[1]];
  if (isSecretHeader(name)) {
    if (value !== MASK) redaction.tally.count('token');
    return [shownName, shown];
  }
  return [shownName, redaction.header(name, shown)];
}

/** The signature headers of the new body, by the schemes of the old ones. */
function signAgain(
  { headers, body, at }: Pick<ImportedRequest, 'headers' | 'body' | 'at'>,
  redaction: Redaction,
  { ownSchemes, secrets, now }: SigningAgain,
): readonly HeaderPair[] {
  const list = headerList(headers);
  const given = secrets ?? [FIXTURE_SECRET, FIXTURE_BASE64_SECRET];
  const schemes = detectSchemes(list, { own: ownSchemes, secrets: given });
  const id = redaction.text(headerValues(list, 'webhook-id')[0] ?? '') || 'msg_redacted';
  try {
    return schemes.flatMap((scheme) => {
      const usable = secrets ?? [scheme.secret === 'base64' ? FIXTURE_BASE64_SECRET : FIXTURE_SECRET];
      const signed = new Signer([scheme], usable).sign(body, signedFields(id, at ?? now)).headers;
      return signed.flatMap((name, index): HeaderPair[] =>
        index % 2 === 0 ? [[name, signed[index + 1] ?? '']] : [],
      );
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new RequestRejection(error.message);
  }
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
