import type { HeaderPair } from '../../../capture/capture.ts';
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

/** What `hooks verify` verifies with. */
export interface Verification {
  readonly flags: VerifyFlags;
  readonly secrets: readonly string[];
  /** The schemes that are named; undefined: those whose headers came. */
  readonly schemes: readonly SignatureScheme[] | undefined;
  /** The headers of flags. */
  readonly headers: readonly HeaderPair[];
  readonly context: CommandContext;
}

/** Throws ConfigError for a scheme that can use none of the secrets. */
export async function verificationOf(flags: VerifyFlags, context: CommandContext): Promise<Verification> {
  const secrets = await requiredSecrets(flags, 'verify', context.io);
  const schemes = await readSchemeFlag(flags, context.io);
  if (schemes !== undefined) rejectUnusableSchemes(schemes, secrets);
  return { flags, secrets, schemes, headers: headerPairs(flags.header ?? []), context };
}

/** What hooks sign prints may be given as a whole: each line is a header. */
function headerPairs(lines: readonly string[]): readonly HeaderPair[] {
  const each = lines.flatMap((text) => text.split(/\r?\n/)).filter((line) => line.trim() !== '');
  return each.flatMap((line) => Object.entries(headersOf([line])));
}

interface PresentedHeaders {
  readonly headers: readonly HeaderPair[];
  /** From outside. */
  readonly signature: string | undefined;
  readonly at?: number | undefined;
}

/** What is verified. */
export interface PresentedRequest {
  readonly options: VerifyOptions;
  /** What the request lacks, where its headers tell the scheme. */
  readonly warning: string | undefined;
}

/** A verdict as it is printed: a mismatch with both signatures, for the person who runs the command. */
export type PrintedVerdict = VerifyResult & {
  readonly expected?: string;
  readonly got?: string;
  /** What a valid request lacks. */
  readonly warning?: string;
};

/** What is verified; undefined when no signature of the schemes came. */
export async function presentedRequest(
  { headers: pairs, signature: given, at }: PresentedHeaders,
  { flags, secrets, schemes, context }: Verification,
): Promise<PresentedRequest | undefined> {
  const own = schemes === undefined ? await detectableSchemes(flags, context.io) : [];
  const line = given === undefined || schemes !== undefined ? undefined : signatureLine(given, own);
  const headers = headerList(line === undefined ? pairs : [...pairs, line]);
  const signature = line === undefined ? given : undefined;
  // A bare value is of the default scheme.
  const meant =
    schemes ?? (signature === undefined ? detectSchemes(headers, { own, secrets }) : DEFAULT_SCHEMES);
  const came = meant.some(
    (scheme) => headerValues(headers, layoutOf(scheme).signatureHeader.lowerName).length > 0,
  );
  if (signature === undefined && !came) return undefined;
  const { exact = false, ignoreTimestamp = false } = flags;
  return {
    options: { signature, headers, scheme: meant, at, ignoreTimestamp, secrets, exact, diagnose: true },
    warning: schemes === undefined ? missingSignature(headers, own) : undefined,
  };
}

/** A signature that is given as the whole header of a scheme besides the default one. */
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
