import { describe, expect, it } from 'vitest';
import { prepareEntry, readyEntry } from '../../../../src/cli/verbs/replay/entry-message.ts';
import { expectSameBytes, OPTIONS, REWRITTEN, sentOf } from './ready-bytes.ts';

describe('the bytes of an entry that are sent as they stand', () => {
  it.each([1])(
    'are what writing the message out makes, of 26,000 messages of any shape (seed %i)',
    expectSameBytes,
  );

  it('are not those of the file where --timestamps changes the message', () => {
    const old =
      '{"version":1,"type":"track","userId":"u","event":"e","properties":{},"timestamp":"2020-01-01T00:00:00.000Z"}';
    expect(sentOf(old, OPTIONS)?.atHand?.toString()).toBe(old);
    expect(sentOf(old, REWRITTEN)?.atHand).toBeUndefined();
  });

  it('do not keep the part of the file around them in memory', () => {
    const line =
      '{"version":1,"type":"track","userId":"u","event":"e","properties":{},"timestamp":"2020-01-01T00:00:00.000Z"}';
    const chunk = Buffer.alloc(256 * 1024, line);
    const entry = {
      kind: 'message',
      origin: { file: 'f', line: 1 },
      bytes: chunk.subarray(0, line.length),
    } as const;
    const found = readyEntry(prepareEntry(entry, OPTIONS), OPTIONS);
    const body = found.error === undefined ? found.ready.exactBody : undefined;
    expect(body?.length).toBe(line.length);
    expect(body?.buffer).not.toBe(chunk.buffer);
  });
});
