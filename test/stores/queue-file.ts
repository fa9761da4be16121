import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import type { DurableQueue } from '../../src/stores/opened-queue.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Returns the path of a queue's file in a new temporary folder. */
export function newQueueFile(): string {
  return join(temporaryFolder(), 'hooks.db');
}

/** Opens the queue of a file in real time. */
export function openQueueIn(file: string): Promise<DurableQueue> {
  return openDurableQueue({ store: file, dataDir: '', clock: systemClock });
}
