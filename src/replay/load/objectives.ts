import { parseDuration, type NotADuration } from '../../duration.ts';
import { ConfigError } from '../../errors.ts';
import { printable } from '../../redact.ts';

/** One objective of `--slo`, such as `p99<250ms`. */
export interface Objective {
  /** The objective as the user wrote it. */
  readonly expr: string;
  readonly metric: 'latency' | 'rate' | 'errors' | 'lost';
  /** The latency percentile. 100 for `max`, the longest latency. Unused for other metrics. */
  readonly percent: number;
  /** Whether the objective limits `errors` or `lost` as a percentage of the messages, not as a number of messages. */
  readonly isShare: boolean;
  readonly operator: Operator;
  /** The limit: ms for `latency`, messages per second for `rate`, messages or percent for `errors` and `lost`. */
  readonly bound: number;
}

/**
 * Comparisons of a value with a bound. Each except `=` has one result below the bound and the other above it. If the lowest and
 * the highest possible value have the same result, so have all values: the objective always holds or never does.
 */
const OPERATORS = {
  '<=': (value, bound) => value <= bound,
  '>=': (value, bound) => value >= bound,
  '<': (value, bound) => value < bound,
  '>': (value, bound) => value > bound,
  '=': (value, bound) => value === bound,
} as const satisfies Readonly<Record<string, (value: number, bound: number) => boolean>>;

type Operator = keyof typeof OPERATORS;

/** The metrics of a load, or of one second of it, to compare with objectives. */
export interface LoadFigures {
  /** Returns a percentile of the latency, in ms. 100 is the longest latency. Undefined if no latency was recorded. */
  readonly latencyMs: (percent: number) => number | undefined;
  readonly acknowledged: number;
  readonly errors: number;
  /** Acknowledged messages per second. Undefined if the load ran out of messages. */
  readonly rate: number | undefined;
  /** Number of messages that were acknowledged but did not arrive. Undefined if unknown. */
  readonly lost?: number | undefined;
  /** Number of messages that were acknowledged, with those of warm-ups and other steps, of which some can be lost. */
  readonly delivered?: number;
}

export interface ObjectiveResult {
  readonly expr: string;
  readonly held: boolean;
  /** The measured value, in the unit of the objective's bound. Null if there is none. */
  readonly value: number | null;
}

/** Parses the comma-separated objectives of `--slo`. Throws ConfigError. */
export function readObjectives(text: string): readonly Objective[] {
  return text.split(',').map((each) => readObjective(each.trim()));
}

const NUMBER = String.raw`\d+(?:\.\d+)?`;
const OBJECTIVE = new RegExp(
  String.raw`^(?:p(${NUMBER})|p\((${NUMBER})\)|(max)|(rate|errors|lost))\s*(<=|>=|<|>|=)\s*(\S+)$`,
);
const BOUNDS = {
  rate: new RegExp(`^(${NUMBER})(?:/s)?$`),
  errors: new RegExp(String.raw`^(?:(\d+)|(${NUMBER})%)$`),
} as const;

function readObjective(expr: string): Objective {
  const [, plain, inParentheses, max, name, operator, value = ''] = OBJECTIVE.exec(expr) ?? [];
  const metric = (name ?? 'latency') as Objective['metric']; // OBJECTIVE matches only these names
  const percent = max === undefined ? Number(plain ?? inParentheses ?? 100) : 100;
  const bound = boundOf(metric, value);
  if (typeof bound !== 'number' || percent === 0 || percent > 100) {
    const example = "write for example --slo 'p99<250ms,errors<0.1%,lost=0,rate>=195/s'";
    throw objectiveError('an objective', expr, typeof bound === 'object' ? bound.hint : example);
  }
  const isShare = value.endsWith('%');
  const objective = { expr, metric, percent, isShare, operator: operator as Operator, bound }; // OBJECTIVE matches only operators
  const [lowest, highest] = [0, isShare ? 100 : Infinity].map((end) => holds(objective, end));
  if (lowest !== highest || (operator === '=' && !lowest)) return objective;
  throw objectiveError('objectives that can hold and can break', expr, 'leave it out, or correct its limit');
}

function objectiveError(expected: string, expr: string, hint: string): ConfigError {
  const sentence = `Expected \`--slo\` to have ${expected}, got ${printable(expr, 60) || 'nothing'}`;
  return new ConfigError(sentence, { flag: '--slo', hint });
}

function holds({ operator, bound }: Pick<Objective, 'operator' | 'bound'>, value: number): boolean {
  return OPERATORS[operator](value, bound);
}

/** Parses the limit of an objective. Returns the problem of a malformed duration. Undefined for another malformed limit. */
function boundOf(metric: Objective['metric'], value: string): number | NotADuration | undefined {
  if (metric === 'latency') return value === '' ? undefined : parseDuration(value);
  const [, count, percent = count] = BOUNDS[metric === 'rate' ? 'rate' : 'errors'].exec(value) ?? [];
  return percent === undefined ? undefined : Number(percent);
}

/** Evaluates an objective. An objective without a measured value counts as broken, because nothing shows that it holds. */
export function evaluate(objective: Objective, figures: LoadFigures): ObjectiveResult {
  const { expr } = objective;
  const value = valueOf(objective, figures);
  if (value === undefined) return { expr, held: false, value: null };
  return { expr, held: holds(objective, value), value: Math.round(value * 1_000) / 1_000 };
}

function valueOf({ metric, percent, isShare }: Objective, figures: LoadFigures): number | undefined {
  if (metric === 'latency') return figures.latencyMs(percent);
  const { acknowledged, errors, delivered = acknowledged, [metric]: count } = figures;
  if (metric === 'rate' || count === undefined) return count;
  const whole = metric === 'lost' ? delivered : acknowledged + errors;
  if (whole === 0) return undefined;
  return isShare ? (100 * count) / whole : count;
}

/** Whether an objective can be evaluated for a single second. Lost messages are known only at the end. */
export function isTimed({ metric }: Objective): boolean {
  return metric !== 'lost';
}

/** Returns the rate below which objectives of the rate cannot hold. 0 if there are none. */
export function leastRate(objectives: readonly Objective[]): number {
  const rates = objectives.filter(({ metric, operator }) => metric === 'rate' && !operator.startsWith('<'));
  return Math.max(0, ...rates.map(({ operator, bound }) => (operator === '>' ? bound + 1 : bound)));
}
