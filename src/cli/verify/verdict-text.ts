import { REASONS } from '../../signature/diagnosis/reasons.ts';
import type { VerifyResult } from '../../signature/verify.ts';
import type { Io } from '../io.ts';

/** A verdict as it is printed: a mismatch with both signatures, for the person who runs the command. */
export type PrintedVerdict = VerifyResult & {
  readonly expected?: string;
  readonly got?: string;
  /** What a valid request lacks. */
  readonly warning?: string;
};

/** A verdict for a person. */
export function printedVerdictText(verdict: PrintedVerdict, bytes: number, color: Io['color']): string {
  if (!verdict.valid) {
    const [what = '', ...fix] = (verdict.diagnosis?.hint ?? '').split(/(?<=\.) /);
    const { expected, got } = verdict;
    // A right signature that does not count, since it is too old, is not shown twice.
    const both = [`${color.dim('expected:')} ${expected}`, `${color.dim('got:     ')} ${got}`];
    const lines = [
      `${color.red('invalid:')} ${what}`,
      ...(expected === undefined ? both.slice(1) : expected === got ? [] : both),
      `${color.dim('hint:   ')} ${fix.join(' ')}`,
    ];
    return lines.join('\n');
  }
  const { secret, over, note, scheme, partial, warning: lacks } = verdict;
  const bySchemes = scheme === undefined ? '' : ` by ${scheme}`;
  const warnings = [partial && `the signature ${partial}: treat the others as unsigned`, lacks];
  const warning = warnings
    .filter((each) => each !== undefined)
    .map((each) => `\n${color.yellow('warning:')} ${each}`)
    .join('');
  const what = over === 'bytes' ? `${bytes} bytes` : 'the JSON-stringified body';
  const why =
    note === undefined ? '' : `\n${color.dim('note: ')} the bytes differ: ${REASONS[note].means} (${note})`;
  return `${color.green('valid:')} matches secret ${secret} over ${what}${bySchemes}${why}${warning}`;
}
