import type { ReceiverMistake } from '../../check/check.ts';
import { layoutOf } from '../../signature/schemes/layout.ts';
import type { ExplainedMistake, MistakenSigner } from './mistaken-signer.ts';

const MILLISECONDS: ReceiverMistake = {
  code: 'timestamp-unit',
  says: 'it reads the timestamp, which is in seconds, as milliseconds, so every message is too old',
  fix: 'compare seconds: Math.floor(Date.now() / 1000), or multiply the timestamp by 1000',
};

/** Hours by which a wrong time zone can shift a clock: UTC-12 to UTC+14. */
const HOURS = Array.from({ length: 27 }, (_, index) => index - 12).filter((hours) => hours !== 0);

/** Yields the mistakes that receivers make when they check the age of a signature. */
export function* timeMistakes({ context: { scheme, fields } }: MistakenSigner): Generator<ExplainedMistake> {
  if (!layoutOf(scheme).hasTimestamp || scheme.tolerance === undefined) return;
  yield [{ fields: { ...fields, timestamp: `${fields.timestamp}000` } }, MILLISECONDS];
  for (const hours of HOURS) {
    const timestamp = String(Number(fields.timestamp) + hours * 3_600);
    const size = Math.abs(hours) === 1 ? '1 hour' : `${Math.abs(hours)} hours`;
    const [off, when] = hours > 0 ? ['ahead', 'later'] : ['behind', 'earlier'];
    const says = `its clock or its time zone is ${size} ${off}: it accepts only what is signed that much ${when}`;
    yield [{ fields: { ...fields, timestamp } }, { code: 'other-clock', says, fix: UNIX_TIME }];
  }
}

const UNIX_TIME =
  'compare the timestamp with the Unix time, which has no time zone (Date.now() / 1000, time.time(), Time.now.to_i), and set its clock by NTP';
