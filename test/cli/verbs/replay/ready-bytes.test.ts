import { describe, expect, it } from 'vitest';
import { prepareEntry, readyEntry } from '../../../../src/cli/verbs/replay/entry-message.ts';
import { expectSameBytes, OPTIONS, REWRITTEN, sentOf } from './ready-bytes.ts';

const LINE =
  '{"version":1,"type":"track","userId":"u","event":"e","properties":{},"timestamp":"2020-01-01T00:00:00.000Z"}';

describe('the exact body of an entry', () => {
  it.each([
    ['as they are', OPTIONS],
    ['with a new timestamp', REWRITTEN],
  ])('equals the serialized message, for 26,000 messages %s', (_, options) => expectSameBytes(1, options));

  it('is the line itself if the line is the body', () => {
    expect(sentOf(LINE, OPTIONS)?.exactBody?.toString()).toBe(LINE);
    const shuffled = LINE.replace('"version":1,', '').replace('}', '},"version":1');
    expect(sentOf(shuffled, OPTIONS)?.exactBody?.toString()).toBe(LINE);
  });

  it('is a copy that does not keep the surrounding chunk of the file in memory', () => {
    const chunk = Buffer.alloc(256 * 1024, LINE);
    const bytes = chunk.subarray(0, LINE.length);
    const entry = { kind: 'message', origin: { file: 'f', line: 1 }, bytes } as const;
    const found = readyEntry(prepareEntry(entry, OPTIONS), OPTIONS);
    const body = found.error === undefined ? found.ready.exactBody : undefined;
    expect(body?.length).toBe(LINE.length);
    expect(body?.buffer).not.toBe(chunk.buffer);
  });
});
