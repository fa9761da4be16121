import { PARTITIONS, parseMember } from '../../audience/entry.ts';
import type { AudienceCatalog, AudienceOverview } from '../../audience/store.ts';
import { ConfigError, QueueError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { openQueue } from '../flags/delivery/queue-flags.ts';
import { commandSettings } from '../flags/delivery/settings.ts';
import { ExitCode, interruptedCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { jsonLine } from '../print/json-line.ts';
import type { OverviewFlags } from './options.ts';

/** `hooks audience list` */
export function listAudiences(flags: OverviewFlags, io: Io): Promise<ExitCode> {
  return withAudiences(flags, io, async (store) => {
    const all = (await store.list()).filter(({ kind }) => kind === flags.kind);
    for (const each of all) io.out(flags.output === 'json' ? jsonLine(jsonOf(each)) : `${lineOf(each)}\n`);
    if (all.length === 0 && !flags.quiet)
      io.note(`note: no ${flags.kind} was synced yet (hooks ${flags.kind} sync)`);
    return ExitCode.ok;
  });
}

/** `hooks audience show` */
export function showAudience(name: string, flags: OverviewFlags, io: Io): Promise<ExitCode> {
  return withAudiences(flags, io, async (store) => {
    const found = await find(store, name, flags);
    if (flags.members) return printMembers(store, onlyOne(found, '--members'), { flags, io });
    for (const each of found) io.out(flags.output === 'json' ? jsonLine(jsonOf(each)) : `${textOf(each)}\n`);
    return ExitCode.ok;
  });
}

/** `hooks audience forget` */
export function forget(name: string, flags: OverviewFlags, io: Io): Promise<ExitCode> {
  return withAudiences(flags, io, async (store) => {
    const audience = onlyOne(await find(store, name, flags), 'forget');
    if (!(await store.forget(audience))) {
      throw new QueueError(`The ${flags.kind} ${shown(audience.name)} is being synced`, {
        hint: 'wait until that has ended, or end it',
      });
    }
    if (flags.output === 'json') io.out(jsonLine({ forgotten: true, ...jsonOf(audience) }));
    else if (!flags.quiet) io.out(`forgotten  ${lineOf(audience)}\n`);
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

/** By its name, or by the name of its trait. At least one. */
async function find(
  store: AudienceCatalog,
  name: string,
  { kind, place }: OverviewFlags,
): Promise<readonly AudienceOverview[]> {
  const all = (await store.list()).filter((each) => each.kind === kind);
  const named = all.filter((each) => each.name === name || each.trait === name);
  const found = named.filter((each) => place === undefined || each.place === place);
  if (found.length > 0) return found;
  const places = named.map((each) => shown(each.place)).join(', ');
  throw new ConfigError(
    named.length === 0
      ? `There is no ${kind} ${shown(name)}`
      : `The ${kind} ${shown(name)} was not synced to ${shown(place ?? '')}`,
    { key: 'name', hint: named.length === 0 ? `hooks ${kind} list shows them` : `it was to ${places}` },
  );
}

function onlyOne(found: readonly AudienceOverview[], what: string): AudienceOverview {
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const places = found.map(({ place }) => shown(place)).join(', ');
  throw new ConfigError(`Expected \`--place\` with ${what}, since there are several: ${places}`, {
    key: '--place',
    origin: '--place',
    hint: 'add --place with one of them',
  });
}

/** As last told, as NDJSON, which `sync` reads. */
async function printMembers(
  store: AudienceCatalog,
  audience: AudienceOverview,
  { flags, io }: { readonly flags: OverviewFlags; readonly io: Io },
): Promise<ExitCode> {
  const partitions = store.partitions(audience);
  for (let partition = 0; partition < PARTITIONS && !io.signal.aborted; partition++) {
    const { entries } = await partitions.get(partition);
    const lines = Buffer.from(entries).toString().split('\n').slice(0, -1);
    io.out(lines.map((line) => memberLine(line, flags)).join(''));
    const drained = io.drained();
    if (drained !== undefined) await drained;
  }
  return interruptedCode(io) ?? ExitCode.ok;
}

function memberLine(line: string, { kind }: OverviewFlags): string {
  const { userId, value } = parseMember(line);
  return jsonLine(kind === 'trait' ? { userId, value } : { userId });
}

function lineOf({ name, trait, place, members, inDoubt, syncedAt }: AudienceOverview): string {
  const doubt = inDoubt === 0 ? '' : `, ${inDoubt.toLocaleString('en-US')} to be told again`;
  const when = syncedAt === undefined ? 'no sync is complete' : `synced ${isoTime(syncedAt)}`;
  return `${printable(name, 80)} (${trait}) to ${printable(place)}: ${members.toLocaleString('en-US')}${doubt}, ${when}`;
}

function textOf({
  kind,
  name,
  trait,
  place,
  members,
  inDoubt,
  createdAt,
  syncedAt,
}: AudienceOverview): string {
  const rows = [
    [kind, printable(name)],
    ['sent as', trait],
    ['to', printable(place)],
    [kind === 'trait' ? 'users' : 'members', members.toLocaleString('en-US')],
    ...(inDoubt === 0 ? [] : [['to be told again', inDoubt.toLocaleString('en-US')]]),
    ['first sync', isoTime(createdAt)],
    ['last complete sync', syncedAt === undefined ? 'none' : isoTime(syncedAt)],
  ];
  return rows.map(([label = '', text = '']) => `${label.padEnd(19)} ${text}`).join('\n');
}

function jsonOf({
  kind,
  name,
  trait,
  place,
  members,
  inDoubt,
  createdAt,
  syncedAt,
}: AudienceOverview): object {
  return {
    kind,
    name,
    trait,
    place,
    members,
    inDoubt,
    createdAt: isoTime(createdAt),
    syncedAt: syncedAt === undefined ? null : isoTime(syncedAt),
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function shown(text: string): string {
  return printable(JSON.stringify(text), 200);
}
