import type { DurableQueue } from '../../stores/open.ts';

/** What to know of audiences that do not move with a queue: they stay where the old store is a file. Undefined: nothing. */
export async function audiencesLeft(from: DurableQueue, to: DurableQueue): Promise<string | undefined> {
  if (from.file === undefined) return undefined;
  const store = await from.audiences();
  const { length } = await store.list();
  // With a server they are kept in the data folder, which may be where they are.
  if (length === 0 || (await to.audiences()).file === store.file) return undefined;
  const what = length === 1 ? '1 audience or trait stays' : `${length} audiences and traits stay`;
  return `${what} in ${store.file}: sync them with --store sqlite:${store.file} from now on, or the next sync is a first one`;
}
