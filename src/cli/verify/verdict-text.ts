import { REASONS } from '../../signature/diagnosis/reasons.ts';
import type { VerifyResult } from '../../signature/verify.ts';
import type { Io } from '../io.ts';

/** A verdict as it is printed: a mismatch with both signatures, for the person who runs the command. */
export type PrintedVerdict = VerifyResult & { readonly expected?: string; readonly got?: string };

/** A verdict for a person. */
export function printedVerdictText(verdict: PrintedVerdict, bytes: number, color: Io['color']): string {
  if (!verdict.valid) {
    const [what = '', ...fix] = (verdict.diagnosis?.hint ?? '').split(/(?<=\.) /);
    const lines = [
      `${color.red('invalid:')} ${what}`,
      `${color.dim('expected:')} ${verdict.expected}`,
      `${color.dim('got:     ')} ${verdict.got}`,
      `${color.dim('hint:   ')} ${fix.join(' ')}`,
    ];
    return lines.join('\n');
  }
  const { secret, over, note, scheme, partial } = verdict;
  const bySchemes = scheme === undefined ? '' : ` by ${scheme}`;
  const warning =
    partial === undefined
      ? ''
      : `\n${color.yellow('warning:')} the signature ${partial}: treat the others as unsigned`;
  const what = over === 'bytes' ? `${bytes} bytes` : 'the JSON-stringified body';
  const why =
    note === undefined ? '' : `\n${color.dim('note: ')} the bytes differ: ${REASONS[note].means} (${note})`;
  return `${color.green('valid:')} matches secret ${secret} over ${what}${bySchemes}${why}${warning}`;
}
