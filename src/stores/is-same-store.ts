import { stat } from 'node:fs/promises';
import { isSameServer } from './server/is-same-server.ts';
import type { DurableQueue } from './opened-queue.ts';

/** Whether both are open on one store. Their names do not tell: a file has several, as a server has. */
export async function isSameStore(one: DurableQueue, other: DurableQueue): Promise<boolean> {
  if (one.server !== undefined && other.server !== undefined) return isSameServer(one.server, other.server);
  return one.server === other.server && isSameFile(one.place, other.place);
}

async function isSameFile(path: string, otherPath: string): Promise<boolean> {
  const [file, other] = await Promise.all([path, otherPath].map((each) => stat(each, { bigint: true })));
  return file?.dev === other?.dev && file?.ino === other?.ino;
}
