import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';
import { nearHint } from '../suggest.ts';
import { bytesChecks, PARTS_CHECK, severalSignaturesChecks } from './bytes-checks.ts';
import type { Check } from './check.ts';
import { FORGERY_CHECKS } from './forgery-checks.ts';
import { DEFAULT_SCHEMES } from '../signature/schemes/find-schemes.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import { MESSAGE_CHECKS } from './message-checks.ts';
import { schemeChecks } from './scheme-checks.ts';
import { PACE_CHECKS, UNSEEN_CHECKS, CONNECTION_CHECKS } from './connection-checks.ts';

/** All checks in the order in which they run. If one of the first checks fails, the others may not be sent. */
export const CHECKS: readonly Check[] = checksWith(DEFAULT_SCHEMES, FORGERY_CHECKS);

/** Returns the checks of a receiver that verifies by these schemes. Undefined stands for the default scheme. */
export function checksFor(schemes: readonly SignatureScheme[] | undefined): readonly Check[] {
  if (schemes === undefined) return CHECKS;
  return checksWith(schemes, [...severalSignaturesChecks(schemes), ...schemeChecks(schemes)]);
}

function checksWith(schemes: readonly SignatureScheme[], ofSignatures: readonly Check[]): readonly Check[] {
  const ofMessages = [...CONNECTION_CHECKS, ...MESSAGE_CHECKS, PARTS_CHECK, ...bytesChecks(schemes)];
  return [...ofMessages, ...ofSignatures, ...PACE_CHECKS, ...UNSEEN_CHECKS];
}

export interface CheckSelection {
  /** Codes of checks to run; empty for all. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
}

/** Selects checks, and keeps their order. Throws ConfigError for an unknown code, or if no check is left. */
export function selectChecks(selection: CheckSelection, all: readonly Check[] = CHECKS): readonly Check[] {
  const codes = selectCodes(
    selection,
    all.map(({ code }) => code),
  );
  return all.filter(({ code }) => codes.includes(code));
}

/** Selects codes, and keeps their order. Throws ConfigError for an unknown code, or if none is left. */
export function selectCodes<Code extends string>(
  { only, skip }: CheckSelection,
  known: readonly Code[],
): readonly Code[] {
  rejectUnknown('--only', only, known);
  rejectUnknown('--skip', skip, known);
  const selected = known.filter((code) => (only.length === 0 || only.includes(code)) && !skip.includes(code));
  if (selected.length > 0) return selected;
  throw new ConfigError('Expected at least one check to run, got none', {
    flag: '--skip',
    hint: 'skip fewer checks; hooks test --list shows all',
  });
}

function rejectUnknown(flag: string, codes: readonly string[], known: readonly string[]): void {
  const unknown = codes.find((code) => !known.includes(code));
  if (unknown === undefined) return;
  throw new ConfigError(`Unknown check \`${printable(unknown, 60)}\` (${flag})`, {
    flag,
    hint: nearHint(unknown, known, `choose from ${known.join(', ')}; hooks test --list explains them`),
  });
}
