// One run of a batching client (client.js). Arguments: `hooks` or `segment`, URL, number of messages. Prints how many
// were accepted, and the time and CPU time.
const [kind, url, count] = process.argv.slice(2);
const BATCH = 20;

const run = kind === 'hooks' ? await hooks() : await segment();
const began = { at: performance.now(), cpu: process.cpuUsage() };
const sent = await run();
const { user, system } = process.cpuUsage(began.cpu);
process.stdout.write(
  JSON.stringify({ sent, ms: performance.now() - began.at, cpuMs: (user + system) / 1000 }),
);

async function hooks() {
  const { createTrackingApiPipeline } = await import('../../dist/index.js');
  const pipeline = createTrackingApiPipeline({
    endpoint: url,
    writeKey: 'k',
    timeoutMs: 5_000,
    client: { flushAt: BATCH },
  });
  return async () => {
    let taken = 0;
    const onReceipt = (receipt) => {
      if (receipt.accepted) taken++;
    };
    for (let index = 0; index < Number(count); index++) {
      await pipeline.client.ready();
      void pipeline.client.track(call(index)).then(onReceipt);
    }
    await pipeline.close();
    return taken;
  };
}

async function segment() {
  const { Analytics } = await import('@segment/analytics-node');
  const client = new Analytics({ writeKey: 'k', host: url, flushAt: BATCH, maxEventsInBatch: BATCH });
  return async () => {
    let taken = 0;
    const onSent = (error) => {
      if (error === undefined) taken++;
    };
    for (let index = 0; index < Number(count); index++) client.track(call(index), onSent);
    await client.closeAndFlush({ timeout: 600_000 });
    return taken;
  };
}

/** @param {number} index */
function call(index) {
  return {
    userId: `user-${index}`,
    event: 'Order Completed',
    properties: { orderId: `order-${index}`, total: 129.95, currency: 'EUR', items: ['A-1', 'B-2'] },
  };
}
