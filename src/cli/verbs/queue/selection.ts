import { Option, type Command } from 'commander';
import { systemClock } from '../../../clock.ts';
import { parseDuration } from '../../../duration.ts';
import { readTimestamp } from '../../../message/timestamp.ts';
import { isJsonObject, type JsonObject } from '../../../message/types.ts';
import { DEAD_REASONS, type Delivery, type DeliveryState } from '../../../queue/delivery.ts';
import type { QueueInspection, DeliverySelection } from '../../../queue/inspection.ts';
import { printable } from '../../../redact.ts';
import { nearHint } from '../../../suggest.ts';
import { readConditions, readFilter, type MessageFilter } from '../../../message/filter.ts';
import { collect, flagError } from '../../flags/flag-values.ts';
import { parseJsonOrUndefined } from '../../../message/json/batch-document.ts';

export interface SelectionFlags {
  readonly state?: readonly DeliveryState[];
  readonly filter?: readonly string[];
  readonly since?: string;
  readonly newerThan?: string;
  readonly olderThan?: string;
}

/** All states, in the order of a delivery's life. */
export const STATES: readonly DeliveryState[] = ['pending', 'sending', 'retrying', 'delivered', 'dead'];
/** States that a user may have to act on. */
export const UNSETTLED_AND_DEAD: readonly DeliveryState[] = ['pending', 'sending', 'retrying', 'dead'];
const PAGE = 200;

export function addSelectionFlags(command: Command, { withStates = true } = {}): Command {
  command
    .option('--filter <path=value,…>', 'select these values, or others with != (repeat)', collect)
    .option('--older-than <time>', 'select deliveries added before (30d, or a timestamp)')
    .option('--newer-than <time>', 'select deliveries added since (2h, or a timestamp)')
    .addOption(new Option('--since <time>', 'the same as --newer-than').hideHelp());
  if (withStates) {
    command.addOption(new Option('--state <states...>', 'select deliveries in these states').choices(STATES));
  }
  return command;
}

/**
 * Yields pages of the deliveries that match the flags. `states` applies unless --state or --filter choose states. Throws
 * ConfigError for an invalid flag.
 */
export async function* select(
  inspection: QueueInspection,
  flags: SelectionFlags,
  {
    states,
    pageSize = PAGE,
    toChange = false,
  }: Pick<DeliverySelection, 'states' | 'toChange'> & { readonly pageSize?: number },
): AsyncGenerator<readonly Delivery[]> {
  const filter = flags.filter && readDeliveryFilter(flags.filter);
  const selected = flags.state ?? (asksForState(flags) ? STATES : states);
  const { since, before } = addingTimeOf(flags);
  const selection = { states: selected, since, limit: pageSize, toChange };
  let after: number | undefined = 0;
  while (after !== undefined) {
    const { deliveries, next } = await inspection.list({ ...selection, after });
    yield deliveries.filter(
      (each) => each.createdAt < before && (filter === undefined || filter(filterable(each))),
    );
    after = next;
  }
}

/** The fields of a delivery that have few values. `reason=` selects the deliveries without a reason. */
const CLOSED_FIELDS: Readonly<Record<string, readonly string[]>> = { state: STATES, reason: DEAD_REASONS };

/** Reads `--filter` flags. Throws ConfigError also for an unknown state or reason, which would match no delivery. */
function readDeliveryFilter(flags: readonly string[]): MessageFilter {
  for (const { path, operator, value } of flags.flatMap((text) => readConditions(text))) {
    const known = Object.hasOwn(CLOSED_FIELDS, path) ? CLOSED_FIELDS[path] : undefined;
    const isCompared = operator === '=' || operator === '!=';
    if (known === undefined || !isCompared || value === '' || known.includes(value)) continue;
    const sentence = `Expected \`${path}\` in \`--filter\` to be one of ${known.join(', ')}, got ${printable(value, 60)}`;
    throw flagError('--filter', sentence, nearHint(value, known, 'run hooks queue list to see them'));
  }
  return readFilter(flags);
}

/** Times of adding: from `since` on, and earlier than `before`. Milliseconds since the epoch. */
export interface AddingTime {
  readonly since: number;
  readonly before: number;
}

/** Returns the time of adding that the flags select, by default any. Throws ConfigError for an invalid time. */
export function addingTimeOf({ since, newerThan, olderThan }: SelectionFlags): AddingTime {
  const [flag, from = since] = newerThan === undefined ? ['--since'] : ['--newer-than', newerThan];
  return {
    since: from === undefined ? 0 : readTime(flag, from),
    before: olderThan === undefined ? Infinity : readTime('--older-than', olderThan),
  };
}

/** Whether the flags select only some of the deliveries in the states that apply. */
export function isNarrowed({ filter, since, newerThan, olderThan }: SelectionFlags): boolean {
  return [filter, since, newerThan, olderThan].some((flag) => flag !== undefined);
}

/** Whether the flags select all dead letters of a time, and no other delivery. */
export function selectsDead({ filter, state }: SelectionFlags): boolean {
  return filter === undefined && (state === undefined || state.every((each) => each === 'dead'));
}

/** Whether the filter chooses states. A filter that only excludes states does not. */
function asksForState({ filter = [] }: SelectionFlags): boolean {
  return filter
    .flatMap((text) => readConditions(text))
    .some(({ path, operator }) => path === 'state' && operator !== '!=' && operator !== '!?');
}

function readTime(flag: string, text: string): number {
  const durationMs = parseDuration(text);
  if (typeof durationMs === 'number' && durationMs >= 0) return systemClock.now() - durationMs;
  const reading = readTimestamp(text);
  if (reading.ok) return Date.parse(reading.iso);
  // For a value that begins like a date, the error explains the problem of the date.
  const { expected, hint } = /^\d{4}-/.test(text)
    ? reading
    : {
        expected: 'an age or a timestamp',
        hint: `give for example ${flag} 2h, or ${flag} 2026-11-20T21:10:05Z`,
      };
  throw flagError(flag, `Expected \`${flag}\` to be ${expected}, got ${printable(text, 60)}`, hint);
}

/** Returns the fields that --filter matches: the fields of the body, overwritten by the fields of the delivery. */
function filterable(delivery: Delivery): JsonObject {
  const { id, messageId, source, destination, state, type, reason = '' } = delivery;
  const body = parseJsonOrUndefined(delivery.body);
  return {
    ...(isJsonObject(body) ? body : {}),
    id,
    messageId,
    source,
    destination,
    state,
    type,
    reason,
  };
}
