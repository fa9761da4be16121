import { HooksError, InputError } from '../../../../errors.ts';
import { readJson } from '../../../../message/json/read-json.ts';
import { toMovedDelivery, type Delivery } from '../../../../queue/delivery.ts';
import { expandInputs } from '../../../../replay/reading/expand-inputs.ts';
import { openInputs, STDIN, type Input } from '../../../../replay/reading/inputs.ts';
import { readEntries } from '../../../../replay/reading/read-entries.ts';
import type { ReplayEntry } from '../../../../replay/reading/replay-entry.ts';
import type { SeenMessage } from '../../../../service/ingest/seen.ts';
import { addMoved, seenMessages } from '../../../../stores/accepted-messages.ts';
import type { DurableQueue } from '../../../../stores/opened-queue.ts';
import { openQueueToWrite } from '../../../flags/delivery/queue-flags.ts';
import { commandSettings } from '../../../flags/delivery/settings.ts';
import { ExitCode, interruptedCode } from '../../../exit-code.ts';
import type { Io } from '../../../io.ts';
import { claimStdin } from '../../../stdin.ts';
import { deliveryOf, seenMessageOf } from '../delivery-json.ts';
import { GoneDestinations } from './gone-destinations.ts';
import { withProgress, writeResult, type QueueOptions } from '../run.ts';

/** Deliveries per transaction, so that the disk is synced once for all of them. */
const PAGE = 1_000;

interface ImportCounts {
  readonly waiting: number;
  readonly dead: number;
  /** Number of deliveries that were not added, because the queue has or had one with the same id. */
  readonly known: number;
  /** Number of deliveries that were not added, because they are delivered. */
  readonly delivered: number;
  /** Number of lines about messages of the last 24 hours, which the queue now recognizes if a client sends them again. */
  readonly seen: number;
}

/**
 * Runs `hooks queue import FILES`: adds the deliveries of an export to a queue, with their ids, destinations, message ids and
 * attempts. An id is added once, so an interrupted import can be run again.
 */
export async function importDeliveries(
  patterns: readonly string[],
  options: QueueOptions,
  io: Io,
): Promise<ExitCode> {
  const files = await expandInputs(patterns, io.cwd);
  const stdin = files.includes(STDIN) ? claimStdin(io, 'the input -') : io.stdin;
  const inputs = await openInputs(files, { cwd: io.cwd, stdin });
  const pages = pagesOf(inputs, io.signal);
  // Reads a page before the queue is opened, so that a wrong file makes no new queue.
  let page = await pages.next();
  const settings = await commandSettings(options, io);
  // Without a config, the import is for any config, because the deliveries name their destinations.
  const binds = settings.configPath !== undefined;
  const durable = await openQueueToWrite(options, settings, { io, binds });
  let counts: ImportCounts = { waiting: 0, dead: 0, known: 0, delivered: 0, seen: 0 };
  try {
    const gone = new GoneDestinations(settings);
    await withProgress('imported', { options, io }, async (progress) => {
      for (; page.done !== true; page = await pages.next()) {
        counts = withPage(counts, page.value, await add(page.value, durable));
        gone.see(page.value.deliveries);
        progress.update(counts.waiting + counts.dead);
      }
    });
    gone.warn(options, io);
    writeResult({ fields: { ...counts, to: durable.place }, text: textOf(counts, durable) }, { options, io });
    return interruptedCode(io) ?? ExitCode.ok;
  } catch (error) {
    if (counts.waiting + counts.dead + counts.known + counts.seen > 0) {
      io.note(`note: ${textOf(counts, durable)}; importing the whole file again adds each delivery once`);
    }
    throw error;
  } finally {
    await durable.close();
  }
}

/** Lines of an export. */
interface ExportPage {
  readonly deliveries: Delivery[];
  readonly seen: SeenMessage[];
}

/** Yields the lines in pages. Throws InputError for an entry of another kind, before its page is added. */
async function* pagesOf(inputs: readonly Input[], signal: AbortSignal): AsyncGenerator<ExportPage> {
  let page: ExportPage = { deliveries: [], seen: [] };
  for (const input of inputs) {
    for await (const entries of readEntries(input, signal)) {
      for (const entry of entries) {
        readLine(entry, page);
        if (page.deliveries.length + page.seen.length < PAGE) continue;
        yield page;
        page = { deliveries: [], seen: [] };
      }
    }
  }
  yield page;
}

/** Reads a line, and adds it to the page. */
function readLine(entry: ReplayEntry, { deliveries, seen }: ExportPage): void {
  if (entry.kind === 'broken') throw entry.error;
  try {
    const value = readJson(entry.bytes, entry.origin);
    const message = seenMessageOf(value);
    if (message === undefined) deliveries.push(deliveryOf(value));
    else seen.push(message);
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    const hint = 'import the lines of hooks queue export --deliveries; hooks replay sends messages';
    throw new InputError(error.message, { ...entry.origin, hint, cause: error });
  }
}

/** Adds a page. Returns the ids that the queue knew before. */
async function add({ deliveries, seen }: ExportPage, durable: DurableQueue): Promise<ReadonlySet<string>> {
  const delivered = deliveries.filter(({ state }) => state === 'delivered');
  const undelivered = deliveries.filter(({ state }) => state !== 'delivered');
  const known = await durable.inspection.states(undelivered.map(({ id }) => id));
  await addMoved(durable, undelivered.map(toMovedDelivery));
  await durable.seen.restore([...seen, ...seenMessages(delivered)]);
  return new Set(known.keys());
}

function withPage(
  { waiting, dead, known, delivered, seen }: ImportCounts,
  { deliveries: page, seen: { length: seenCount } }: ExportPage,
  knownIds: ReadonlySet<string>,
): ImportCounts {
  const added = page.filter(({ id, state }) => state !== 'delivered' && !knownIds.has(id));
  const deadCount = added.filter(({ state }) => state === 'dead').length;
  const deliveredCount = page.filter(({ state }) => state === 'delivered').length;
  return {
    waiting: waiting + added.length - deadCount,
    dead: dead + deadCount,
    known: known + page.length - added.length - deliveredCount,
    delivered: delivered + deliveredCount,
    seen: seen + seenCount,
  };
}

function textOf({ waiting, dead, known, delivered, seen }: ImportCounts, { place }: DurableQueue): string {
  return [
    `imported ${waiting} waiting and ${dead} dead into ${place}`,
    ...(known > 0 ? [`${known} were in the queue already`] : []),
    ...(delivered > 0 ? [`${delivered} are delivered, and were left out`] : []),
    ...(seen > 0 ? [`${seen} of the last 24 hours are recognized if they come again`] : []),
  ].join('; ');
}
