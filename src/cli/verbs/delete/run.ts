import { isUtf8 } from 'node:buffer';
import { sleep, systemClock } from '../../../clock.ts';
import type { Settings } from '../../../config/settings.ts';
import type { Deletions } from '../../../deletion/request.ts';
import { deletionStateOf, type DeletionRecord } from '../../../deletion/state.ts';
import type { EngineEvent } from '../../../engine/engine-event.ts';
import type { Sources } from '../../../engine/options.ts';
import { ConfigError, InputError } from '../../../errors.ts';
import { openEngine } from '../../../app/open-engine.ts';
import type { OpenQueue } from '../../../stores/opened-queue.ts';
import { printable } from '../../../redact.ts';
import type { GlobalOptions } from '../../command.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { openQueueToWrite, type StoreFlags } from '../../flags/delivery/queue-flags.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import { claimStdin } from '../../stdin.ts';

export interface DeleteOptions extends GlobalOptions, StoreFlags {
  readonly userIds: readonly string[];
  readonly source?: readonly string[];
  readonly queue?: true;
  /** Time to wait for the delivery of the deletion messages, in ms. */
  readonly retryFor: number;
  readonly dryRun?: true;
}

/** Runs `hooks delete`: records a deletion request, queues its messages, and delivers them until `retryFor` ends. */
export async function requestDeletion(given: DeleteOptions, io: Io): Promise<ExitCode> {
  const settings = await commandSettings(given, io);
  const options = { ...given, userIds: await deletedUsers(given.userIds, io) };
  const { sources } = settings;
  const affected = affectedSources(options, settings);
  if (options.dryRun) return printPreview(affected, sources, options, io);
  const open = await openQueueToWrite(options, settings, { io });
  const record = await runDeletion({ options, sources, affected, open, io });
  return printDeletion(record, options, io);
}

function affectedSources({ source }: DeleteOptions, settings: Settings): readonly string[] {
  // Throws for a name that is not configured.
  for (const name of source ?? []) settings.source(name);
  const affected = [...new Set(source ?? settings.sourceNames)];
  if (affected.some((name) => enabledDestinations(settings.sources, name).length > 0)) return affected;
  throw new ConfigError('No affected source has a destination enabled', {
    key: 'webhooks',
    hint: affected.every((name) => Object.keys(settings.sources[name]?.destinations ?? {}).length === 0)
      ? 'set HOOKS_URL, or put `webhooks` in the config (.hooksrc.yaml; hooks init writes one)'
      : `set \`enabled: true\` for a destination of ${affected.map((name) => printable(name, 80)).join(', ')}`,
  });
}

function enabledDestinations(sources: Sources, name: string): readonly string[] {
  return Object.entries(sources[name]?.destinations ?? {})
    .filter(([, { enabled }]) => enabled)
    .map(([destination]) => destination);
}

interface DeletionRun {
  readonly options: DeleteOptions;
  readonly sources: Sources;
  readonly affected: readonly string[];
  readonly open: OpenQueue;
  readonly io: Io;
}

async function runDeletion({ options, sources, affected, open, io }: DeletionRun): Promise<DeletionRecord> {
  const { engine, deletions, close } = await openEngine({
    sources,
    open,
    // Private addresses are allowed: a person at a prompt may deliver to any address, as with `send`.
    allowPrivate: true,
    allowProxy: true,
    proxyEnv: io.env,
    unknownLanes: 'leave',
    onEvent: (event) => {
      if (event.kind === 'attempt') noteFailure(event, options, io);
    },
    onUnrecorded: () => {}, // the queue keeps the result, which reading the request shows
  });
  try {
    const record = await deletions.create({ userIds: options.userIds, sources: affected });
    if (options.queue) return record;
    engine.start();
    await awaitDelivery(record.id, deletions, { options, io });
    await engine.close();
    return (await deletions.get(record.id)) ?? record;
  } finally {
    await close();
  }
}

const MIN_PAUSE_MS = 50;
/** Pause after a read, in lengths of that read: large deletion requests take seconds to read, which delays delivering. */
const PAUSES_PER_READ = 9;

/**
 * Waits until all messages of the deletion request are settled. Reads the stored record of the request instead of events,
 * because a worker in another process can deliver the messages too.
 */
async function awaitDelivery(
  id: string,
  deletions: Deletions,
  { options, io }: Pick<DeletionRun, 'options' | 'io'>,
): Promise<void> {
  const giveUpAt = systemClock.now() + options.retryFor;
  while (!io.signal.aborted && systemClock.now() < giveUpAt) {
    const readAt = systemClock.now();
    const record = await deletions.get(id);
    const states = Object.values(record?.sources ?? {}).map(deletionStateOf);
    if (!states.includes('pending')) return;
    const pauseMs = Math.max(MIN_PAUSE_MS, PAUSES_PER_READ * (systemClock.now() - readAt));
    await sleep(systemClock, Math.min(pauseMs, Math.max(0, giveUpAt - systemClock.now())), io.signal);
  }
}

function noteFailure({ attempt }: EngineEvent & { kind: 'attempt' }, { quiet }: DeleteOptions, io: Io): void {
  if (attempt.result === 'delivered' || quiet) return;
  io.note(io.errColor.yellow(`failed: ${attempt.status ?? attempt.error} from ${printable(attempt.url)}`));
}

function printDeletion(record: DeletionRecord, { output }: DeleteOptions, io: Io): ExitCode {
  const rows = sourceRows(record);
  for (const row of rows) io.out(output === 'json' ? jsonLine(row) : rowText(row, io));
  const isBad = rows.some(({ state }) => state === 'failed');
  return interruptedCode(io) ?? (isBad ? ExitCode.negative : ExitCode.ok);
}

function sourceRows({ id, userIds, sources }: DeletionRecord) {
  return Object.entries(sources).map(([source, deletion]) => ({
    deletion: id,
    source,
    state: deletionStateOf(deletion),
    users: userIds.length,
    delivered: deletion.delivered,
    failed: deletion.failed,
  }));
}

type SourceRow = ReturnType<typeof sourceRows>[number];

function rowText({ source, state, users, delivered, failed }: SourceRow, { color }: Io): string {
  const stateText = state === 'failed' ? color.red(state) : color.green(state);
  const counts = `${users} user${users === 1 ? '' : 's'}, ${delivered} delivered, ${failed} failed`;
  return `${stateText}  ${printable(source)}  (${counts})\n`;
}

function printPreview(
  affected: readonly string[],
  sources: Sources,
  { userIds, output }: DeleteOptions,
  io: Io,
): ExitCode {
  const users = userIds.length;
  for (const source of affected) {
    const destinations = enabledDestinations(sources, source);
    const names = destinations.map((name) => printable(name)).join(', ') || 'no destination';
    if (output === 'json') io.out(jsonLine({ dryRun: true, source, destinations, users }));
    else io.out(`${printable(source)}: ${users} to ${names}\n`);
  }
  return ExitCode.ok;
}

/** Returns the given user ids without duplicates. `-` reads ids from standard input, one a line. Throws InputError. */
async function deletedUsers(given: readonly string[], io: Io): Promise<readonly string[]> {
  const users = new Set<string>();
  for (const id of given) for (const each of id === '-' ? await linesOfStdin(io) : [id]) users.add(each);
  if (users.has('')) throw userIdError('Expected a user id, got an empty string');
  if (users.size === 0) throw userIdError('Expected user ids on standard input, got none');
  return [...users];
}

/** Reads the lines of standard input that are not empty. */
async function linesOfStdin(io: Io): Promise<readonly string[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of claimStdin(io, 'the input -')) chunks.push(chunk as Buffer); // the stream has no encoding
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes)) throw userIdError('Expected user ids in UTF-8 on standard input');
  const text = bytes.toString().replace(/^\ufeff/, '');
  return text.split(/\r?\n/).filter((line) => line !== '');
}

function userIdError(message: string): InputError {
  return new InputError(message, { hint: 'give ids as arguments, or - and one id a line on standard input' });
}
