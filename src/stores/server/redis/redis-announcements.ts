import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { NewEntry, Server } from '../server.ts';

/** Minimum ms between two announcements of a process. Each names all series that got entries since the last. */
const GATHER_MS = 10;
/** Milliseconds between two subscriptions. Repeating one detects a connection that is dead without being closed. */
const BEAT_MS = 2_000;

interface Announcements {
  readonly announce: (entries: readonly NewEntry[]) => void;
  readonly watch: Server['watch'];
}

/** Announces added entries by pub/sub, outside the transaction that adds them: a user who may not publish can still add. */
export function redisAnnouncements(redis: Redis): Announcements {
  const channel = `hooks:added:${redis.options.db ?? 0}`; // databases share channels
  const own = randomUUID();
  const added = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const publish = (): void => {
    timer = undefined;
    if (added.size === 0) return;
    timer = setTimeout(publish, GATHER_MS).unref();
    // Ignores a failure to publish, because other processes also poll.
    redis.publish(channel, [own, ...added].join(' ')).catch(() => {});
    added.clear();
  };
  return {
    announce: (entries) => {
      for (const { series } of entries) added.add(series);
      if (timer === undefined) publish();
    },
    watch: (onAdded) => {
      const listener = redis.duplicate({ autoResubscribe: false });
      const subscribe = (): void => void listener.subscribe(channel).catch(() => {});
      // Ignores errors of the connection, because the driver connects again.
      listener.on('error', () => {});
      listener.on('ready', subscribe);
      listener.on('message', (_channel, text) => {
        const [sender, ...series] = text.split(' ');
        if (sender !== own) for (const each of series) onAdded(each);
      });
      listener.connect().catch(() => {});
      const beat = setInterval(subscribe, BEAT_MS).unref();
      return () => {
        clearInterval(beat);
        listener.disconnect();
      };
    },
  };
}
