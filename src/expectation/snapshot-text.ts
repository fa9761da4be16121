import { InputError } from '../errors.ts';
import type { SnapshotUser } from './snapshot.ts';

const FIRST_LINE = '# hooks snapshot 1';

const PREAMBLE = `${FIRST_LINE}: what a program sent, by user. Written by hooks expect --snapshot FILE --update`;

export function formatSnapshot(users: readonly SnapshotUser[]): string {
  const sections = users.map(({ heading, messages }) => {
    const blocks = messages.map(({ title, lines }) =>
      [title, ...lines.map((line) => `  ${line}`), ''].join('\n'),
    );
    return [heading, '', ...blocks].join('\n');
  });
  return [PREAMBLE, '', ...sections].join('\n');
}

/** Start of the lines that git and others write around a merge conflict. */
const MERGE_MARKER = /^(?:<{7}|\|{7}|={7}|>{7})(?: |$)/;

export interface SnapshotSource {
  readonly file: string;
  /** Whether a new snapshot will replace the snapshot in the file. */
  readonly isReplaced: boolean;
}

/**
 * Parses the text of `formatSnapshot`. Throws InputError if the text is not a snapshot. A damaged snapshot that will be
 * replaced counts as empty.
 */
export function parseSnapshot(text: string, source: SnapshotSource): readonly SnapshotUser[] {
  const [first = '', ...rest] = text.split(/\r?\n/);
  // Two versions of a snapshot can differ in the first line, so a merge conflict can begin before it.
  if (MERGE_MARKER.test(first) && rest.some((line) => line.startsWith(`${FIRST_LINE}:`))) {
    return damaged(first, 1, source);
  }
  if (!first.startsWith(`${FIRST_LINE}:`)) {
    throw new InputError(`Expected a snapshot, which begins with \`${FIRST_LINE}:\``, {
      file: source.file,
      line: 1,
      hint: 'name another file, or remove this one: only a snapshot is written over',
    });
  }
  const users: { heading: string; messages: { title: string; lines: string[] }[] }[] = [];
  for (const [index, line] of rest.entries()) {
    const user = users.at(-1);
    const message = user?.messages.at(-1);
    if (line === '') continue;
    else if (/^(?:user |no user$)/.test(line)) users.push({ heading: line, messages: [] });
    else if (/^ {2}[^ ].* = ./s.test(line) && message !== undefined) message.lines.push(line.slice(2));
    else if (/^[a-z"]/i.test(line) && user !== undefined) user.messages.push({ title: line, lines: [] });
    else return damaged(line, index + 2, source);
  }
  return users;
}

function damaged(text: string, line: number, { file, isReplaced }: SnapshotSource): readonly SnapshotUser[] {
  if (isReplaced) return [];
  const isMarker = MERGE_MARKER.test(text);
  const expected = isMarker
    ? 'a snapshot without a merge conflict'
    : 'a user, a message, or two spaces and `path = value`';
  const hint = `${isMarker ? 'resolve the conflict' : 'correct the line'}, or write the snapshot again with --update`;
  throw new InputError(`Expected ${expected}`, { file, line, hint });
}
