import { parseDuration } from '../../duration.ts';
import { ConfigError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { dueTimes, WHOLE, type LoadCurve, type LoadStage } from './load-curve.ts';

/** The value of `--load`: a curve of known rates, or a search for the highest rate (`max`). */
export type LoadShape =
  | { readonly kind: 'curve'; readonly curve: LoadCurve }
  | { readonly kind: 'max'; readonly durationMs: number };

/** Highest rate that `--load` accepts, in messages per second: more than one machine can send. */
const MAX_RATE = 1_000_000;
/** Number of linear stages that approximate one period of a sine, with an error of at most 0.12 % of its amplitude. */
const SINE_STAGES = 64;

const NUMBER = String.raw`(\d+(?:\.\d+)?)`;
const RATE = new RegExp(String.raw`^${NUMBER}(?:\.\.${NUMBER})?/([smh])$`);
const STEPS = new RegExp(String.raw`^(\S+\.\.\S+) ?: ?step ${NUMBER} each (\S+)$`);
const BURST = /^burst (\d+) each (\S+)$/;
const SINE = /^sine (\S+\.\.\S+) period (\S+)$/;

/**
 * Parses the value of `--load`, such as `200/s`, `50..500/s` or `30s:50/s,1m:200/s`. `forMs` is the duration of `--for`.
 * Only stages with their own durations can be parsed without `forMs`. Throws ConfigError.
 */
export function readShape(text: string, forMs: number | undefined): LoadShape {
  const shape = text.trim().replace(/\s+/g, ' ');
  const isSequence = /^[\d.]+[a-z]+:/.test(shape);
  if (!isSequence && forMs === undefined) {
    throw shapeError(`\`--load ${printable(text, 60)}\` needs a duration`, 'add for example --for 1m');
  }
  if (shape === 'max') return { kind: 'max', durationMs: forMs ?? 0 };
  const curve = isSequence ? readSequence(shape, forMs) : readCurve(shape, forMs ?? 0);
  if (curve === undefined || dueTimes(curve, WHOLE).next().done) throw unknownShape(text);
  return { kind: 'curve', curve };
}

/**
 * Parses stages with their own durations, such as `30s:50/s,1m:200/s`. `forMs` shortens or extends them to that duration;
 * the extension keeps the last rate. Undefined if a stage is invalid.
 */
function readSequence(shape: string, forMs: number | undefined): LoadCurve | undefined {
  const stages = shape.split(/ ?, ?/).map((stage): LoadStage | undefined => {
    const [, time = '', rate = ''] = /^([^:]+): ?(.+)$/.exec(stage) ?? [];
    const [durationMs, range] = [timeOf(time), rangeOf(rate)];
    return durationMs === undefined || range === undefined ? undefined : { durationMs, ...range };
  });
  const known = stages.flatMap((stage) => stage ?? []);
  const { to = 0 } = known.at(-1) ?? {};
  const durationMs = forMs ?? known.reduce((sum, stage) => sum + stage.durationMs, 0);
  const last = { durationMs, from: to, to };
  return known.length === stages.length ? { durationMs, stages: () => [...known, last] } : undefined;
}

function readCurve(shape: string, durationMs: number): LoadCurve | undefined {
  const range = rangeOf(shape);
  const stages = range === undefined ? wavesOf(shape) : () => [{ durationMs, ...range }];
  return stages && { durationMs, stages };
}

/** Parses bursts, a sine or steps, and returns their stages, which have no end. Undefined for other shapes. */
function wavesOf(shape: string): LoadCurve['stages'] | undefined {
  const [, size = '', each = ''] = BURST.exec(shape) ?? [];
  const eachMs = timeOf(each);
  if (eachMs !== undefined && Number(size) > 0) return () => bursts(Number(size), eachMs);
  const [, swing = '', period = ''] = SINE.exec(shape) ?? [];
  const [swingRange, periodMs] = [rangeOf(swing), timeOf(period)];
  if (swingRange !== undefined && periodMs !== undefined) return () => sine(swingRange, periodMs);
  const [, steps = '', step = '', every = ''] = STEPS.exec(shape) ?? [];
  const [stepRange, everyMs] = [rangeOf(steps), timeOf(every)];
  if (stepRange === undefined || everyMs === undefined || Number(step) === 0) return undefined;
  return () => staircase(stepRange, Number(step), everyMs);
}

function* bursts(atOnce: number, eachMs: number): Generator<LoadStage> {
  for (;;) yield { durationMs: eachMs, from: 0, to: 0, atOnce };
}

/** Yields the stages of a sine wave between the rates `from` and `to`. The wave starts at the lower rate. */
function* sine({ from, to }: RateRange, periodMs: number): Generator<LoadStage> {
  const [middle, swing] = [(from + to) / 2, Math.abs(to - from) / 2];
  const rateAt = (stage: number): number => middle - swing * Math.cos((2 * Math.PI * stage) / SINE_STAGES);
  for (let stage = 0; ; stage++) {
    yield { durationMs: periodMs / SINE_STAGES, from: rateAt(stage), to: rateAt(stage + 1) };
  }
}

/** Yields stages with a constant rate. The rate changes by `step` from stage to stage until it reaches `to`. */
function* staircase({ from, to }: RateRange, step: number, durationMs: number): Generator<LoadStage> {
  for (let steps = 0; ; steps++) {
    const rate = from < to ? Math.min(to, from + steps * step) : Math.max(to, from - steps * step);
    yield { durationMs, from: rate, to: rate };
  }
}

type RateRange = Pick<LoadStage, 'from' | 'to'>;

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

/** Parses `200/s` or `50..500/s`. Undefined for other text, for rates above MAX_RATE, and if both rates are 0. */
function rangeOf(text: string): RateRange | undefined {
  const [, low = '', high = low, unit = ''] = RATE.exec(text) ?? [];
  const [from, to] = [low, high].map((count) => Number(count) / (UNIT_SECONDS[unit] ?? Number.NaN));
  if (from === undefined || to === undefined) return undefined;
  return from <= MAX_RATE && to <= MAX_RATE && from + to > 0 ? { from, to } : undefined;
}

function timeOf(text: string): number | undefined {
  const ms = parseDuration(text);
  return typeof ms === 'number' && ms > 0 ? ms : undefined;
}

function unknownShape(text: string): ConfigError {
  return shapeError(
    `Expected \`--load\` to be a shape, got ${printable(text, 60)}`,
    "write 200/s, 50..500/s, 30s:50/s,1m:200/s, '50..500/s:step 50 each 10s', 'burst 1000 each 30s', 'sine 50..200/s period 60s' or max",
  );
}

function shapeError(sentence: string, hint: string): ConfigError {
  return new ConfigError(sentence, { flag: '--load', hint });
}

/** Parses a shape other than `max`. */
export function curveOf(text: string, forMs: number | undefined): LoadCurve {
  const shape = readShape(text, forMs);
  if (shape.kind === 'max') throw new TypeError('Expected a shape with a curve, got max'); // a bug: a search for max passes the rate of each step
  return shape.curve;
}
