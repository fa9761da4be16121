import { createHash } from 'node:crypto';
import { sync } from '../../../audience/sync.ts';
import { systemClock } from '../../../clock.ts';
import type { Outcome } from '../../../app/pipeline/outcomes.ts';
import { gunzipIfPacked } from '../../../replay/reading/gunzip.ts';
import { openInputs, STDIN, type Input } from '../../../replay/reading/inputs.ts';
import { openChunkStore } from '../../../stores/open.ts';
import { openQueue, openQueueToWrite } from '../../flags/delivery/queue-flags.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import { destinationsOf, resolveWhereTo, type WhereTo } from '../../flags/delivery/where-to.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { claimStdin } from '../../stdin.ts';
import { SyncDelivery, type SyncDeliveryParts } from './delivery.ts';
import type { SyncFlags } from './options.ts';
import { readMaxChange } from './max-change.ts';
import { SyncOutput } from './output.ts';
import type { Settings } from '../../../config/settings.ts';
import type { Sources } from '../../../engine/options.ts';
import { redactUrl } from '../../../redact.ts';

/** Runs `hooks audience sync` and `hooks trait sync`. */
export async function syncFile(
  [name, file]: readonly [name: string, file: string],
  flags: SyncFlags,
  io: Io,
): Promise<ExitCode> {
  // Reports a wrong flag before reading anything.
  if (flags.maxChange !== undefined) readMaxChange(flags.maxChange);
  const stdin = file === STDIN ? claimStdin(io, 'the input -') : io.stdin;
  const [input] = await openInputs([file], { cwd: io.cwd, stdin });
  if (input === undefined) throw new TypeError('Expected one input, got none');
  const settings = await commandSettings(flags, io);
  const to = await resolveWhereTo(whereToOf(flags), settings, io);
  // Without --queue, only the state of the sync is in the store, which configs may share.
  const durable = await (flags.dryRun
    ? openQueue(flags, settings, { io })
    : openQueueToWrite(flags, settings, { io, binds: flags.queue === true }));
  try {
    const output = new SyncOutput(name, flags, io);
    return await runSync({ name, input, to, settings, durable, output, flags, io });
  } finally {
    await durable.close();
  }
}

/** Returns the flags without --store if --queue is not given. Then --store only names the store of the sync's state. */
function whereToOf({ store, ...flags }: SyncFlags): SyncFlags {
  return flags.queue && store !== undefined ? { ...flags, store } : flags;
}

interface FileSync extends SyncDeliveryParts {
  readonly name: string;
  readonly input: Input;
}

async function runSync({ name, input, ...parts }: FileSync): Promise<ExitCode> {
  const { to, settings, durable, output, flags, io } = parts;
  const delivery = new SyncDelivery(parts);
  let isOver = false;
  try {
    const result = await sync<Outcome>({
      name,
      kind: flags.kind,
      place: audiencePlaceOf(to, flags, settings),
      input: membersFile(input, parts),
      store: await durable.audiences(),
      openChunks: openChunkStore,
      clock: systemClock,
      signal: io.signal,
      maxChange: flags.maxChange === undefined ? undefined : readMaxChange(flags.maxChange),
      force: flags.force,
      dryRun: flags.dryRun,
      called: { maxChange: '--max-change', force: '--force', dryRun: '--dry-run' },
      openTarget: () => delivery.open(),
      onStart: (changes) => output.start(changes),
      onOutcome: (change, outcome) => output.settled(change, outcome, delivery.judgementOf(outcome)),
    });
    await output.causes.loading;
    isOver = true;
    const isGood = flags.dryRun ? output.preview(result) : output.finish(result);
    return interruptedCode(io) ?? (isGood ? ExitCode.ok : ExitCode.negative);
  } finally {
    await delivery.close({ interrupted: !isOver });
    output.stop();
  }
}

function membersFile(input: Input, { flags, output, io }: Pick<FileSync, 'flags' | 'output' | 'io'>) {
  return {
    name: input.name,
    open: () => gunzipIfPacked(input.open(io.signal)),
    idColumn: flags.idColumn,
    valueColumn: flags.valueColumn,
    areTexts: flags.text,
    onRead: (entries: number) => output.read(entries),
  };
}

/**
 * Returns the place that, together with the name, identifies the state of a sync. A configured source keeps its place if its
 * webhooks change or messages go through the queue. The URLs of a flag or of HOOKS_URL are a separate place.
 */
function audiencePlaceOf(
  to: WhereTo,
  { url }: { readonly url?: readonly string[] },
  settings: Pick<Settings, 'originOf'>,
): string {
  switch (to.kind) {
    case 'loopback':
      return 'loopback';
    case 'tracking-api':
      return `${redactUrl(to.endpoint)} (write key ${fingerprint(to.writeKey)})`;
    case 'webhooks':
    case 'queue':
      if (url === undefined && settings.originOf('webhooks') !== 'HOOKS_URL') return `source ${to.source}`;
      return [...urlsOf(to.sources)].join(' ');
    default:
      return to satisfies never;
  }
}

function urlsOf(sources: Sources): ReadonlySet<string> {
  const webhooks = destinationsOf(sources).flatMap((destination) => destination.webhooks);
  return new Set(webhooks.map(({ url }) => redactUrl(url)));
}

/** Returns a short hash of a write key, which distinguishes keys without revealing them. */
function fingerprint(writeKey: string): string {
  return createHash('sha256').update(writeKey).digest('hex').slice(0, 8);
}
