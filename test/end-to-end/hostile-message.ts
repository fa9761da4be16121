import type { HooksResult } from './running-command.ts';

/** Controls that move the cursor, set the title, clear the screen or reorder a line, between words to search for. */
export const HOSTILE = [
  'evil',
  '\u001b[2J\u001b[5;7H', // CSI: clears the screen, moves the cursor
  '\u001b]0;pwned\u0007', // OSC: sets the title; BEL
  '\u009b2J\u009d0;pwned\u009c', // the same in C1
  '\u001bP1$q\u001b\\', // DCS
  '\b\b\u007f\u0000',
  '\rforged line',
  '\u202eflipped\u2066\u200f\u061c', // bidirectional controls
  '\u2028next\u2029',
].join('');

// eslint-disable-next-line no-control-regex -- control characters are what this pattern is for
const RAW = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** Throws if an output contains a character that a terminal would obey. */
export function expectHarmless({ stdout, stderr }: Pick<HooksResult, 'stdout' | 'stderr'>): void {
  for (const text of [stdout, stderr]) {
    const at = text.search(RAW);
    if (at !== -1) {
      throw new Error(
        `A raw control character: ${JSON.stringify(text.slice(Math.max(0, at - 80), at + 20))}`,
      );
    }
  }
}

export const EVIL_MESSAGE = {
  type: 'track',
  userId: HOSTILE,
  event: HOSTILE,
  messageId: HOSTILE,
  properties: { [HOSTILE]: HOSTILE },
  timestamp: '2026-11-20T21:10:05.123Z',
};
export const EVIL_BODY = JSON.stringify(EVIL_MESSAGE);
