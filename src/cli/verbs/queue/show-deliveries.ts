import { toCapture } from '../../../capture/to-capture.ts';
import { InputError } from '../../../errors.ts';
import { readJson } from '../../../message/json/read-json.ts';
import type { Delivery } from '../../../queue/delivery.ts';
import { formatCount } from '../../../message/limits.ts';
import type { QueueInspection } from '../../../queue/inspection.ts';
import type { DurableQueue } from '../../../stores/opened-queue.ts';
import { escapeInJson, printable } from '../../../redact.ts';
import { ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { briefJson, fullJson, seenJson } from './delivery-json.ts';
import { briefHead, briefText, fullText, problemLine } from './delivery-line.ts';
import { fullIds } from './full-ids.ts';
import { isNarrowed, STATES, UNSETTLED_AND_DEAD, select } from './selection.ts';
import { withQueue, type QueueOptions } from './run.ts';
import { parseJsonOrUndefined } from '../../../message/json/batch-document.ts';

/** Default of --limit on a terminal: one or two screens, because more lines would scroll away. */
const LISTED_AT_A_TERMINAL = 50;

/** Runs `hooks queue list`. */
export function listDeliveries(options: QueueOptions, io: Io): Promise<ExitCode> {
  const { output, limit = io.stdoutIsTty && output === 'text' ? LISTED_AT_A_TERMINAL : Infinity } = options;
  const limited = { ...options, limit };
  if (output === 'json') return printEach(limited, io, (delivery) => jsonLine(briefJson(delivery)));
  const now = Date.now();
  let head = briefHead(io);
  return printEach(limited, io, (delivery) => {
    const text = `${head}${briefText(delivery, io, now)}${problemLine(delivery, io)}\n`;
    head = '';
    return text;
  });
}

/** Runs `hooks queue export`. */
export function exportDeliveries(options: QueueOptions, io: Io): Promise<ExitCode> {
  const { deliveries: isWhole = false } = options;
  const formatted = (delivery: Delivery): string | undefined => {
    const { body, isDamaged, reason } = delivery;
    // The body of a message that was rejected as invalid is possibly not JSON.
    const isPrinted = isWhole || reason !== 'invalid' || parseJsonOrUndefined(body) !== undefined;
    if (!isDamaged && isPrinted) {
      return `${isWhole ? escapeInJson(JSON.stringify(fullJson(delivery))) : bodyLine(delivery)}\n`;
    }
    const id = printable(delivery.id);
    const problem = isDamaged ? 'damaged' : 'not JSON';
    io.note(`left out: the body of ${id} is ${problem} (hooks queue show ${id})`);
    return undefined;
  };
  return printEach(options, io, formatted, {
    out: io.verbatim.out,
    begin: async ({ file }) => {
      if (isWhole && !options.quiet && (await file?.isDelivered())) io.note(DELIVERED_MEANWHILE);
    },
    // Comes last, so that an import that is interrupted recognizes no message whose deliveries are missing.
    end: async (durable) => {
      if (!isWhole || options.state !== undefined || isNarrowed(options)) return;
      for await (const page of durable.acceptedLately()) {
        if (io.signal.aborted) return;
        io.verbatim.out(page.map((each) => `${escapeInJson(JSON.stringify(seenJson(each)))}\n`).join(''));
      }
    },
  });
}

const DELIVERED_MEANWHILE =
  'note: a process delivers from this queue: stop serve and worker before the export, or messages may be sent twice';

/**
 * Returns the body if one line of JSON represents it exactly. Otherwise returns a capture, which can hold any bytes: for a
 * body that is not JSON or that parsing would change, and for one whose exact bytes `replay` could not restore from a line
 * in which the characters that control a terminal are escaped.
 */
function bodyLine({ body }: Delivery): string {
  if (isLossless(body)) {
    const text = Buffer.from(body).toString();
    const stringified = JSON.stringify(JSON.parse(text));
    const line = /[\r\n]/.test(text) ? stringified : text;
    const escaped = escapeInJson(line);
    if (escaped === line || text === stringified) return escaped;
  }
  return escapeInJson(JSON.stringify(toCapture({ method: 'POST', url: '/', headers: [], body })));
}

function isLossless(body: Uint8Array): boolean {
  try {
    readJson(body);
    return true;
  } catch {
    return false;
  }
}

interface PrintEachOptions extends Pick<Io, 'out'> {
  /** Called before the first delivery is read. */
  readonly begin?: (durable: DurableQueue) => Promise<void>;
  /** Called after the last delivery is printed. */
  readonly end?: (durable: DurableQueue) => Promise<void>;
}

function printEach(
  options: QueueOptions,
  io: Io,
  format: (delivery: Delivery) => string | undefined,
  { out, begin, end }: PrintEachOptions = io,
): Promise<ExitCode> {
  return withQueue(options, io, async (durable) => {
    const { inspection } = durable;
    await begin?.(durable);
    let found = 0;
    const { limit = Infinity } = options;
    for await (const page of select(inspection, options, { states: UNSETTLED_AND_DEAD })) {
      if (io.signal.aborted) break;
      const shown = page.slice(0, limit - found);
      found += page.length;
      const text = shown.map((delivery) => format(delivery) ?? '').join('');
      if (text !== '') out(text);
      if (found > limit) {
        const shownOf = `showing ${limit}${await ofAll(inspection, options)}`;
        if (!options.quiet) io.note(`note: ${shownOf}; --limit N shows more`);
        break;
      }
    }
    await end?.(durable);
    if (found === 0 && options.output === 'text' && !options.quiet) io.note('No deliveries found');
    return ExitCode.ok;
  });
}

/** The number of listed deliveries, after ` of `. Empty for a selection whose deliveries would have to be read to be counted. */
async function ofAll(inspection: QueueInspection, options: QueueOptions): Promise<string> {
  if (isNarrowed(options)) return '';
  const states = options.state ?? UNSETTLED_AND_DEAD;
  const counts = (await inspection.stats()).flatMap((lane) => states.map((state) => lane[state]));
  return ` of ${formatCount(counts.reduce((sum, count) => sum + count, 0))}`;
}

/** Runs `hooks queue show`. */
export function showDelivery(id: string, options: QueueOptions, io: Io): Promise<ExitCode> {
  return withQueue(options, io, async ({ inspection }) => {
    const [fullId = id] = await fullIds(inspection, [id]);
    const delivery = await inspection.get(fullId);
    if (delivery === undefined) {
      throw new InputError(`There is no delivery ${printable(id, 80)} in the queue`, {
        hint: (await messageHint(inspection, id, io)) ?? 'run hooks queue list to see the ids',
      });
    }
    if (options.output === 'json') io.out(jsonLine(fullJson(delivery)));
    else io.out(`${await fullText(delivery, io, Date.now())}\n`);
    return ExitCode.ok;
  });
}

/** Names the deliveries of a message, whose id was given for that of a delivery. Undefined if the queue has none. */
async function messageHint(
  inspection: QueueInspection,
  messageId: string,
  { signal }: Io,
): Promise<string | undefined> {
  const ids: string[] = [];
  for await (const page of select(inspection, {}, { states: STATES })) {
    ids.push(...page.filter((each) => each.messageId === messageId).map(({ id }) => printable(id, 80)));
    if (ids.length >= SHOWN_OF_MESSAGE || signal.aborted) break;
  }
  if (ids.length === 0) return undefined;
  const shown = ids.slice(0, SHOWN_OF_MESSAGE).join(', or ');
  return `this is the id of a message: run hooks queue show ${shown}`;
}

const SHOWN_OF_MESSAGE = 3;
