import { createHash } from 'node:crypto';
import { NO_PROGRESS, type Delivery } from '../../../../queue/delivery.ts';
import { printable } from '../../../../redact.ts';
import { nearHint } from '../../../../suggest.ts';
import type { DurableQueue } from '../../../../stores/opened-queue.ts';
import type { Sources } from '../../../../engine/options.ts';
import type { Io } from '../../../io.ts';
import { flagError } from '../../../flags/flag-values.ts';
import { commandSettings } from '../../../flags/delivery/settings.ts';
import type { ChangeResult, DeliveryChange } from '../change-deliveries.ts';
import type { QueueOptions } from '../run.ts';

interface ElsewhereContext extends Pick<DeliveryChange, 'predict'> {
  readonly options: QueueOptions;
  readonly io: Io;
}

/**
 * Retries dead letters at another destination of their source, for example after a destination was renamed. Each dead letter
 * is replaced by a new delivery. Throws ConfigError if no source has the destination.
 */
export async function retryElsewhere(
  { queue, inspection, clock }: DurableQueue,
  to: string,
  { options, io, predict }: ElsewhereContext,
): Promise<Pick<DeliveryChange, 'predict' | 'change'>> {
  const { sources } = await commandSettings(options, io);
  requireDestination(to, Object.values(sources));
  const predictHere: DeliveryChange['predict'] = async (deliveries) => {
    const results = await predict(deliveries);
    return results.map((result, index) =>
      result === 'retried' && deliveries[index]?.type === 'delete' ? 'deletion' : result,
    );
  };
  const change = async (ids: readonly string[]): Promise<readonly ChangeResult[]> => {
    const deliveries = await inspection.getAll(ids);
    const results = await predictHere(deliveries);
    const moved = deliveries.filter((each, index) => each !== undefined && results[index] === 'retried');
    const dead = moved.filter((each) => each !== undefined);
    for (const { source } of dead) requireDestination(to, [sources[source]], source);
    // Adds first: if the process is killed in between, the next run adds the same id, which changes nothing.
    await queue.add(dead.map((each) => deliveryTo(to, each, Math.floor(clock.now()))));
    await inspection.drop(dead);
    return results;
  };
  return { predict: predictHere, change };
}

function requireDestination(
  to: string,
  some: readonly (Sources[string] | undefined)[],
  source?: string,
): void {
  const names = some.flatMap((each) => Object.keys(each?.destinations ?? {}));
  if (names.includes(to)) return;
  const where = source === undefined ? 'the config' : `source ${printable(source, 80)}`;
  const sentence = `Expected \`--to\` to be a destination of ${where}, got ${printable(to, 80)}`;
  const known = names.map((name) => printable(name, 80)).join(', ');
  throw flagError(
    '--to',
    sentence,
    nearHint(to, names, names.length === 0 ? 'it has none' : `give one of ${known}`),
  );
}

/** A new delivery of the message of a dead letter, with its attempts. Its id follows from both, so that it is added once. */
function deliveryTo(destination: string, dead: Delivery, now: number): Delivery {
  const { id, source, messageId, type, body, orderKeys, trace, createdAt, progress } = dead;
  const digest = createHash('sha256')
    .update(JSON.stringify([id, destination]))
    .digest('hex')
    .slice(0, 24);
  return {
    id: `r${digest}`,
    source,
    destination,
    messageId,
    type,
    body,
    orderKeys,
    trace,
    createdAt,
    dueAt: now,
    state: progress.attempts.length > 0 ? 'retrying' : 'pending',
    progress: { ...NO_PROGRESS, attempts: progress.attempts },
  };
}
