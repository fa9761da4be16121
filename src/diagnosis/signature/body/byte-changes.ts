import { STRING } from '../../../signature/body/json-text.ts';
import { RAW_BYTES } from '../../../signature/reasons.ts';
import { ChangeTable, coded, replaced, type Changed, type Cost } from '../change.ts';
import { CHARACTER_SETS } from '../codecs/character-sets.ts';
import { codecChanges, type Bytes } from '../codecs/codec.ts';

/**
 * Applies the changes of this cost that do not parse the body: to its line breaks, its end, its byte order mark and its
 * character set. A body that is not UTF-8 arrives as a Uint8Array, and keeps its character set.
 */
export function byteChanges(bytes: Bytes, cost: Cost): readonly Changed<Bytes>[] {
  if (typeof bytes !== 'string') {
    const text = Buffer.from(bytes).toString('latin1');
    return TEXT_CHANGES.changes(text, cost).map((change) => ({
      ...change,
      value: Buffer.from(change.value, 'latin1'),
    }));
  }
  const changes = TEXT_CHANGES.changes(bytes, cost);
  if (/^[\0-\x7f]*$/.test(bytes)) return changes;
  return [...changes, ...CHARACTER_CHANGES.changes({ bytes: Buffer.from(bytes), text: bytes }, cost)];
}

const DATA_BINARY = 'Send the file as it is: curl --data-binary @FILE, because -d removes its line breaks';

/** Returns a body that may be an HTML form, which programs that parse it write with other spaces. Empty for others. */
function formOf(body: string): string {
  return /^[\w.~*-]+=[^\s{"]*$/.test(body) ? body : '';
}

/** Changes to the text of a body. If a body is not UTF-8, its text has one character per byte, as in Latin-1. */
const TEXT_CHANGES = new ChangeTable([
  ...coded<string>('crlf', [
    [1, 'with LF for CRLF', (body) => (body.includes('\r\n') ? withoutReturns(body) : undefined)],
    // Uses split and join, because replaceAll takes ten times as long for millions of line breaks.
    [
      1,
      'with CRLF for LF',
      (body) => (body.includes('\n') ? withoutReturns(body).split('\n').join('\r\n') : undefined),
    ],
    [
      1,
      'without its line breaks, as curl -d sends a file',
      (body) => (/[\r\n][^\r\n]/.test(body) ? body.replaceAll(/[\r\n]+/g, '') : undefined),
      DATA_BINARY,
    ],
    [
      1,
      'with the line breaks that its indentation shows, which curl -d removes from a file',
      withLines,
      DATA_BINARY,
    ],
  ]),
  ...coded<string>(
    'url-encoded',
    [
      [1, 'over the form with %20 for each +', (body) => replaced(formOf(body), /\+/g, '%20')],
      [1, 'over the form with + for each %20', (body) => replaced(formOf(body), /%20/g, '+')],
    ],
    RAW_BYTES,
  ),
  ...coded<string>('bom', [
    [2, 'without the byte order mark', (body) => replaced(body, /^(?:\ufeff|\xef\xbb\xbf)/, '')],
    [2, 'with a byte order mark in front', (body) => replaced(body, /^(?!\ufeff)/, '\ufeff')],
  ]),
  ...coded<string>('trailing-newline', [
    [1, 'without the trailing newline', (body) => replaced(body, /\r?\n$/, '')],
    [2, 'without the white space around the body', (body) => body.trim()],
    [1, 'with a newline at the end of the body', (body) => withEnd(body, '\n')],
    [2, 'with CRLF at the end of the body', (body) => withEnd(body, '\r\n')],
    [2, 'with a space at the end of the body', (body) => withEnd(body, ' ')],
  ]),
]);

/** Adds white space, unless the text has some at its end, because hardly any program adds both a space and a newline. */
function withEnd(text: string, end: string): string | undefined {
  return /\s$/.test(text) ? undefined : text + end;
}

/** Restores line breaks that indented JSON lost: the indentation shows where they were. Undefined for other bodies. */
function withLines(body: string): string | undefined {
  const [, first] = /^[[{]([ \t]+)/.exec(body) ?? [];
  if (first === undefined || body.includes('\n')) return undefined;
  // White space that follows a colon, or is shorter than the first indentation, is not an indentation.
  const indentation = new RegExp(`${STRING.source}|(?<!:)[ \\t]{${first.length},}|[\\]}]$`, 'g');
  return body.replaceAll(indentation, (part) => (part.startsWith('"') ? part : `\n${part}`));
}

function withoutReturns(body: string): string {
  return body.split('\r\n').join('\n');
}

const CHARACTER_CHANGES = new ChangeTable(codecChanges(CHARACTER_SETS, 'encode', 'over the body'));
