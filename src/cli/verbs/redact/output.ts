import { RedactionTally } from '../../../capture/redact/redaction-tally.ts';
import { InputError } from '../../../errors.ts';
import { formatCount } from '../../../message/limits.ts';
import { printable } from '../../../redact.ts';
import { ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import type { RedactFlags } from './redact-flags.ts';

/** Number of fields to review that are printed for people. `-o json` has all. */
const MOST_FIELDS = 20;

/** A request, or a file of messages, after its redaction. */
interface RedactedResult {
  readonly file: string;
  /** Path of the output. Undefined for a check. */
  readonly saved: string | undefined;
  readonly what: string;
  readonly bytes?: number;
  readonly tally: RedactionTally;
}

/** Prints what became of each request, without personal data. */
export class RedactOutput {
  readonly #flags: RedactFlags;
  readonly #io: Io;
  readonly #total = new RedactionTally();
  #redacted = 0;
  #changed = 0;
  #rejected = 0;
  #skipped = 0;

  constructor(flags: RedactFlags, io: Io) {
    this.#flags = flags;
    this.#io = io;
  }

  skip(): void {
    this.#skipped++;
  }

  add({ file, saved, what, bytes, tally }: RedactedResult): void {
    this.#redacted++;
    const { counts } = tally;
    if (counts.size > 0) this.#changed++;
    this.#total.add(tally);
    const { output, quiet, check } = this.#flags;
    const target = check ? { changes: counts.size > 0 } : { saved };
    if (output === 'json') {
      this.#io.out(jsonLine({ file, ...target, request: what, bytes, replaced: Object.fromEntries(counts) }));
    } else if (!quiet && (!check || counts.size > 0)) {
      const size = bytes === undefined ? '' : `  ${formatCount(bytes)} bytes`;
      this.#io.out(
        `${printable(saved ?? file)}  ${printable(what, 200)}${size}  ${countsText(counts) || 'nothing replaced'}\n`,
      );
    }
  }

  reject(file: string, what: string, reason: string): void {
    this.#rejected++;
    if (this.#flags.output === 'json') this.#io.out(jsonLine({ file, rejected: what, reason }));
    else this.#io.note(`${printable(file)}: ${printable(what, 200)} is rejected: ${printable(reason, 500)}`);
  }

  finish(): ExitCode {
    const { output, quiet, check } = this.#flags;
    if (output === 'json') this.#io.out(jsonLine({ summary: this.#summary() }));
    else if (!quiet) this.#io.out(this.#summaryText());
    if (this.#rejected > 0 || (check && this.#changed > 0)) return ExitCode.negative;
    if (this.#redacted > 0) return ExitCode.ok;
    throw new InputError('Nothing to redact: no file has a request with a body', {
      hint: 'name captures, HAR files, or files of messages',
    });
  }

  #summary(): object {
    const [redacted, rejected, skipped] = [this.#redacted, this.#rejected, this.#skipped];
    return {
      ...(this.#flags.check ? { checked: redacted, withPersonalData: this.#changed } : { redacted }),
      rejected,
      skipped,
      replaced: Object.fromEntries(this.#total.counts),
      review: [...this.#total.review].map(([path, count]) => ({ path, count })),
    };
  }

  #summaryText(): string {
    const parts = [
      this.#flags.check
        ? `${formatCount(this.#redacted)} checked, ${formatCount(this.#changed)} with personal data`
        : `${formatCount(this.#redacted)} redacted`,
      ...(this.#rejected > 0 ? [`${formatCount(this.#rejected)} rejected`] : []),
      ...(this.#skipped > 0 ? [`${formatCount(this.#skipped)} without a body skipped`] : []),
    ];
    const counts = this.#total.counts.size === 0 ? '' : `: ${countsText(this.#total.counts)}`;
    const masked = this.#total.counts.get('signature') ?? 0;
    const signatures =
      masked === 0 ? '' : `signatures that no known scheme makes, now masked: ${formatCount(masked)}\n`;
    const fields = [...this.#total.review].toSorted(([, one], [, other]) => other - one);
    const lines = fields
      .slice(0, MOST_FIELDS)
      .map(([path, count]) => `  ${printable(path, 100)}  ${formatCount(count)}\n`);
    const more =
      fields.length > MOST_FIELDS ? `  and ${fields.length - MOST_FIELDS} more (-o json has all)\n` : '';
    const review =
      fields.length === 0 ? '' : `review these texts, which can have names:\n${lines.join('')}${more}`;
    return `${parts.join(', ')}${counts}\n${signatures}${review}`;
  }
}

function countsText(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
  return sorted.map(([kind, count]) => `${kind} ${formatCount(count)}`).join(', ');
}
