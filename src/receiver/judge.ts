import { verify } from '../signature/verify.ts';
import type { Judgement } from './received-request.ts';

const UNCHECKED: Judgement = { verdict: 'unchecked' };
const UNSIGNED: Judgement = { verdict: 'unsigned' };

/** The verdict on the signature of one request. */
export function judge(
  rawHeaders: readonly string[],
  body: Uint8Array,
  secrets: readonly string[],
): Judgement {
  if (secrets.length === 0) return UNCHECKED;
  const signatures = signaturesOf(rawHeaders);
  const [signature] = signatures;
  if (signature === undefined) return UNSIGNED;
  if (signatures.length > 1) return severalSignatures(signatures.length);
  const verification = verify({ body, signature, secrets });
  if (!verification.valid) return { verdict: 'invalid', diagnosis: verification.diagnosis };
  const { secret, note } = verification;
  return note === undefined ? { verdict: 'valid', secret } : { verdict: 'valid', secret, note };
}

/** From the raw headers, since Node's parsed ones join two X-Signature headers into one value. */
function signaturesOf(rawHeaders: readonly string[]): string[] {
  const found: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name, value] = [rawHeaders[index], rawHeaders[index + 1]];
    if (name?.length === 11 && name.toLowerCase() === 'x-signature' && value !== undefined) found.push(value);
  }
  return found;
}

/** A sender or a proxy that adds a second signature has it checked against neither: which one counts is anybody's guess. */
function severalSignatures(count: number): Judgement {
  const hint = `the request carries ${count} X-Signature headers; send exactly one`;
  return { verdict: 'invalid', diagnosis: { code: 'no-match', hint } };
}
