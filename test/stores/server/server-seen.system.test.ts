// Needs redis-server, postgres.
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { SEEN_FOR_MS, shortId } from '../../../src/service/ingest/seen.ts';
import { ServerSeen } from '../../../src/stores/server/server-seen.ts';
import type { Server } from '../../../src/stores/server/server.ts';
import { FakeClock } from '../../fake-clock.ts';
import { hasServer, SERVER_KINDS } from './servers.ts';
import { useServer } from './use-server.ts';

const STORED = Promise.resolve();

describe.each(SERVER_KINDS)('ServerSeen on %s', (kind) => {
  if (!hasServer(kind)) return it.skip('needs the server');
  const empty = useServer(kind);
  let server: Server;
  /** The server forgets by its own time. */
  let clock: FakeClock;
  let seen: ServerSeen;
  beforeEach(async () => {
    server = await empty();
    clock = new FakeClock(Math.floor(systemClock.now()));
    seen = new ServerSeen(server, clock);
  });

  it('knows added ids of the source, whatever their length', async () => {
    const long = 'x'.repeat(30_000);
    await seen.add('web', ['a', long], STORED);
    expect(await seen.among('web', ['a', 'b', long, `${long}y`])).toEqual(new Set(['a', long]));
    expect(await seen.among('app', ['a'])).toEqual(new Set());
  });

  it('restores messages of another queue until 24 hours after they were accepted there', async () => {
    const long = 'x'.repeat(100);
    const acceptedAt = clock.now() - SEEN_FOR_MS + 60_000;
    await seen.add('web', ['known'], STORED);
    await seen.restore([
      { source: 'web', messageId: 'a', acceptedAt },
      { source: 'web', messageId: shortId(long), acceptedAt },
      { source: 'web', messageId: 'known', acceptedAt },
      { source: 'web', messageId: 'old', acceptedAt: acceptedAt - 60_000 },
    ]);
    await seen.restore([]);
    expect(await seen.among('web', ['a', long, 'old', 'known'])).toEqual(new Set(['a', long, 'known']));
    await clock.advance(60_000);
    expect(await seen.among('web', ['a', long, 'known'])).toEqual(new Set(['known']));
  });

  it('knows the ids that another process added', async () => {
    await seen.add('web', ['a'], STORED);
    expect(await new ServerSeen(server, clock).among('web', ['a', 'b'])).toEqual(new Set(['a']));
  });

  it('does not know messages that could not be stored', async () => {
    await expect(seen.add('web', ['a'], Promise.reject(new Error('full')))).rejects.toThrow('full');
    expect(await seen.among('web', ['a'])).toEqual(new Set());
  });

  it('forgets after 24 hours, and then knows a repeated message from its new time', async () => {
    await seen.add('web', ['a'], STORED);
    await clock.advance(SEEN_FOR_MS - 1);
    expect(await seen.among('web', ['a'])).toEqual(new Set(['a']));
    await clock.advance(1);
    expect(await seen.among('web', ['a'])).toEqual(new Set());
    await seen.add('web', ['a'], STORED);
    await clock.advance(SEEN_FOR_MS - 1);
    expect(await seen.among('web', ['a'])).toEqual(new Set(['a']));
  });
});
