import { parseDuration } from '../../duration.ts';
import { ConfigError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { bursts, constantRate, ramp, sequence, sine, type LoadCurve } from './load-curve.ts';

/** The value of `--load`: a curve of known rates, or the search for the highest rate. */
export type LoadShape =
  | { readonly kind: 'curve'; readonly curve: LoadCurve }
  | { readonly kind: 'max'; readonly durationMs: number };

/** Highest rate that can be given, in messages per second: more than a machine can send. */
const MAX_RATE = 1_000_000;

const NUMBER = String.raw`(\d+(?:\.\d+)?)`;
const TIME = String.raw`(\S+)`;
const CONSTANT = new RegExp(`^${NUMBER}/([smh])$`);
const RANGE = new RegExp(String.raw`^${NUMBER}\.\.${NUMBER}/([smh])$`);
const STEPS = new RegExp(`^(.+?) ?: ?step ${NUMBER} each ${TIME}$`);
const BURST = new RegExp(String.raw`^burst (\d+) each ${TIME}$`);
const SINE = new RegExp(`^sine (.+) period ${TIME}$`);

/**
 * Reads the shape of a load, such as `200/s`, `50..500/s` or `30s:50/s,1m:200/s`. `forMs` is the time of `--for`; stages have
 * their own. Throws ConfigError.
 */
export function readShape(text: string, forMs: number | undefined): LoadShape {
  const shape = text.trim().replace(/\s+/g, ' ');
  const stages = /^[\d.]+[a-z]+:/.test(shape) ? readStages(shape, text) : undefined;
  if (stages !== undefined) return { kind: 'curve', curve: lasting(stages, forMs) };
  if (forMs === undefined) {
    throw shapeError(`\`--load ${printable(text, 60)}\` needs the time to last`, 'add for example --for 1m');
  }
  if (shape === 'max') return { kind: 'max', durationMs: forMs };
  const curve = simpleCurve(shape, forMs) ?? waveCurve(shape, forMs) ?? stepCurve(shape, forMs);
  if (curve === undefined || curve.count === 0) throw unknownShape(text);
  return { kind: 'curve', curve };
}

/** Puts the time before a curve that is sent and not counted. It has the first rate of the curve, at least 1 a second. */
export function withWarmup(curve: LoadCurve, warmupMs: number): LoadCurve {
  if (warmupMs === 0) return curve;
  return sequence([constantRate(Math.max(1, curve.rateAt(0)), warmupMs), curve]);
}

function readStages(shape: string, text: string): readonly LoadCurve[] {
  return shape.split(/ ?, ?/).map((stage) => {
    const [, time = '', rest = ''] = /^([^:]+): ?(.+)$/.exec(stage) ?? [];
    const durationMs = timeOf(time);
    const curve = durationMs === undefined ? undefined : simpleCurve(rest, durationMs);
    if (curve === undefined || curve.count === 0) throw unknownShape(text);
    return curve;
  });
}

/** Cuts the stages after `forMs`, or continues the last rate until then. */
function lasting(stages: readonly LoadCurve[], forMs: number | undefined): LoadCurve {
  const curve = sequence(stages);
  if (forMs === undefined || forMs === curve.durationMs) return curve;
  if (forMs < curve.durationMs) return { ...curve, durationMs: forMs };
  const last = stages.at(-1);
  const rate = last?.rateAt(last.durationMs) ?? 0;
  return rate === 0 ? curve : sequence([curve, constantRate(rate, forMs - curve.durationMs)]);
}

/** A constant rate or a ramp. */
function simpleCurve(shape: string, durationMs: number): LoadCurve | undefined {
  const [, count = '', unit = ''] = CONSTANT.exec(shape) ?? [];
  const rate = rateOf(count, unit);
  if (rate !== undefined && rate > 0) return constantRate(rate, durationMs);
  const range = rangeOf(shape);
  return range && ramp(...range, durationMs);
}

function waveCurve(shape: string, durationMs: number): LoadCurve | undefined {
  const [, size = '', each = ''] = BURST.exec(shape) ?? [];
  const eachMs = timeOf(each);
  if (eachMs !== undefined && Number(size) > 0) return bursts(Number(size), eachMs, durationMs);
  const [, swing = '', period = ''] = SINE.exec(shape) ?? [];
  const range = rangeOf(swing);
  const periodMs = timeOf(period);
  if (range === undefined || periodMs === undefined) return undefined;
  return sine({ low: Math.min(...range), high: Math.max(...range), periodMs }, durationMs);
}

/** A rate that changes by `step` after each time, until the range ends. The last rate holds for the rest. */
function stepCurve(shape: string, durationMs: number): LoadCurve | undefined {
  const [, rangeText = '', stepText = '', each = ''] = STEPS.exec(shape) ?? [];
  const range = rangeOf(rangeText);
  const eachMs = timeOf(each);
  if (range === undefined || eachMs === undefined || Number(stepText) === 0) return undefined;
  const [from, to] = range;
  const step = Number(stepText) * Math.sign(to - from);
  const curves: LoadCurve[] = [];
  for (let startMs = 0; startMs < durationMs; startMs += eachMs) {
    const reached = from + step * curves.length;
    const isLast = step > 0 ? reached >= to : reached <= to;
    const rate = isLast ? to : reached;
    const ms = isLast ? durationMs - startMs : Math.min(eachMs, durationMs - startMs);
    curves.push(constantRate(rate, ms));
    if (isLast) break;
  }
  return sequence(curves);
}

function rangeOf(text: string): [from: number, to: number] | undefined {
  const [, low = '', high = '', unit = ''] = RANGE.exec(text) ?? [];
  const [from, to] = [rateOf(low, unit), rateOf(high, unit)];
  return from === undefined || to === undefined ? undefined : [from, to];
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

function rateOf(count: string, unit: string): number | undefined {
  const rate = Number(count) / (UNIT_SECONDS[unit] ?? Number.NaN);
  return count !== '' && rate <= MAX_RATE ? rate : undefined;
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
