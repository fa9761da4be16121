import createDebug from 'debug';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDebugLog } from '../../src/client/log.ts';
import { trackingApi } from './tracking-api.ts';

describe('DEBUG=analytics', () => {
  const printed: string[] = [];

  beforeEach(() => {
    vi.stubEnv('DEBUG', 'analytics');
    // The package reads DEBUG only when it is first loaded, which another file of this process may have done.
    createDebug.enable('analytics');
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  });

  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    createDebug.disable();
  });

  it('prints the steps of the client without secrets and bodies', async () => {
    const { receiver, setUp } = await trackingApi();
    receiver.answers.push({ status: 503 });
    const client = setUp({ flushAt: 20 }, { writeKey: 'w-secret' });
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

describe('createDebugLog', () => {
  it('returns undefined if DEBUG is not set', () => {
    expect(createDebugLog({})).toBeUndefined();
    expect(createDebugLog({ DEBUG: '' })).toBeUndefined();
  });
});
