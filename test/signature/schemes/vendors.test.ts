import { describe, expect, it } from 'vitest';
import { verify } from '../../../src/app/explained.ts';
import { randomFrom } from '../../random.ts';
import { randomMessage, signedHere } from './random-message.ts';
import { VENDORS } from './vendors.ts';

const MESSAGES = 1_000;

describe.each(VENDORS)('$scheme beside $name', (vendor) => {
  it(`verifies ${MESSAGES} random messages that it signed, with each of several secrets`, async () => {
    const random = randomFrom(7);
    const failed: unknown[] = [];
    for (let count = 0; count < MESSAGES; count++) {
      const message = randomMessage(vendor, random);
      const headers = await vendor.sign(message);
      const secrets = ['an older one', message.secret];
      const { body } = message;
      const verdict = verify({ body, headers, secrets, scheme: vendor.scheme });
      if (!verdict.valid || verdict.secret !== 2) failed.push({ message, headers, verdict });
    }
    expect(failed).toEqual([]);
  });

  it(`is verified there for ${MESSAGES} random messages`, async () => {
    const random = randomFrom(8);
    const failed: unknown[] = [];
    for (let count = 0; count < MESSAGES; count++) {
      const message = randomMessage(vendor, random);
      const headers = signedHere(vendor, message);
      if (!(await vendor.verify(message, headers))) failed.push({ message, headers });
    }
    expect(failed).toEqual([]);
  });
});
