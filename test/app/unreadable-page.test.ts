import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { EngineEvent } from '../../src/engine/engine-event.ts';
import { Engine } from '../../src/engine/engine.ts';
import { DELIVERY_DEFAULTS } from '../../src/engine/options.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import type { DurableQueue } from '../../src/stores/opened-queue.ts';
import { newDelivery } from '../queue/new-delivery.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const EACH = 20;
const PAGE_BYTES = 4096;

const open = (store: string): Promise<DurableQueue> =>
  openDurableQueue({ store, dataDir: '', clock: systemClock });
const destination = (name: string) => ({
  enabled: true,
  sharedSecrets: [],
  webhooks: [{ url: `http://${name}.example/`, headers: {} }],
  delivery: DELIVERY_DEFAULTS,
});

/** The first page of the first deliveries: it is no page of a table any more. */
async function breakFirstPage(file: string): Promise<void> {
  const [page] = await ask(
    file,
    "SELECT pageno FROM dbstat WHERE name = 'deliveries' AND pagetype = 'leaf' ORDER BY path LIMIT 1",
  );
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, (Number(page) - 1) * PAGE_BYTES);
  closeSync(fd);
}

it('a page that cannot be read stops its lane and no other', async () => {
  const file = join(temporaryFolder(), 'hooks.db');
  const before = await open(file);
  // Few to a page, so that the first pages have no others.
  const body = Buffer.alloc(PAGE_BYTES / 4, 0x20);
  const first = Array.from({ length: EACH }, (_, index) =>
    newDelivery(`first${index}`, { destination: 'broken', body }),
  );
  const others = Array.from({ length: EACH }, (_, index) =>
    newDelivery(`d${index}`, { destination: index % 2 === 0 ? 'even' : 'odd' }),
  );
  await before.queue.add([...first, ...others]);
  await before.close();
  await breakFirstPage(file);

  const { queue, close } = await open(file);
  const events: EngineEvent[] = [];
  const engine = new Engine({
    sources: {
      web: { destinations: { broken: destination('a'), even: destination('b'), odd: destination('c') } },
    },
    queue,
    clock: systemClock,
    userAgent: 'test',
    transport: {
      send: async () => ({ kind: 'response', status: 200, ms: 1, reconnected: false }),
      close: async () => {},
    },
    onEvent: (event) => events.push(event),
  });
  onTestFinished(async () => {
    await engine.close();
    await close();
  });
  engine.start();
  await queue.add([newDelivery('late', { destination: 'even' })]);
  const delivered = (): number => events.filter(({ kind }) => kind === 'settled').length;
  await until(() => delivered() > EACH, 'the deliveries of the other lanes');
  const failed = events.flatMap((event) => (event.kind === 'error' ? [event.lane?.destination] : []));
  expect([...new Set(failed)]).toEqual(['broken']);
});
