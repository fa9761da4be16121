import createDebug from 'debug';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { resolveClientOptions } from '../../src/client/options.ts';
import { createDebugLog } from '../../src/client/log.ts';
import { TrackingApiSink } from '../../src/client/tracking-api-sink.ts';
import { BatchReceiver } from './batch-receiver.ts';
import { HurriedClock } from './hurried-clock.ts';
import { httpTransport } from './http-transport.ts';

describe('DEBUG=analytics', () => {
  const printed: string[] = [];
  let receiver: BatchReceiver;

  beforeEach(async () => {
    receiver = await BatchReceiver.start();
    vi.stubEnv('DEBUG', 'analytics');
    // The package reads DEBUG only when it is first loaded, which another file of this process may have done.
    createDebug.enable('analytics');
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    createDebug.disable();
    await receiver.close();
  });

  it('prints what the client does, but no secret and no body', async () => {
    receiver.answers.push({ status: 503 });
    const clock = new HurriedClock();
    const sink = new TrackingApiSink({
      endpoint: receiver.url,
      writeKey: 'w-secret',
      version: '1.2.3',
      timeoutMs: 5_000,
      transport: httpTransport(),
      clock,
      random: () => 0.5,
    });
    const client = createClient({ sink, clock, options: resolveClientOptions() });
    void client.track({
      userId: 'u-private',
      event: 'Signup',
      messageId: 'm\u001b1',
      properties: { card: '4111' },
    });
    await client.close();
    const text = printed.join('');
    for (const part of [
      'analytics enqueue track m\\u001b1',
      'flush 1 messages, ',
      `submit 1 messages, `,
      `${receiver.url}/v1/batch`,
      'retry in 375 ms: 503 from ',
      'receipts: 1 accepted of 1',
    ]) {
      expect(text).toContain(part);
    }
    for (const secret of ['w-secret', btoa('w-secret:'), 'u-private', 'Signup', '4111', '\u001b']) {
      expect(text).not.toContain(secret);
    }
  });
});

describe('createLog', () => {
  it('gives none when DEBUG is not set', () => {
    expect(createDebugLog({})).toBeUndefined();
    expect(createDebugLog({ DEBUG: '' })).toBeUndefined();
  });
});
