import { isAscii } from 'node:buffer';
import { bodyAffixChanges } from '../affixes.ts';
import { ChangeTable, type Changed, type Cost, type RowGroup } from '../change.ts';
import { CHARACTER_SETS } from '../codecs/character-sets.ts';
import { bodyCodecChanges, type Bytes } from '../codecs/codec.ts';

/** Applies the changes of this cost that any body can have: in its ends, line ends, byte order mark and character set. */
export function byteChanges(bytes: Buffer, cost: Cost): readonly Changed<Bytes>[] {
  const text = bytes.toString('latin1');
  return [
    ...BYTE_CHANGES.changes(bytes, cost),
    ...AFFIX_CHANGES.changes(text, cost).map((each) => ({
      ...each,
      value: Buffer.from(each.value, 'latin1'),
    })),
    ...(isAscii(bytes) ? [] : CHARACTER_CHANGES.changes({ bytes, text: bytes.toString() }, cost)),
  ];
}

const BOM = Buffer.from('\ufeff');
const [LF, CR] = [0x0a, 0x0d];

const BYTE_ROWS: readonly RowGroup<Buffer>[] = [
  {
    code: 'trailing-newline',
    rows: [
      [
        1,
        'without the trailing newline',
        (body) => (body.at(-1) === LF ? body.subarray(0, body.at(-2) === CR ? -2 : -1) : undefined),
      ],
      [2, 'with the body twice', (body) => Buffer.concat([body, body])],
      [2, 'without the trailing newlines', (body) => body.subarray(0, endOfLines(body))],
    ],
  },
  {
    code: 'bom',
    rows: [
      [2, 'without the byte order mark', (body) => (isMarked(body) ? body.subarray(BOM.length) : undefined)],
      [
        2,
        'with a byte order mark in front',
        (body) => (isMarked(body) ? undefined : Buffer.concat([BOM, body])),
      ],
    ],
  },
  {
    code: 'crlf',
    rows: [
      [2, 'with LF for CRLF', (body) => (body.includes('\r\n') ? withLineEnds(body, []) : undefined)],
      [2, 'with CRLF for LF', (body) => (body.includes(LF) ? withLineEnds(body, [CR]) : undefined)],
      [
        2,
        'without its line breaks, as curl -d sends a file',
        (body) => (body.includes(LF) ? withoutBreaks(body) : undefined),
      ],
    ],
  },
];

function endOfLines(body: Buffer): number {
  let end = body.length;
  while (body[end - 1] === LF || body[end - 1] === CR) end--;
  return end;
}

function isMarked(body: Buffer): boolean {
  return body.subarray(0, BOM.length).equals(BOM);
}

/** Replaces line ends byte by byte: replacing millions of line ends in a string takes a hundred times as long. */
function withLineEnds(body: Buffer, before: readonly number[]): Buffer {
  const changed = Buffer.allocUnsafe(2 * body.length);
  let length = 0;
  for (let index = 0; index < body.length; index++) {
    const byte = body[index] ?? 0;
    if (byte === CR && body[index + 1] === LF) continue;
    if (byte === LF) for (const each of before) changed[length++] = each;
    changed[length++] = byte;
  }
  return changed.subarray(0, length);
}

function withoutBreaks(body: Buffer): Buffer {
  return Buffer.from(body.toString('latin1').replaceAll(/[\r\n]+/g, ''), 'latin1');
}

const AFFIX_CHANGES = new ChangeTable([], bodyAffixChanges());
const BYTE_CHANGES = new ChangeTable(BYTE_ROWS);
const CHARACTER_CHANGES = new ChangeTable([], bodyCodecChanges(CHARACTER_SETS, 'encode'));
