import type { HeaderPair } from '../../../capture/capture.ts';
import { SignatureError } from '../../../errors.ts';
import type { Envelope } from '../../../capture/envelopes.ts';
import { detectSchemes } from '../../../signature/schemes/detect-schemes.ts';
import { DEFAULT_SCHEMES } from '../../../signature/schemes/find-schemes.ts';
import { headerList } from '../../../signature/schemes/header-list.ts';
import { signatureHeaderNames } from '../../../signature/schemes/layout.ts';
import { signatureHeadersText } from '../../../signature/signature-headers.ts';
import { SignatureVerifier } from '../../../signature/signature-verifier.ts';
import type { SignedInput } from '../../flags/signature/signed-input.ts';
import type { Verification } from './verification.ts';

/** Prints the digest of the body, so that users can compare it, and returns the error that no signature was given. */
export function noSignature(
  { digest: signature, bytes, seems, request, envelope }: SignedInput,
  { flags, schemes = DEFAULT_SCHEMES, secrets, context: { io }, showsDigest = false }: Verification,
): SignatureError {
  const isShown = showsDigest && schemes.every((scheme) => DEFAULT_SCHEMES.includes(scheme));
  // A pipe gets the digest alone, which scripts compare.
  const label = io.stdoutIsTty ? 'signature expected with this secret:\n' : '';
  if (isShown && flags.output === 'json') io.out(`${JSON.stringify({ signature, bytes })}\n`);
  else if (isShown) io.out(`${label}${signature}\n`);
  if (isShown && label === '' && flags.quiet !== true) {
    io.note('note: standard output has the signature expected with this secret');
  }
  const names = signatureHeaderNames(schemes);
  const headers =
    request === undefined
      ? undefined
      : signatureHeadersText(
          request.headers.map(([name]) => name),
          { wanted: names, alike: request.headers.filter(isLikeDigest).map(([name]) => name) },
        );
  const other = request && otherScheme(request, secrets);
  const also =
    other === undefined
      ? ''
      : `, which ${other.isRight ? 'is right' : 'is wrong, too,'} by the scheme ${other.name}`;
  const why = headers === undefined ? envelope && `the input is ${envelope.what}` : `${headers}${also}`;
  return new SignatureError(`There is no signature to compare with${why === undefined ? '' : `: ${why}`}`, {
    reason: 'missing',
    hint: envelope === undefined ? missingHint({ names, seems, other: other?.name }) : envelopeHint(envelope),
  });
}

function envelopeHint({ jq, fix }: Envelope): string {
  if (jq === undefined) return `${fix}, with --signature HEX`;
  const [body, signature] = jq;
  return `take both out of it: jq -j '${body}' FILE | hooks verify --signature "$(jq -r '${signature}' FILE)"`;
}

/** Whether a header looks like an X-Signature: 40 hex digits, but not a request id or a commit. */
function isLikeDigest([name, value]: HeaderPair): boolean {
  return /^(?:[\w-]+[ =])?[0-9a-f]{40}$/i.test(value.trim()) && !/request|trace|commit|etag/i.test(name);
}

function missingHint({
  names,
  seems,
  other,
}: Pick<SignedInput, 'seems'> & { readonly names: string; readonly other: string | undefined }): string {
  if (other !== undefined) return `verify it with --scheme ${other}, or leave out --scheme`;
  const header = names.split(' and ')[0] ?? names;
  return seems === undefined
    ? `give --signature HEX or HOOKS_SIGNATURE, the headers (-H '${header}: …'), or a capture or raw HTTP request that has ${names.startsWith('X-') ? 'an' : 'a'} ${names} header`
    : `add --format ${seems}: an input of more than 8 MiB is taken for the body itself`;
}

/** Finds a scheme whose signature the request has instead of the expected one, and whether that signature is valid. */
function otherScheme(
  { headers: pairs, body, at }: NonNullable<SignedInput['request']>,
  secrets: readonly string[],
): { readonly name: string; readonly isRight: boolean } | undefined {
  const headers = headerList(pairs);
  const [scheme] = detectSchemes(headers, { own: [], secrets });
  if (scheme === undefined || body.length === 0) return undefined;
  const { valid } = new SignatureVerifier({ headers, scheme, at, secrets }).update(body).verdict();
  return { name: scheme.name, isRight: valid };
}
