import { Option, type Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { parseDuration } from '../../duration.ts';
import { ConfigError } from '../../errors.ts';
import { readTimestamp } from '../../message/timestamp.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import type { Delivery, DeliveryState } from '../../queue/delivery.ts';
import type { QueueInspection, DeliverySelection } from '../../queue/inspection.ts';
import { printable } from '../../redact.ts';
import { readConditions, readFilter } from '../../message/filter.ts';
import { collect } from '../flags/flag-values.ts';

export interface SelectionFlags {
  readonly state?: readonly DeliveryState[];
  readonly filter?: readonly string[];
  readonly since?: string;
}

const STATES: readonly DeliveryState[] = ['pending', 'sending', 'retrying', 'delivered', 'dead'];
/** What somebody may have to do something about. */
export const UNSETTLED_AND_DEAD: readonly DeliveryState[] = ['pending', 'sending', 'retrying', 'dead'];
const PAGE = 200;

export function addSelectionFlags(command: Command, { withStates = true } = {}): void {
  command
    .option(
      '--filter <path=value,…>',
      'only those that have these values; != for all others (repeat)',
      collect,
    )
    .option('--since <time>', 'only those added since: 2h, or a timestamp');
  if (withStates)
    command.addOption(new Option('--state <states...>', 'only those in these states').choices(STATES));
}

/** The deliveries that the flags leave, page by page. Throws ConfigError for a flag that cannot be read. */
export function select(
  inspection: QueueInspection,
  flags: SelectionFlags,
  { states, pageSize = PAGE }: { readonly states: readonly DeliveryState[]; readonly pageSize?: number },
): AsyncIterable<readonly Delivery[]> {
  const filter = flags.filter === undefined ? undefined : readFilter(flags.filter);
  const since = flags.since === undefined ? 0 : readSince(flags.since);
  const selected = flags.state ?? (asksForState(flags) ? STATES : states);
  return pages(inspection, { states: selected, since, limit: pageSize }, (delivery) =>
    filter === undefined ? true : filter(filterable(delivery)),
  );
}

/** Then the filter says which states are meant. One that only leaves states out says nothing of what else to look at. */
function asksForState({ filter = [] }: SelectionFlags): boolean {
  return filter
    .flatMap((text) => readConditions(text))
    .some(({ path, isEqual }) => path === 'state' && isEqual);
}

async function* pages(
  inspection: QueueInspection,
  selection: Omit<DeliverySelection, 'after'>,
  isMeant: (delivery: Delivery) => boolean,
): AsyncGenerator<readonly Delivery[]> {
  let after: number | undefined = 0;
  while (after !== undefined) {
    const { deliveries, next } = await inspection.list({ ...selection, after });
    yield deliveries.filter(isMeant);
    after = next;
  }
}

const NO_TIME = {
  expected: 'a time ago or a timestamp',
  hint: 'for example --since 2h, or --since 2026-11-20T21:10:05Z',
};

function readSince(text: string): number {
  const durationMs = parseDuration(text);
  if (typeof durationMs === 'number' && durationMs >= 0) return systemClock.now() - durationMs;
  const reading = readTimestamp(text);
  if (reading.ok) return Date.parse(reading.iso);
  // Whoever has written a date is told what is wrong with it.
  const { expected, hint } = /^\d{4}-/.test(text) ? reading : NO_TIME;
  throw new ConfigError(`Expected \`--since\` to be ${expected}, got ${printable(text, 60)}`, {
    key: '--since',
    origin: '--since',
    hint,
  });
}

/** The fields of the body, and those of the delivery over them. */
function filterable(delivery: Delivery): JsonObject {
  const { id, messageId, source, destination, state, type, reason = '' } = delivery;
  const body = bodyOf(delivery);
  return {
    ...(body !== undefined && isJsonObject(body) ? body : {}),
    id,
    messageId,
    source,
    destination,
    state,
    type,
    reason,
  };
}

/** Undefined for what is no JSON, which a dead letter of reason `invalid` may be. */
export function bodyOf({ body }: Delivery): JsonValue | undefined {
  try {
    return JSON.parse(Buffer.from(body).toString()) as JsonValue; // what JSON.parse gives
  } catch {
    return undefined;
  }
}
