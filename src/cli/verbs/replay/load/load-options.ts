import { readObjectives, type Objective } from '../../../../replay/load/objectives.ts';
import { readShape, type LoadShape } from '../../../../replay/load/load-shape.ts';
import { printable } from '../../../../redact.ts';
import { flagError } from '../../../flags/flag-values.ts';
import { planOf, type ReplayOptions, type ReplayPlan } from '../options.ts';

/** The parsed flags of a load. */
export interface LoadPlan extends ReplayPlan {
  /** The value of `--load`, trimmed. */
  readonly text: string;
  readonly shape: LoadShape;
  /** The value of `--for` or `--duration`. */
  readonly forMs: number | undefined;
  readonly warmupMs: number;
  readonly objectives: readonly Objective[];
}

/** Parses the flags of a load. Throws ConfigError for invalid values or combinations. */
export function loadPlanOf(options: ReplayOptions): LoadPlan {
  const plan = planOf(options);
  const { load: text = '', slo, received, report, duration, warmup: warmupMs = 0 } = options;
  const forMs = options.for ?? duration;
  const shape = readShape(text, forMs);
  const objectives = slo === undefined ? [] : readObjectives(slo);
  if (shape.kind === 'max' && objectives.length === 0) {
    const hint = "add for example --slo 'p99<250ms,errors<0.1%'";
    throw flagError('--load', '`--load max` needs the objectives that the rate must hold', hint);
  }
  const lost = objectives.find(({ metric }) => metric === 'lost');
  if (lost !== undefined && received === undefined) {
    const hint = 'add --received with a URL or a command that prints the number';
    throw flagError('--slo', `\`${lost.expr}\` needs the number of messages that arrived`, hint);
  }
  if (report !== undefined && !report.endsWith('.html')) {
    const sentence = `Expected \`--report\` of a load to be an .html file, got ${printable(report, 60)}`;
    throw flagError('--report', sentence, 'name it for example load.html');
  }
  if ((options.workers ?? 1) > 1 && options.order === 'user') {
    const sentence = '`--workers` sends from several threads, which do not keep the order of a user';
    throw flagError('--workers', sentence, 'leave out --order user, or --workers');
  }
  return { ...plan, text: text.trim(), shape, forMs, warmupMs, objectives };
}

/**
 * Returns the options with the defaults of a load: `--order none` and, with `--loop` but without `--exact`,
 * `--timestamps now` and `--message-ids new`. `isGiven` returns whether an option is on the command line.
 */
export function loadOptions(options: ReplayOptions, isGiven: (name: string) => boolean): ReplayOptions {
  const isNew = options.loop === true && options.exact !== true;
  const or = <Value>(name: keyof ReplayOptions, given: Value, otherwise: Value): Value =>
    isGiven(name) ? given : otherwise;
  return {
    ...options,
    order: or('order', options.order, 'none'),
    timestamps: or('timestamps', options.timestamps, isNew ? 'now' : 'keep'),
    messageIds: or('messageIds', options.messageIds, isNew ? 'new' : 'keep'),
  };
}
