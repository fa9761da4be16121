// Leaves a store as a first sync of these members does (audience.js), with an outlet that takes everything at once.
import { createReadStream } from 'node:fs';

const [bundle, given] = process.argv.slice(2);
const { AUDIENCE_TABLES, openStore, readEntries, sync, systemClock } = await import(bundle);
const { members, file, place } = JSON.parse(given);

const store = await openStore(file, { clock: systemClock, tables: [AUDIENCE_TABLES] });
const { signal } = new AbortController();
const kind = 'audience';
await sync({
  kind,
  name: 'Bench',
  place,
  store,
  clock: systemClock,
  input: members,
  signal,
  read: (spill) => readEntries(createReadStream(members), spill, { kind, file: members, signal }),
  outlet: async () => ({
    capacity: 4_096,
    ready: () => Promise.resolve(),
    deliverThen: (_, onOutcome) => setImmediate(() => onOutcome({ outcome: 'delivered' })),
    flush: () => {},
  }),
  onOutcome: () => undefined,
});
await store.close();
