import { parseDuration } from '../../duration.ts';
import { ConfigError } from '../../errors.ts';
import { printable } from '../../redact.ts';

/** One objective of `--slo`, such as `p99<250ms`. */
export interface Objective {
  /** The objective as given. */
  readonly expr: string;
  readonly metric: Metric;
  readonly operator: Operator;
  /** Milliseconds, a share from 0 to 1, a number of messages, or messages per second. */
  readonly bound: number;
}

type Metric =
  | { readonly kind: 'percentile'; readonly percent: number }
  | { readonly kind: 'max' | 'rate' }
  /** `isShare`: the share of the messages in place of their number. */
  | { readonly kind: 'errors' | 'lost'; readonly isShare: boolean };

const OPERATORS = {
  '<=': (value, bound) => value <= bound,
  '>=': (value, bound) => value >= bound,
  '<': (value, bound) => value < bound,
  '>': (value, bound) => value > bound,
  '=': (value, bound) => value === bound,
} as const satisfies Readonly<Record<string, (value: number, bound: number) => boolean>>;

type Operator = keyof typeof OPERATORS;

/** The figures of a load, or of one second of it, that objectives are about. */
export interface LoadFigures {
  /** Returns a percentile of the latency; undefined if no message was acknowledged. 100 is the longest latency. */
  readonly latencyMs: (percent: number) => number | undefined;
  /** Messages with a result. */
  readonly settled: number;
  readonly errors: number;
  readonly acknowledged: number;
  /** Acknowledged messages per second. */
  readonly rate: number;
  /** Messages that were acknowledged and did not arrive. Undefined if unknown. */
  readonly lost?: number | undefined;
}

export interface ObjectiveResult {
  readonly expr: string;
  readonly held: boolean;
  /** In the unit of the objective: ms, percent, messages, or messages per second. Null if there is no value. */
  readonly value: number | null;
}

/** Reads the objectives of `--slo`, separated by commas. Throws ConfigError. */
export function readObjectives(text: string): readonly Objective[] {
  return text.split(',').map((each) => readObjective(each.trim()));
}

function readObjective(expr: string): Objective {
  const [, name = '', operator = '', value = ''] = /^([^<>=]+?)\s*(<=|>=|<|>|=)\s*(.+)$/.exec(expr) ?? [];
  const metric = metricOf(name, value);
  const bound = metric === undefined ? undefined : boundOf(metric, value);
  if (metric === undefined || bound === undefined) throw unknownObjective(expr);
  return { expr, metric, operator: operator as Operator, bound }; // the expression matches only operators
}

function metricOf(name: string, value: string): Metric | undefined {
  if (name === 'max' || name === 'rate') return { kind: name };
  if (name === 'errors' || name === 'lost') return { kind: name, isShare: value.endsWith('%') };
  const [, plain, inParentheses] = /^p(?:(\d+(?:\.\d+)?)|\((\d+(?:\.\d+)?)\))$/.exec(name) ?? [];
  const percent = Number(plain ?? inParentheses);
  return percent > 0 && percent <= 100 ? { kind: 'percentile', percent } : undefined;
}

function boundOf({ kind }: Metric, value: string): number | undefined {
  switch (kind) {
    case 'percentile':
    case 'max': {
      const ms = parseDuration(value);
      return typeof ms === 'number' && ms >= 0 ? ms : undefined;
    }
    case 'rate':
      return numberOf(/^(.*?)(?:\/s)?$/, value);
    case 'errors':
    case 'lost': {
      const percent = numberOf(/^(.*)%$/, value);
      return percent === undefined ? numberOf(/^(\d+)$/, value) : percent / 100;
    }
    default:
      return kind satisfies never;
  }
}

function numberOf(pattern: RegExp, text: string): number | undefined {
  const [, number = ''] = pattern.exec(text) ?? [];
  return /^\d+(?:\.\d+)?$/.test(number) ? Number(number) : undefined;
}

function unknownObjective(expr: string): ConfigError {
  return new ConfigError(`Expected \`--slo\` to have an objective, got ${printable(expr, 60) || 'nothing'}`, {
    flag: '--slo',
    hint: "write for example --slo 'p99<250ms,errors<0.1%,lost=0,rate>=195/s'",
  });
}

/** Compares an objective with figures. An objective without a value is broken, because nothing shows that it holds. */
export function evaluate(
  { expr, metric, operator, bound }: Objective,
  figures: LoadFigures,
): ObjectiveResult {
  const value = valueOf(metric, figures);
  if (value === undefined) return { expr, held: false, value: null };
  const isPercent = 'isShare' in metric && metric.isShare;
  return { expr, held: OPERATORS[operator](value, bound), value: rounded(isPercent ? value * 100 : value) };
}

function valueOf(metric: Metric, figures: LoadFigures): number | undefined {
  const { settled, errors, acknowledged, rate, lost } = figures;
  switch (metric.kind) {
    case 'percentile':
      return figures.latencyMs(metric.percent);
    case 'max':
      return figures.latencyMs(100);
    case 'rate':
      return rate;
    case 'errors':
      return share(errors, metric.isShare ? settled : 1);
    case 'lost':
      return lost === undefined ? undefined : share(lost, metric.isShare ? acknowledged : 1);
    default:
      return metric satisfies never;
  }
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

/** Whether an objective can break in one second. A loss is known only at the end. */
export function isTimed({ metric }: Objective): boolean {
  return metric.kind !== 'lost';
}

/** Returns the bound in ms and the percentile of an objective about latency. Undefined for other objectives. */
export function latencyBound({ metric, bound }: Objective): { percent: number; ms: number } | undefined {
  if (metric.kind === 'percentile') return { percent: metric.percent, ms: bound };
  return metric.kind === 'max' ? { percent: 100, ms: bound } : undefined;
}
