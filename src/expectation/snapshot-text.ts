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

export type SnapshotReading =
  | { readonly ok: true; readonly users: readonly SnapshotUser[] }
  | {
      readonly ok: false;
      /** Number of the line, from 1. */
      readonly line: number;
      readonly expected: string;
      readonly hint: string;
      /** Whether the text starts like a snapshot, so that a new snapshot may replace it. */
      readonly isDamaged: boolean;
    };

/** Start of the lines that git and others write around a merge conflict. */
const MERGE_MARKER = /^(?:<{7}|\|{7}|={7}|>{7})(?: |$)/;

/** Parses the text of `formatSnapshot`. */
export function parseSnapshot(text: string): SnapshotReading {
  const [first = '', ...rest] = text.split(/\r?\n/);
  // The first lines of two versions can differ, and so be in conflict themselves.
  if (MERGE_MARKER.test(first) && rest.some((line) => line.startsWith(`${FIRST_LINE}:`))) {
    return damaged(first, 1);
  }
  if (!first.startsWith(`${FIRST_LINE}:`)) {
    return {
      ok: false,
      line: 1,
      expected: `a snapshot, which begins with \`${FIRST_LINE}:\``,
      hint: 'name another file, or remove this one: only a snapshot is written over',
      isDamaged: false,
    };
  }
  const users: { heading: string; messages: { title: string; lines: string[] }[] }[] = [];
  for (const [index, line] of rest.entries()) {
    const user = users.at(-1);
    const message = user?.messages.at(-1);
    if (line === '') continue;
    else if (/^(?:user |no user$)/.test(line)) users.push({ heading: line, messages: [] });
    else if (/^ {2}[^ ].* = ./s.test(line) && message !== undefined) message.lines.push(line.slice(2));
    else if (/^[a-z"]/i.test(line) && user !== undefined) user.messages.push({ title: line, lines: [] });
    else return damaged(line, index + 2);
  }
  return { ok: true, users };
}

function damaged(text: string, line: number): SnapshotReading {
  const isMarker = MERGE_MARKER.test(text);
  return {
    ok: false,
    line,
    expected: isMarker
      ? 'a snapshot without a merge conflict'
      : 'a user, a message, or two spaces and `path = value`',
    hint: `${isMarker ? 'resolve the conflict' : 'correct the line'}, or write the snapshot again with --update`,
    isDamaged: true,
  };
}
