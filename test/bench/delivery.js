import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.js';
import { runNode } from './child.js';
import { writeMessages } from './messages.js';
import { startReceiver } from './receiver.js';
import { replay } from './replay.js';
import { interleave, ratios, spread, values } from './rounds.js';

export const claim =
  'Delivery from the durable queue (claim, post, settle), compared with a replay of the same messages';

const DELIVERY_CHILD = fileURLToPath(new URL('delivery-child.js', import.meta.url));
const PARTS = ['clock.ts', 'engine/options.ts', 'stores/open.ts', 'app/open-engine.ts'];
/** Number of deliveries during the slow start. */
const WARM_UP = 30_000;

/** @param {import('./run.js').Bench} bench */
export async function run({ folder, rounds, messages, print }) {
  if (messages <= WARM_UP) throw new Error(`Expected BENCH_MESSAGES to be more than ${WARM_UP}`);
  const parts = await bundle(folder, PARTS);
  const file = join(folder, 'messages.ndjson');
  await writeMessages(file, messages);
  const receiver = await startReceiver(folder);
  try {
    print(
      `${messages} messages; from the queue without the first ${WARM_UP}: its slow start (receiver: ${receiver.name})`,
    );
    const results = await interleave(
      {
        queue: () => fromQueue({ folder, parts, url: receiver.url, messages }),
        replay: () => replay({ folder, file, url: receiver.url }, messages),
      },
      rounds,
    );
    report(results, print);
  } finally {
    await receiver.stop();
  }
}

/**
 * @param {Record<string, import('./rounds.js').Measurement[]>} results
 * @param {(line: string) => void} print
 */
function report({ queue, replay: plain }, print) {
  for (const [name, measurements] of Object.entries({ queue, replay: plain })) {
    print(`${name}, deliveries a second:`.padEnd(36) + spread(values(measurements, 'perSecond'), whole));
    print(`${name}, CPU µs a delivery:`.padEnd(36) + spread(values(measurements, 'cpuUs'), whole));
    print(`${name}, peak memory, MB:`.padEnd(36) + spread(values(measurements, 'peakMb'), whole));
  }
  print('queue, from its start on:'.padEnd(36) + spread(values(queue, 'fromStartPerSecond'), whole));
  for (const [quantity, name] of [
    ['perSecond', 'deliveries a second'],
    ['cpuUs', 'CPU'],
  ]) {
    print(
      `queue ÷ replay, ${name}: ${spread(ratios(queue, plain, quantity), (ratio) => `${ratio.toFixed(2)}×`)}`,
    );
  }
}

/** @param {{ folder: string, parts: string, url: string, messages: number }} place */
async function fromQueue({ folder, parts, url, messages }) {
  const data = mkdtempSync(join(folder, 'data-'));
  const options = { store: join(data, 'hooks.db'), url, messages, warmUp: WARM_UP };
  const child = async (/** @type {string} */ step) => {
    const args = [DELIVERY_CHILD, parts, JSON.stringify({ step, ...options })];
    const { code, stdout } = await runNode(args, { folder: data });
    if (code !== 0) throw new Error(`${step}: exit ${code}`);
    return stdout;
  };
  // In separate processes, because adding leaves memory that delivering does not need.
  await child('fill');
  const measurement = JSON.parse(await child('deliver'));
  rmSync(data, { recursive: true });
  return measurement;
}

/** @param {number} number */
function whole(number) {
  return number.toFixed(0);
}
