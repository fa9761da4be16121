import { describe, expect, it } from 'vitest';
import { startLibraryProgram } from './library-program.ts';

const SET_UP = `
import { createServer } from 'node:net';

// A receiver that never responds.
const server = createServer(() => {}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const url = 'http://127.0.0.1:' + server.address().port;
const toTrackingApi = (client) => hooks.createTrackingApiPipeline({ endpoint: url, writeKey: 'k', client });
const toWebhooks = (client) => hooks.createDeliveryPipeline({ webhooks: [url], client });
const call = { userId: 'u', event: 'E' };
`;

async function stderrOf(source: string): Promise<string> {
  return (await startLibraryProgram(`${SET_UP}${source}`).ended).stderr;
}

function lostLine(messages: string): string {
  return `hooks-cli: ${messages} lost, because the process ended before close() resolved\n`;
}

describe('a process that ends with messages in its clients', () => {
  it('prints in one line how many messages all clients lost', async () => {
    const stderr = await stderrOf(`
      const [one, other] = [toTrackingApi({}), toTrackingApi({ flushAt: 1, maxQueued: 1 })];
      for (let count = 0; count < 3; count++) one.client.track(call);
      for (let count = 0; count < 2; count++) other.client.track(call);
      process.exit();
    `);
    expect(stderr).toBe(lostLine('5 messages were'));
  });

  it('counts accepted messages that are not settled', async () => {
    const stderr = await stderrOf(`
      const { client } = toWebhooks({ flushAt: 1 });
      await client.track(call);
      process.exit();
    `);
    expect(stderr).toBe(lostLine('1 message was'));
  });

  it('prints the line also when an exception ends it', async () => {
    const stderr = await stderrOf(`
      toTrackingApi({}).client.track(call);
      throw new Error('of the program');
    `);
    expect(stderr).toContain('of the program');
    expect(stderr).toContain(lostLine('1 message was'));
  });

  it('prints nothing with warnOnLoss: false', async () => {
    const stderr = await stderrOf(`
      toTrackingApi({ warnOnLoss: false }).client.track(call);
      process.exit();
    `);
    expect(stderr).toBe('');
  });

  it.each(['close', 'interrupt'])('prints nothing after %s()', async (end) => {
    const stderr = await stderrOf(`
      const pipelines = [
        hooks.createTrackingApiPipeline({ endpoint: url, writeKey: 'k', timeoutMs: 50, retryForMs: 0 }),
        hooks.createDeliveryPipeline({ webhooks: [url], delivery: { timeoutMs: 50, retryForMs: 0 } }),
      ];
      for (const { client } of pipelines) client.track(call);
      await pipelines[1].client.flush();
      await Promise.all(pipelines.map((pipeline) => pipeline.${end}(0)));
      process.exit();
    `);
    expect(stderr).toBe('');
  });
});
