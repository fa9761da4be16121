import { parseDuration } from '../../duration.ts';
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
  if (bound === undefined || percent === 0 || percent > 100) {
    throw new ConfigError(
      `Expected \`--slo\` to have an objective, got ${printable(expr, 60) || 'nothing'}`,
      { flag: '--slo', hint: "write for example --slo 'p99<250ms,errors<0.1%,lost=0,rate>=195/s'" },
    );
  }
  return { expr, metric, percent, isShare: value.endsWith('%'), operator: operator as Operator, bound }; // OBJECTIVE matches only operators
}

function boundOf(metric: Objective['metric'], value: string): number | undefined {
  if (metric === 'latency') {
    const ms = parseDuration(value);
    return typeof ms === 'number' && ms >= 0 ? ms : undefined;
  }
  const [, count, percent = count] = BOUNDS[metric === 'rate' ? 'rate' : 'errors'].exec(value) ?? [];
  return percent === undefined ? undefined : Number(percent);
}

/** Evaluates an objective. An objective without a measured value counts as broken, because nothing shows that it holds. */
export function evaluate(objective: Objective, figures: LoadFigures): ObjectiveResult {
  const { expr, operator, bound } = objective;
  const value = valueOf(objective, figures);
  if (value === undefined) return { expr, held: false, value: null };
  return { expr, held: OPERATORS[operator](value, bound), value: Math.round(value * 1_000) / 1_000 };
}

function valueOf({ metric, percent, isShare }: Objective, figures: LoadFigures): number | undefined {
  if (metric === 'latency') return figures.latencyMs(percent);
  const count = figures[metric];
  if (!isShare || count === undefined) return count;
  const { acknowledged, errors } = figures;
  const whole = metric === 'lost' ? acknowledged : acknowledged + errors;
  return whole === 0 ? 0 : (100 * count) / whole;
}

/** Whether an objective can be evaluated for a single second. Lost messages are known only at the end. */
export function isTimed({ metric }: Objective): boolean {
  return metric !== 'lost';
}
