import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { printable } from '../../../redact.ts';
import { Windowed } from '../windowed.tsx';

const ROW_HEIGHT = 22;

/** Every byte as hexadecimal and, if printable ASCII, as a character. */
export function BytesView({ body }: { readonly body: Uint8Array }): JSX.Element {
  const [width, setWidth] = useState(800);
  const perRow = width < 560 ? 8 : 16;
  const row = (index: number): JSX.Element => {
    const bytes = body.subarray(index * perRow, (index + 1) * perRow);
    return (
      <div key={index} class="line">
        <span class="number">{(index * perRow).toString(16).padStart(6, '0')}</span>
        <span class="hex">{hexOf(bytes).padEnd(perRow * 3)}</span>
        <span class="ascii">{asciiOf(bytes)}</span>
      </div>
    );
  };
  return (
    <Windowed
      count={Math.ceil(body.length / perRow)}
      rowHeight={ROW_HEIGHT}
      row={row}
      onWidth={setWidth}
      attributes={{ class: 'bytes pane', role: 'region', tabIndex: 0, 'aria-label': 'Body as bytes' }}
    />
  );
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(' ');
}

function asciiOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·')).join(
    '',
  );
}

/** Approximate width of a character in the font of the text, in pixels. */
const CHARACTER_WIDTH = 7.6;
const NUMBER_WIDTH = 108;

/** The text with control characters escaped. Long lines continue in rows without a line number. */
export function TextView({ text }: { readonly text: string }): JSX.Element {
  const [width, setWidth] = useState(800);
  const columns = Math.max(20, Math.floor((width - NUMBER_WIDTH) / CHARACTER_WIDTH));
  const pieces = useMemo(() => piecesOf(text, columns), [text, columns]);
  const row = (index: number): JSX.Element | undefined => {
    const piece = pieces[index];
    return (
      piece && (
        <div key={index} class="line">
          <span class="number">{piece.line}</span>
          <bdi class="text">{printable(text.slice(piece.from, piece.to), columns)}</bdi>
        </div>
      )
    );
  };
  return (
    <Windowed
      count={pieces.length}
      rowHeight={ROW_HEIGHT}
      row={row}
      onWidth={setWidth}
      attributes={{ class: 'text pane', role: 'region', tabIndex: 0, 'aria-label': 'Body as text' }}
    />
  );
}

interface TextRow {
  readonly from: number;
  readonly to: number;
  /** Number of the line. Undefined if the row continues a line. */
  readonly line: number | undefined;
}

function piecesOf(text: string, columns: number): TextRow[] {
  const pieces: TextRow[] = [];
  let start = 0;
  for (let line = 1; start <= text.length; line++) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    pieces.push({ from: start, to: Math.min(end, start + columns), line });
    for (let from = start + columns; from < end; from += columns) {
      pieces.push({ from, to: Math.min(end, from + columns), line: undefined });
    }
    start = end + 1;
  }
  return pieces;
}
