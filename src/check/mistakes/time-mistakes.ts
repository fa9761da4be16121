import { layoutOf } from '../../signature/schemes/layout.ts';
import type { Fault } from '../check.ts';
import type { SigningMistake, SigningContext } from './mistaken-signer.ts';

const MILLISECONDS: Fault = {
  code: 'timestamp-unit',
  says: 'it reads the timestamp, which is in seconds, as milliseconds, so that every message is too old',
  fix: 'compare seconds: Math.floor(Date.now() / 1000), or multiply the timestamp by 1000',
};

/** From UTC-12 to UTC+14. */
const HOURS = Array.from({ length: 27 }, (_, index) => index - 12).filter((hours) => hours !== 0);

/** The mistakes of a receiver with the time of a message. */
export function* timeMistakes({
  scheme,
  fields,
}: SigningContext): Generator<readonly [SigningMistake, Fault]> {
  if (!layoutOf(scheme).hasTimestamp || scheme.tolerance === undefined) return;
  yield [{ fields: { ...fields, timestamp: `${fields.timestamp}000` } }, MILLISECONDS];
  for (const hours of HOURS) {
    const timestamp = String(Number(fields.timestamp) + hours * 3_600);
    yield [{ fields: { ...fields, timestamp } }, otherHour(hours)];
  }
}

function otherHour(hours: number): Fault {
  const size = Math.abs(hours) === 1 ? '1 hour' : `${Math.abs(hours)} hours`;
  return {
    code: 'other-clock',
    says: `its clock or its time zone is ${size} ${hours > 0 ? 'ahead' : 'behind'}: it accepts only what is signed that much ${hours > 0 ? 'later' : 'earlier'}`,
    fix: 'compare the timestamp with the Unix time, which has no time zone (Date.now() / 1000, time.time(), Time.now.to_i), and set its clock by NTP',
  };
}
