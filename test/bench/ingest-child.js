// What ingest.js measures. Arguments: bundle, and {"step","file"} as JSON. `durable` and `unstored` are the service, with
// everything but its queue the same; both print their URL and go on until SIGTERM. `one` writes one message after the
// other, each on disk before the next: by turns through the engine, and by write and fdatasync. `checksum` takes the
// checksum of one body after the other.
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { message } from './messages.js';

const [parts, given] = process.argv.slice(2);
const { systemClock, openDurableQueue, openEngine, runService, checksumOf, DELIVERY_DEFAULTS } = await import(
  parts
);
const { step, file } = JSON.parse(given);
const MESSAGES = 4_000;
/** Number of messages that are not counted, while V8 compiles. */
const WARM_UP = 4_000;
const CHECKSUMS = 200_000;
/** Messages of a turn, so few that other work of the disk affects both variants. */
const TURN = 20;
const NOTHING = { ms: 0, cpuUs: 0 };

const sources = {
  web: {
    writeKey: 'bench',
    destinations: {
      Webhooks: {
        enabled: true,
        sharedSecrets: [],
        webhooks: [{ url: 'http://127.0.0.1:1/', headers: {} }],
        delivery: DELIVERY_DEFAULTS,
      },
    },
  },
};
const reach = { allowPrivate: true, allowProxy: false };

switch (step) {
  case 'durable':
    await serve(await openDurableQueue({ store: file, dataDir: '', clock: systemClock }));
    break;
  case 'unstored':
    await serve(unstored(await openDurableQueue({ store: file, dataDir: '', clock: systemClock })));
    break;
  case 'one':
    process.stdout.write(JSON.stringify(await oneByOne()));
    break;
  case 'checksum':
    process.stdout.write(JSON.stringify(await checksums()));
    break;
  default:
    throw new Error(`Expected a step, got ${step}`);
}

async function serve(open) {
  const service = await runService({
    sources,
    open,
    ...reach,
    host: '127.0.0.1',
    port: 0,
    deliver: false,
    logLevel: 'error',
    write: (line) => process.stderr.write(`${line}\n`),
    clock: systemClock,
  });
  process.stdout.write(`${JSON.stringify({ url: service.url })}\n`);
  process.once('SIGTERM', () => void service.close());
}

/** Replaces the queue by one that stores nothing. */
function unstored(open) {
  const { queue } = open;
  const empty = new Set();
  const forgetful = { addsOnce: true, add: async () => {}, close: () => queue.close() };
  return { ...open, queue: forgetful, seen: { among: async () => empty } };
}

async function oneByOne() {
  const open = await openDurableQueue({ store: file, dataDir: '', clock: systemClock });
  const quiet = { onEvent: () => {}, onUnrecorded: () => {} };
  const { engine, close } = await openEngine({ sources, open, clock: systemClock, ...reach, ...quiet });
  const fd = openSync(`${file}.plain`, 'a');
  const spent = { durable: NOTHING, plain: NOTHING };
  for (let from = 0; from < WARM_UP + MESSAGES; from += TURN) {
    if (from === WARM_UP) [spent.durable, spent.plain] = [NOTHING, NOTHING];
    spent.durable = await timed(spent.durable, async () => {
      for (let index = from; index < from + TURN; index++) {
        const body = Buffer.from(message(index));
        await engine.submit('web', [{ messageId: `m${index}`, type: 'track', body, orderKeys: [] }]);
      }
    });
    spent.plain = await timed(spent.plain, () => {
      for (let index = from; index < from + TURN; index++) {
        writeSync(fd, Buffer.from(message(index)));
        fdatasyncSync(fd);
      }
    });
  }
  closeSync(fd);
  await close();
  return Object.fromEntries(Object.entries(spent).map(([name, each]) => [name, perMessage(each)]));
}

/** Measures the cost of the checksum of each message. */
async function checksums() {
  const rows = Array.from({ length: CHECKSUMS }, (_, index) => ({
    body: Buffer.from(message(index)),
    messageId: `m${index}-2f8c1c1e-0d6c-4f3e-9f0e-5d9f`,
    orderKeys: '[]',
  }));
  const work = () => {
    for (const row of rows) checksumOf(row);
  };
  work();
  const { ms, cpuUs } = await timed(NOTHING, work);
  return { perSecond: (CHECKSUMS * 1000) / ms, cpuUs: cpuUs / CHECKSUMS };
}

/** Adds the time and CPU time of `work`. */
async function timed({ ms, cpuUs }, work) {
  const [began, cpuBegan] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpuBegan);
  return { ms: ms + performance.now() - began, cpuUs: cpuUs + user + system };
}

function perMessage({ ms, cpuUs }) {
  return { perSecond: (MESSAGES * 1000) / ms, cpuUs: cpuUs / MESSAGES };
}
