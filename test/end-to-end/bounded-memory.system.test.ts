// Measures memory: of programs that make 100,000 calls.
import { describe, expect, it } from 'vitest';
import { PEAK_MB } from './delivering.ts';
import { startLibraryProgram } from './library-program.ts';

const MAX_QUEUED = 1_000;
const CALLS = 100_000;
const MOST_MB = 150;

/** Calls a pipeline whose receiver never responds, with turns of the event loop in between, and prints the counts. */
const PROGRAM = `${PEAK_MB}
import { createServer } from 'node:net';

const [whenFull, destinations] = process.argv.slice(2);
// A receiver that never responds.
const server = createServer(() => {}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const webhooks = [{ url: 'http://127.0.0.1:' + server.address().port, headers: {} }];
const names = Array.from({ length: Number(destinations) }, (_, index) => 'Webhooks ' + index);
const destination = { enabled: true, sharedSecrets: [], webhooks, delivery: hooks.DELIVERY_DEFAULTS };
const sources = { default: { destinations: Object.fromEntries(names.map((name) => [name, destination])) } };
const { client } = hooks.createDeliveryPipeline({
  sources, client: { maxQueued: ${MAX_QUEUED}, whenFull, warnOnLoss: false },
});
let [taken, refused, accepted] = [0, 0, 0];
for (let call = 0; call < ${CALLS}; call++) {
  try {
    client
      .track({ userId: 'u' + call, event: 'E', properties: { text: 'x'.repeat(500) } })
      .then((receipt) => receipt.accepted && accepted++);
    taken++;
  } catch (error) {
    if (error.code !== 'ERR_HOOKS_QUEUE') throw error;
    refused++;
  }
  if (call % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
}
for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
console.log(JSON.stringify({ taken, refused, accepted, mb: peakMb() }));
process.exit();
`;

describe('100,000 calls to a pipeline whose receiver never responds', () => {
  it.each([
    ['throw', '1', MAX_QUEUED],
    ['wait', '1', 2 * MAX_QUEUED],
    ['throw', '3', MAX_QUEUED],
  ])('with whenFull %j and %s destinations keep memory bounded', async (whenFull, destinations, taken) => {
    const { stdout, stderr } = await startLibraryProgram(PROGRAM, whenFull, destinations).ended;
    expect(stderr).toBe('');
    const { mb, ...counts } = JSON.parse(stdout) as { mb: number };
    expect(counts).toEqual({ taken, refused: CALLS - taken, accepted: MAX_QUEUED });
    expect(mb).toBeLessThan(MOST_MB);
  });
});
