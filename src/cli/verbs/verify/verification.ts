import type { HeaderPair } from '../../../capture/capture.ts';
import type { RequestTarget } from '../../../signature/evidence.ts';
import { prefixWarning } from '../../../signature/lenient-signature.ts';
import { BUILT_IN_SCHEMES } from '../../../signature/schemes/built-in.ts';
import { detectSchemes, missingSignature } from '../../../signature/schemes/detect-schemes.ts';
import { DEFAULT_SCHEMES } from '../../../signature/schemes/find-schemes.ts';
import { headerList, headerValues } from '../../../signature/schemes/header-list.ts';
import { layoutOf } from '../../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
import { rejectUnusableSchemes } from '../../../signature/schemes/secrets.ts';
import type { VerifyOptions, VerifyResult } from '../../../signature/verify-options.ts';
import type { CommandContext, GlobalOptions } from '../../command.ts';
import { headersOf } from '../../flags/header-lines.ts';
import { detectableSchemes, readSchemeFlag, type SchemeFlags } from '../../flags/signature/scheme-flags.ts';
import { requiredSecrets, type SecretFlags } from '../../flags/signature/secret-flags.ts';

export type VerifyFormat = 'raw' | 'capture' | 'http';

/** The flags of `hooks verify`, as typed. */
export interface VerifyFlags extends SecretFlags, SchemeFlags, GlobalOptions {
  readonly header?: readonly string[];
  readonly ignoreTimestamp?: true;
  readonly signature?: string;
  readonly format?: VerifyFormat;
  readonly exact?: true;
}

/** The secrets, schemes and headers that `hooks verify` verifies with. */
export interface Verification {
  readonly flags: VerifyFlags;
  readonly secrets: readonly string[];
  /** The schemes of --scheme. If undefined, the headers of the request select the schemes. */
  readonly schemes: readonly SignatureScheme[] | undefined;
  /** The headers of the request that -H gives. */
  readonly headers: readonly HeaderPair[];
  readonly context: CommandContext;
  /** Whether to print the digest of a body without a signature: of one file, not of several. */
  readonly showsDigest?: boolean;
}

/** Reads the flags. Throws ConfigError if a scheme can use none of the secrets. */
export async function verificationOf(flags: VerifyFlags, context: CommandContext): Promise<Verification> {
  const secrets = await requiredSecrets(flags, 'verify', context.io);
  const schemes = await readSchemeFlag(flags, context.io);
  if (schemes !== undefined) rejectUnusableSchemes(schemes, secrets);
  return { flags, secrets, schemes, headers: (flags.header ?? []).flatMap(headerPairs), context };
}

/** Parses a value of -H, which may have several lines, such as the output of hooks sign. */
function headerPairs(value: string): readonly HeaderPair[] {
  const lines = value.split(/\r?\n/).filter((line) => line.trim() !== '');
  return lines.flatMap((line) => Object.entries(headersOf([line])));
}

interface PresentedHeaders {
  readonly headers: readonly HeaderPair[];
  /** The value of --signature or HOOKS_SIGNATURE. */
  readonly signature: string | undefined;
  readonly at?: number | undefined;
  readonly target?: RequestTarget | undefined;
}

/** Options to verify a request that has a signature. */
export interface PresentedRequest {
  readonly options: VerifyOptions;
  /** Warning about an unusual prefix, or (without --scheme) about a missing signature that other headers suggest. */
  readonly warning: string | undefined;
}

/** A verdict as printed. A mismatch has both signatures, which only the user of the command may see. */
export type PrintedVerdict = VerifyResult & {
  readonly expected?: string;
  readonly got?: string;
  /** Warning about an unusual prefix, or about a signature that a valid request lacks although its headers suggest one. */
  readonly warning?: string;
};

/** Prepares the verification of a request. Undefined if the request has no signature of the schemes. */
export async function presentedRequest(
  { headers: pairs, signature: given, at, target }: PresentedHeaders,
  { flags, secrets, schemes, context }: Verification,
): Promise<PresentedRequest | undefined> {
  const own = schemes === undefined ? await detectableSchemes(flags, context.io) : [];
  const line = given === undefined || schemes !== undefined ? undefined : signatureLine(given, own);
  const headers = headerList(line === undefined ? pairs : [...pairs, line]);
  const signature = line === undefined ? given : undefined;
  // Without --scheme, a signature that is given without a header name belongs to the default scheme.
  const meant =
    schemes ?? (signature === undefined ? detectSchemes(headers, { own, secrets }) : DEFAULT_SCHEMES);
  const [shown] = meant.flatMap((scheme) =>
    headerValues(headers, layoutOf(scheme).signatureHeader.lowerName),
  );
  if (signature === undefined && shown === undefined) return undefined;
  const { exact = false, ignoreTimestamp = false } = flags;
  return {
    options: {
      signature,
      headers,
      scheme: meant,
      at,
      ignoreTimestamp,
      secrets,
      exact,
      target,
      diagnose: true,
    },
    warning:
      (schemes === undefined ? missingSignature(headers, own) : undefined) ??
      (meant.length === 1 && meant[0]?.isLenient === true ? prefixWarning(signature ?? shown) : undefined),
  };
}

/** Parses a signature that is given as a whole header of a scheme other than the default. */
function signatureLine(given: string, own: readonly SignatureScheme[]): HeaderPair | undefined {
  const [, name = '', value = ''] = /^([^\s:]+)\s*:\s*(.*)$/s.exec(given.trim()) ?? [];
  const isKnown = [...BUILT_IN_SCHEMES, ...own].some(
    (scheme) =>
      !DEFAULT_SCHEMES.includes(scheme) &&
      scheme.covers !== 'first' &&
      layoutOf(scheme).signatureHeader.lowerName === name.toLowerCase(),
  );
  return isKnown ? [name, value] : undefined;
}
