// What delivery.js measures: fills a queue, or delivers all of it as `hooks serve` and `hooks worker` do. Arguments: bundle,
// and {"step","store","url","messages","warmUp"} as JSON. Prints, of the deliveries after the first `warmUp`, how many a
// second and what CPU time each took; and how many a second from the start on.
import { message } from './messages.js';

const [parts, given] = process.argv.slice(2);
const { systemClock, openDurableQueue, openEngine, DELIVERY_DEFAULTS } = await import(parts);
const { step, store, url, messages, warmUp } = JSON.parse(given);
const NEW = { state: 'pending', progress: { rounds: 0, attempts: [], rejectedBy: [], notBefore: {} } };
const LANE = { source: 'web', destination: 'Webhooks' };

const open = await openDurableQueue({ store, dataDir: '', clock: systemClock });
if (step === 'fill') await fill();
else process.stdout.write(JSON.stringify(await deliver()));

async function fill() {
  const at = Date.now() - 60_000;
  for (let from = 0; from < messages; from += 1_000) {
    await open.queue.add(
      Array.from({ length: Math.min(1_000, messages - from) }, (_, index) => {
        const [id, body] = [
          `bench-${String(from + index).padStart(9, '0')}`,
          Buffer.from(message(from + index)),
        ];
        return {
          id,
          ...LANE,
          messageId: id,
          type: 'track',
          body,
          orderKeys: [],
          createdAt: at,
          dueAt: at,
          ...NEW,
        };
      }),
    );
  }
  await open.close();
}

async function deliver() {
  const webhooks = [{ url, headers: {} }];
  const destination = { enabled: true, sharedSecrets: ['s'], webhooks, delivery: DELIVERY_DEFAULTS };
  let [delivered, warm, onAll] = [0, now(), () => {}];
  const all = new Promise((resolve) => (onAll = resolve));
  const { engine, close } = await openEngine({
    sources: { web: { destinations: { Webhooks: destination } } },
    open,
    clock: systemClock,
    allowPrivate: true,
    allowProxy: false,
    onEvent: (event) => {
      if (event.kind !== 'settled') return;
      if (event.delivery.state !== 'delivered') throw new Error(`a delivery is ${event.delivery.state}`);
      delivered++;
      if (delivered === warmUp) warm = now();
      if (delivered === messages) onAll();
    },
    onUnrecorded: () => {},
  });
  const began = now();
  engine.start();
  await all;
  const ended = now();
  await close();
  return {
    perSecond: ((messages - warmUp) * 1000) / (ended.ms - warm.ms),
    cpuUs: (ended.cpuUs - warm.cpuUs) / (messages - warmUp),
    fromStartPerSecond: (messages * 1000) / (ended.ms - began.ms),
    peakMb: process.resourceUsage().maxRSS / 1024,
  };
}

function now() {
  const { user, system } = process.cpuUsage();
  return { ms: performance.now(), cpuUs: user + system };
}
