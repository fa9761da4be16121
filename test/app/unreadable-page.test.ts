import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { EngineEvent } from '../../src/engine/engine-event.ts';
import { Engine } from '../../src/engine/engine.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import type { DurableQueue } from '../../src/stores/opened-queue.ts';
import { answer } from '../engine/harness.ts';
import { newDelivery } from '../queue/new-delivery.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { A, fakeTransport, sourceWith } from './set-up.ts';

const EACH = 20;
const PAGE_BYTES = 4096;

const open = (store: string): Promise<DurableQueue> =>
  openDurableQueue({ store, dataDir: '', clock: systemClock });

/** Overwrites the first page of the first deliveries with zeros, so that SQLite cannot read it. */
async function breakFirstPage(file: string): Promise<void> {
  const [page] = await ask(
    file,
    "SELECT pageno FROM dbstat WHERE name = 'deliveries' AND pagetype = 'leaf' ORDER BY path LIMIT 1",
  );
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, (Number(page) - 1) * PAGE_BYTES);
  closeSync(fd);
}

it('an unreadable page stops only its own lane', async () => {
  const file = join(temporaryFolder(), 'hooks.db');
  const before = await open(file);
  // Large bodies, so that the first page contains only the first deliveries.
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
    sources: { web: { destinations: {}, ...sourceWith({ broken: A, even: A, odd: A })['default'] } },
    queue,
    clock: systemClock,
    userAgent: 'test',
    transport: fakeTransport(() => answer(200)),
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
