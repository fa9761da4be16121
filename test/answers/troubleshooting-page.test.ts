import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ALL_CASES } from './cases/all.ts';

const page = readFileSync(new URL('../../docs/troubleshooting.md', import.meta.url), 'utf8');

/** The sentences that begin an entry of the page, up to the colon: `…` stands for any words. */
const sentences = [...page.matchAll(/^- ((?:`[^`]+`(?:, | and )?)+):/gm)].flatMap(([, quoted = '']) =>
  [...quoted.matchAll(/`([^`]+)`/g)].map(([, sentence = '']) => sentence),
);

/** Sentences that the tests of all Node versions (test/nodes.js) have seen: they need a Node without a safe SQLite. */
const SAID_ELSEWHERE = ['SQLite 3.51.3 or newer is required'];

/** What the answer cases, which run the commands, expect in the output; values such as {url} are any words. */
const SAID = [...ALL_CASES.flatMap(({ cause, fix }) => [cause, fix]), ...SAID_ELSEWHERE].map((text) =>
  text.replace(/\{\w+\}/g, '…'),
);

describe('docs/troubleshooting.md', () => {
  it('begins entries with sentences that a case has seen a command print', () => {
    expect(sentences.length).toBeGreaterThan(40);
    expect(sentences.filter((sentence) => !SAID.some((said) => isSaid(sentence, said)))).toEqual([]);
  });

  it('can be read: at most 25 KB', () => {
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(25_000);
  });
});

function isSaid(sentence: string, said: string): boolean {
  return standsIn(sentence, said) || (said.length > 15 && standsIn(said, sentence));
}

/** Whether the parts of a sentence between `…` stand in a text, in their order. */
function standsIn(sentence: string, text: string): boolean {
  let from = 0;
  return sentence.split('…').every((part) => {
    const at = text.indexOf(part.trim(), from);
    from = at + part.trim().length;
    return at !== -1;
  });
}
