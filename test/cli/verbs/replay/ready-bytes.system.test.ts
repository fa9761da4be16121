// Takes minutes for a hundred thousand messages of any shape. ready-bytes.test.ts runs one seed.
import { describe, it } from 'vitest';
import { expectSameBytes } from './ready-bytes.ts';

describe('the exact body of an entry', () => {
  it.each([2, 3, 4, 5])('equals the serialized message, for 26,000 messages (seed %i)', (seed) =>
    expectSameBytes(seed),
  );
});
