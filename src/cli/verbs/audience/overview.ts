import {
  findAudiences,
  membersOf,
  type AudienceCatalog,
  type AudienceOverview,
} from '../../../audience/sync.ts';
import { QueueError } from '../../../errors.ts';
import { printable } from '../../../redact.ts';
import { isoTime } from '../../../clock.ts';
import { formatCount } from '../../../message/limits.ts';
import { flagError } from '../../flags/flag-values.ts';
import { openQueue } from '../../flags/delivery/queue-flags.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { fitText } from '../../fit-text.ts';
import { jsonLine } from '../../json-line.ts';
import { formatRow } from '../../print/table.ts';
import type { OverviewFlags } from './options.ts';

/** Runs `hooks audience list`. */
export function listAudiences(flags: OverviewFlags, io: Io): Promise<ExitCode> {
  return withAudiences(flags, io, async (store) => {
    const all = (await store.list()).filter(({ kind }) => kind === flags.kind);
    for (const each of all) {
      io.out(
        flags.output === 'json'
          ? jsonLine(overviewJson(each))
          : fitText(`${overviewLine(each)}\n`, io.stdoutColumns),
      );
    }
    if (all.length === 0 && !flags.quiet) {
      io.note(`note: no ${flags.kind} was synced yet (hooks ${flags.kind} sync)`);
    }
    return ExitCode.ok;
  });
}

/** Runs `hooks audience show`. */
export function showAudience(name: string, flags: OverviewFlags, io: Io): Promise<ExitCode> {
  return withAudiences(flags, io, async (store) => {
    const found = await findAudiences(store, { ...flags, name });
    if (flags.members) return printMembers(store, onlyOne(found, '--members'), { flags, io });
    for (const each of found) {
      io.out(flags.output === 'json' ? jsonLine(overviewJson(each)) : overviewText(each, io));
    }
    return ExitCode.ok;
  });
}

/** Runs `hooks audience forget`. */
export function forgetAudience(name: string, flags: OverviewFlags, io: Io): Promise<ExitCode> {
  return withAudiences(flags, io, async (store) => {
    const audience = onlyOne(await findAudiences(store, { ...flags, name }), 'forget');
    if (!(await store.forget(audience))) {
      throw new QueueError(`The ${flags.kind} ${quoted(audience.name)} is being synced`, {
        hint: 'wait until the sync has ended, or end it',
      });
    }
    if (flags.output === 'json') io.out(jsonLine({ forgotten: true, ...overviewJson(audience) }));
    else if (!flags.quiet) io.out(fitText(`forgotten  ${overviewLine(audience)}\n`, io.stdoutColumns));
    return ExitCode.ok;
  });
}

async function withAudiences(
  flags: OverviewFlags,
  io: Io,
  use: (store: AudienceCatalog) => Promise<ExitCode>,
): Promise<ExitCode> {
  const durable = await openQueue(flags, await commandSettings(flags, io), { create: false, io });
  try {
    return await use(await durable.audiences());
  } finally {
    await durable.close();
  }
}

function onlyOne(found: readonly AudienceOverview[], what: string): AudienceOverview {
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const places = found.map(({ place }) => quoted(place)).join(', ');
  const sentence = `Expected \`--place\` with ${what}, because there are several: ${places}`;
  throw flagError('--place', sentence, 'add --place with one of them');
}

/** Prints the last state of each user as NDJSON, which `sync` reads. */
async function printMembers(
  store: AudienceCatalog,
  audience: AudienceOverview,
  { flags, io }: { readonly flags: OverviewFlags; readonly io: Io },
): Promise<ExitCode> {
  for await (const members of membersOf(store, audience)) {
    if (io.signal.aborted) break;
    io.out(
      members.map((member) => jsonLine(flags.kind === 'trait' ? member : { userId: member.userId })).join(''),
    );
    const drained = io.drained();
    if (drained !== undefined) await drained;
  }
  return interruptedCode(io) ?? ExitCode.ok;
}

function overviewLine({ name, trait, place, members, inDoubt, syncedAt }: AudienceOverview): string {
  const doubt = inDoubt === 0 ? '' : `, ${formatCount(inDoubt)} to be sent again`;
  const when = syncedAt === undefined ? 'no sync is complete' : `synced ${isoTime(syncedAt)}`;
  return `${printable(name, 80)} (${trait}) to ${printable(place)}: ${formatCount(members)}${doubt}, ${when}`;
}

function overviewText(overview: AudienceOverview, { stdoutColumns: columns }: Io): string {
  const { kind, name, trait, place, members, inDoubt, createdAt, syncedAt } = overview;
  const rows = [
    [kind, printable(name)],
    ['sent as', trait],
    ['to', printable(place)],
    [kind === 'trait' ? 'users' : 'members', formatCount(members)],
    ...(inDoubt === 0 ? [] : [['to be sent again', formatCount(inDoubt)]]),
    ['first sync', isoTime(createdAt)],
    ['last complete sync', syncedAt === undefined ? 'none' : isoTime(syncedAt)],
  ];
  const cells = rows.map(([label = '', text = '']) => [{ text: label, minWidth: 19 }, { text }]);
  return cells.map((row) => `${formatRow(row, { columns, gap: 1 })}\n`).join('');
}

function overviewJson({ createdAt, syncedAt, ...facts }: AudienceOverview): object {
  const { kind, name, trait, place, members, inDoubt } = facts;
  const times = {
    createdAt: isoTime(createdAt),
    syncedAt: syncedAt === undefined ? null : isoTime(syncedAt),
  };
  return { kind, name, trait, place, members, inDoubt, ...times };
}

function quoted(text: string): string {
  return printable(JSON.stringify(text), 200);
}
