import { toCapture } from '../../capture/to-capture.ts';
import { InputError } from '../../errors.ts';
import { readJson } from '../../message/json.ts';
import type { Delivery } from '../../queue/delivery.ts';
import type { LaneStats } from '../../queue/inspection.ts';
import { printable } from '../../redact.ts';
import { ExitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { escapeInJson, jsonLine } from '../print/json-line.ts';
import { briefJson, briefText, fullJson, fullText, isoTime } from './delivery-line.ts';
import { bodyOf, select, UNSETTLED_AND_DEAD } from './selection.ts';
import { countSelected, COUNTS } from './count.ts';
import { withQueue, type QueueOptions } from './session.ts';

/** `hooks queue stats` */
export function stats(options: QueueOptions, io: Io): Promise<ExitCode> {
  return withQueue(options, io, async ({ inspection, place }) => {
    const isNarrowed = options.filter !== undefined || options.since !== undefined;
    const lanes = isNarrowed ? await countSelected(inspection, options) : await inspection.stats();
    const total = Object.fromEntries(
      COUNTS.map((state) => [state, lanes.reduce((sum, lane) => sum + lane[state], 0)]),
    );
    if (options.output === 'json') {
      for (const lane of lanes) io.out(jsonLine(withIsoTime(lane)));
      io.out(jsonLine({ total, store: place }));
      return ExitCode.ok;
    }
    for (const lane of lanes) io.out(`${statsText(lane)}\n`);
    if (lanes.length === 0) io.note(`Nothing is in ${place}`);
    return ExitCode.ok;
  });
}

function withIsoTime({ nextDueAt, ...lane }: LaneStats): object {
  return nextDueAt === undefined ? lane : { ...lane, nextDueAt: isoTime(nextDueAt) };
}

function statsText(lane: LaneStats): string {
  const counts = COUNTS.map((state) => `${state} ${lane[state].toLocaleString('en-US')}`).join(', ');
  const next = lane.nextDueAt === undefined ? '' : `; next due ${isoTime(lane.nextDueAt)}`;
  return `${printable(lane.source, 80)} → ${printable(lane.destination, 80)}: ${counts}${next}`;
}

/** `hooks queue list` */
export function listDeliveries(options: QueueOptions, io: Io): Promise<ExitCode> {
  return forEach(options, io, (delivery) =>
    options.output === 'json' ? jsonLine(briefJson(delivery)) : `${briefText(delivery, io.color)}\n`,
  );
}

/** `hooks queue export` */
export function exportBodies(options: QueueOptions, io: Io): Promise<ExitCode> {
  return forEach(options, io, (delivery) => {
    if (delivery.isDamaged) {
      io.note(`left out: the body of ${printable(delivery.id)} is damaged (${showHint(delivery)})`);
      return undefined;
    }
    // What is invalid was never sent, and may be no message at all.
    const isMessage = delivery.reason !== 'invalid' || bodyOf(delivery) !== undefined;
    const line = isMessage ? lineOf(delivery) : undefined;
    if (line !== undefined) return `${line}\n`;
    io.note(`left out: the body of ${printable(delivery.id)} is not JSON (${showHint(delivery)})`);
    return undefined;
  });
}

function showHint({ id }: Delivery): string {
  return `hooks queue show ${printable(id)}`;
}

/**
 * The body where it is one line of JSON that means it. Else a capture, which may hold any bytes: of what is no JSON, and of
 * what would not get its own bytes back from `replay` once the characters are escaped that a terminal obeys.
 */
function lineOf({ body }: Delivery): string {
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

function forEach(
  options: QueueOptions,
  io: Io,
  textOf: (delivery: Delivery) => string | undefined,
): Promise<ExitCode> {
  return withQueue(options, io, async ({ inspection }) => {
    let found = 0;
    for await (const page of select(inspection, options, { states: UNSETTLED_AND_DEAD })) {
      if (io.signal.aborted) break;
      found += page.length;
      const text = page.map((delivery) => textOf(delivery) ?? '').join('');
      if (text !== '') io.out(text);
    }
    if (found === 0 && options.output === 'text' && !options.quiet) io.note('Nothing is there');
    return ExitCode.ok;
  });
}

/** `hooks queue show` */
export function showDelivery(id: string, options: QueueOptions, io: Io): Promise<ExitCode> {
  return withQueue(options, io, async ({ inspection }) => {
    const delivery = await inspection.get(id);
    if (delivery === undefined) {
      throw new InputError(`There is no delivery ${printable(id, 80)} in the queue`, {
        hint: 'hooks queue list shows their ids',
      });
    }
    io.out(options.output === 'json' ? jsonLine(fullJson(delivery)) : `${fullText(delivery, io.color)}\n`);
    return ExitCode.ok;
  });
}
