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
const STEPS = /^(\S+\.\.\S+) ?: ?step (\S+) each (\S+)$/;
const BURST = /^burst (\S+) each (\S+)$/;
const SINE = /^sine (\S+\.\.\S+) period (\S+)$/;

/**
 * Parses the value of `--load`, such as `200/s`, `50..500/s` or `30s:50/s,1m:200/s`. `forMs` is the duration of `--for`.
 * Only stages with their own durations can be parsed without `forMs`. Throws ConfigError, which names the part that is
 * invalid.
 */
export function readShape(text: string, forMs: number | undefined): LoadShape {
  const shape = text.trim().replace(/\s+/g, ' ');
  const isSequence = /^[\d.]+[a-z]+:/.test(shape);
  if (!isSequence && forMs === undefined) {
    throw shapeError(`\`--load ${printable(text, 60)}\` needs a duration`, 'add for example --for 1m');
  }
  if (shape === 'max') return { kind: 'max', durationMs: forMs ?? 0 };
  const curve = isSequence ? readSequence(shape, forMs) : readCurve(shape, forMs ?? 0);
  if (dueTimes(curve, WHOLE).next().done) throw notA('shape that sends a message', text);
  return { kind: 'curve', curve };
}

/**
 * Parses stages with their own durations, such as `30s:50/s,1m:200/s`. `forMs` shortens or extends them to that duration;
 * the extension keeps the last rate.
 */
function readSequence(shape: string, forMs: number | undefined): LoadCurve {
  const stages = shape.split(/ ?, ?/).map((stage): LoadStage => {
    const [, time, rate] = /^([^:]+): ?(.+)$/.exec(stage) ?? [];
    if (time === undefined || rate === undefined) throw notA('stage such as 30s:50/s', stage);
    return { durationMs: timeOf(time), ...rangeOf(rate) };
  });
  const { to = 0 } = stages.at(-1) ?? {};
  const durationMs = forMs ?? stages.reduce((sum, stage) => sum + stage.durationMs, 0);
  return { durationMs, stages: () => [...stages, { durationMs, from: to, to }] };
}

/** Parses a rate, a ramp, bursts, a sine or steps. All but a rate and a ramp have stages without an end. */
function readCurve(shape: string, durationMs: number): LoadCurve {
  const curve = (stages: LoadCurve['stages']): LoadCurve => ({ durationMs, stages });
  const [, size, each = ''] = BURST.exec(shape) ?? [];
  if (size !== undefined) {
    const [atOnce, eachMs] = [countOf(size), timeOf(each)];
    return curve(() => bursts(atOnce, eachMs));
  }
  const [, swing, period = ''] = SINE.exec(shape) ?? [];
  if (swing !== undefined) {
    const [range, periodMs] = [rangeOf(swing), timeOf(period)];
    return curve(() => sine(range, periodMs));
  }
  const [, steps = shape, step, every = ''] = STEPS.exec(shape) ?? [];
  const range = rangeOf(steps);
  if (step === undefined) return curve(() => [{ durationMs, ...range }]);
  const [change, everyMs] = [countOf(step), timeOf(every)];
  return curve(() => staircase(range, change, everyMs));
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

function rangeOf(text: string): RateRange {
  const [, low = '', high = low, unit = ''] = RATE.exec(text) ?? [];
  const [from = NaN, to = NaN] = [low, high].map((count) => Number(count) / (UNIT_SECONDS[unit] ?? NaN));
  if (Number.isNaN(from + to)) throw notA('rate such as 200/s', text);
  if (Math.max(from, to) > MAX_RATE) throw notA(`rate of at most ${MAX_RATE}/s`, text);
  return { from, to };
}

function countOf(text: string): number {
  if (/^\d+$/.test(text) && Number(text) > 0) return Number(text);
  throw notA('whole number above 0', text);
}

function timeOf(text: string): number {
  const ms = parseDuration(text);
  if (typeof ms === 'number' && ms > 0) return ms;
  throw notA('time such as 30s', text);
}

function notA(expected: string, part: string): ConfigError {
  return shapeError(
    `Expected \`--load\` to have a ${expected}, got ${printable(part, 60) || 'nothing'}`,
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
