import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LoadMessages, type KeyedMessage } from '../../../../../src/cli/verbs/replay/load/load-messages.ts';
import { WHOLE, type LoadShare } from '../../../../../src/replay/load/load-curve.ts';
import { createRewrite } from '../../../../../src/replay/rewrite.ts';
import { openInputs, STDIN } from '../../../../../src/replay/reading/inputs.ts';
import type { SelectionOptions } from '../../../../../src/replay/selection.ts';
import { track, tracks } from '../../../../end-to-end/receiving.ts';
import { temporaryFolder } from '../../../../temporary-folder.ts';

const now = (): number => Date.now();

interface Given {
  readonly file?: string;
  readonly stdin?: string;
  readonly loops?: boolean;
  readonly selection?: SelectionOptions;
  readonly share?: LoadShare;
}

async function messagesOf({
  file,
  stdin = '',
  loops = true,
  selection = {},
  share = WHOLE,
}: Given): Promise<LoadMessages> {
  const cwd = temporaryFolder({ 'day.ndjson': file ?? '' });
  const inputs = await openInputs([file === undefined ? STDIN : 'day.ndjson'], {
    cwd,
    stdin: Readable.from([Buffer.from(stdin)]),
  });
  const rewrite = createRewrite({ timestamps: 'keep', messageIds: 'new', now, newId: randomUUID });
  return new LoadMessages({
    inputs,
    reading: {},
    readyOptions: { exact: false, strict: false, rewrite, now },
    selection,
    loops,
    destination: 'Webhooks',
    keepsOrder: false,
    onInvalid: () => {},
    share,
  });
}

/** Takes this many messages, waiting for those that are not read yet; fewer if there are no more. */
async function taken(messages: LoadMessages, count: number): Promise<KeyedMessage[]> {
  const all: KeyedMessage[] = [];
  while (all.length < count) {
    const message = messages.next();
    if (message !== undefined) all.push(message);
    else if (messages.isEnded) break;
    else await delay(1);
  }
  return all;
}

function eventOf({ body }: KeyedMessage): unknown {
  return (JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>)['event'];
}

/** Lines of 30 KB, so that a file is quickly larger than what is kept in memory. */
function large(count: number): string {
  const padding = 'x'.repeat(30_000);
  return Array.from(
    { length: count },
    (_, n) => `${track(n, { event: `E${n}`, properties: { padding } })}\n`,
  ).join('');
}

async function shared(file: string, of: number, given: Given, count: number): Promise<string[][]> {
  const shares = Array.from({ length: of }, (_, index) => ({ index, of }));
  return Promise.all(
    shares.map(async (share) => {
      const messages = await messagesOf({ file, share, ...given });
      return (await taken(messages, count)).map((message) => String(eventOf(message)));
    }),
  );
}

const numbered = (count: number): string =>
  Array.from({ length: count }, (_, n) => `${track(n, { event: `E${n}` })}\n`).join('');

describe('the messages of a load', () => {
  it('begin again after the last one, each time with new ids', async () => {
    const messages = await messagesOf({ file: tracks(3) });
    const all = await taken(messages, 10_000);
    expect(all).toHaveLength(10_000);
    expect(new Set(all.map(({ messageId }) => messageId)).size).toBe(10_000);
    expect(messages.counts.read).toBe(10_000);
  });

  it('end after the last one without a loop', async () => {
    const messages = await messagesOf({ file: tracks(3), loops: false });
    expect(await taken(messages, 10)).toHaveLength(3);
    expect(messages.isEnded).toBe(true);
  });

  it('repeat only the selected ones', async () => {
    const file = Array.from({ length: 9 }, (_, n) => `${track(n, { event: `E${n}` })}\n`).join('');
    const messages = await messagesOf({ file, selection: { offset: 2, limit: 3 } });
    const events = (await taken(messages, 9)).map(eventOf);
    expect(events).toEqual(['E2', 'E3', 'E4', 'E2', 'E3', 'E4', 'E2', 'E3', 'E4']);
    expect(messages.counts.skipped).toBe(2);
  });

  it('repeat standard input from memory', async () => {
    const messages = await messagesOf({ stdin: tracks(2) });
    expect(await taken(messages, 7)).toHaveLength(7);
  });

  it('read a file again that is larger than what is kept in memory', async () => {
    const count = 2_400;
    const messages = await messagesOf({ file: large(count) });
    const events = (await taken(messages, count + 5)).map(eventOf);
    expect(events.slice(0, count)).toEqual(Array.from({ length: count }, (_, n) => `E${n}`));
    expect(events.slice(count)).toEqual(['E0', 'E1', 'E2', 'E3', 'E4']);
  });

  it('repeat the selected ones of such a file', async () => {
    const messages = await messagesOf({ file: large(2_400), selection: { offset: 1, limit: 2 } });
    expect((await taken(messages, 6)).map(eventOf)).toEqual(['E1', 'E2', 'E1', 'E2', 'E1', 'E2']);
  });

  describe('of several senders', () => {
    it('are each taken by one sender, in turn', async () => {
      const all = await shared(numbered(7), 3, { loops: false }, 10);
      expect(all).toEqual([
        ['E0', 'E3', 'E6'],
        ['E1', 'E4'],
        ['E2', 'E5'],
      ]);
    });

    it('are each taken once a pass, by another sender in each pass', async () => {
      const all = await shared(numbered(2), 2, {}, 6);
      expect(all).toEqual([
        ['E0', 'E1', 'E0', 'E1', 'E0', 'E1'],
        ['E1', 'E0', 'E1', 'E0', 'E1', 'E0'],
      ]);
    });

    it('repeat although a sender has none in some passes', async () => {
      const twice = ['E0', 'E0'];
      expect(await shared(numbered(1), 3, {}, 2)).toEqual([twice, twice, twice]);
    });

    it('leave out invalid entries, which one sender counts', async () => {
      const file = `{"type":"nonsense"}\n${numbered(1)}`;
      const senders = await Promise.all(
        [0, 1].map((index) => messagesOf({ file, share: { index, of: 2 }, selection: { limit: 2 } })),
      );
      for (const messages of senders) expect(await taken(messages, 3)).toHaveLength(3);
      expect(senders.map(({ counts }) => counts.invalid)).toEqual([1, 0]);
    });
  });
});
