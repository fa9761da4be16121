import { isAscii } from 'node:buffer';
import { withoutNewlines } from '../../../signature/body/json-text.ts';
import { bodyAffixChanges } from '../affixes.ts';
import { ChangeTable, replaced, type Changed, type Cost, type RowGroup } from '../change.ts';
import { CHARACTER_SETS } from '../codecs/character-sets.ts';
import { bodyCodecChanges, type Bytes } from '../codecs/codec.ts';

/** Applies the changes of this cost that any body can have: in its ends, line ends, byte order mark and character set. */
export function byteChanges(bytes: Buffer, cost: Cost): readonly Changed<Bytes>[] {
  const changes = LATIN_1_CHANGES.changes(bytes.toString('latin1'), cost);
  return [
    ...changes.map((change) => ({ ...change, value: Buffer.from(change.value, 'latin1') })),
    ...(isAscii(bytes) ? [] : CHARACTER_CHANGES.changes({ bytes, text: bytes.toString() }, cost)),
  ];
}

/** The bytes of a byte order mark in UTF-8, each as a character of Latin-1. */
const BOM = '\xef\xbb\xbf';

/** Changes of a text that has a character of Latin-1 for each byte: a text is cheaper to change than bytes. */
const LATIN_1_ROWS: readonly RowGroup<string>[] = [
  {
    code: 'trailing-newline',
    rows: [
      [1, 'without the trailing newline', (body) => replaced(body, /\r?\n$/, '')],
      [2, 'without the trailing newlines', withoutNewlines],
      [2, 'with a zero byte at the end of the body', (body) => `${body}\0`],
    ],
  },
  { code: 'other-encoding', rows: [[2, 'with the body twice', (body) => body + body]] },
  {
    code: 'bom',
    rows: [
      [2, 'without the byte order mark', (body) => replaced(body, /^\xef\xbb\xbf/, '')],
      [2, 'with a byte order mark in front', (body) => (body.startsWith(BOM) ? undefined : BOM + body)],
    ],
  },
  {
    code: 'crlf',
    rows: [
      [2, 'with LF for CRLF', withoutReturns],
      // Replaces by split and join, because replaceAll takes ten times as long for millions of line ends.
      [2, 'with CRLF for LF', (body) => withoutReturns(body).split('\n').join('\r\n')],
      [2, 'without its line breaks, as curl -d sends a file', (body) => replaced(body, /[\r\n]+/g, '')],
    ],
  },
];

function withoutReturns(body: string): string {
  return body.split('\r\n').join('\n');
}

const LATIN_1_CHANGES = new ChangeTable(LATIN_1_ROWS, bodyAffixChanges());
const CHARACTER_CHANGES = new ChangeTable([], bodyCodecChanges(CHARACTER_SETS, 'encode'));
