// Takes minutes: a hundred thousand messages of any shape. Those of one seed are in ready-bytes.test.ts.
import { describe, it } from 'vitest';
import { expectSameBytes } from './ready-bytes.ts';

describe('the bytes of an entry that are sent as they stand', () => {
  it.each([2, 3, 4, 5])(
    'are what writing the message out makes, of 26,000 messages of any shape (seed %i)',
    expectSameBytes,
  );
});
