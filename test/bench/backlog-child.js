// One step of backlog.js: fills a queue, or delivers a part of it.
const [parts, given] = process.argv.slice(2);
const { openStore, QUEUE_TABLES, SqliteInspection, SqliteQueue, systemClock } = await import(parts);
const { step, file, size, kind, deliveries } = JSON.parse(given);

const NEW = { state: 'pending', progress: { rounds: 0, attempts: [], rejectedBy: [], notBefore: {} } };
const LANE = { source: 'web', destination: 'Webhooks' };
const PROGRESS = { rounds: 1, firstAttemptAt: Date.now(), attempts: [], rejectedBy: [], notBefore: {} };

const openedAt = performance.now();
const store = await openStore(file, { clock: systemClock, tables: [QUEUE_TABLES] });
const queue = new SqliteQueue({ store, clock: systemClock });
const result = step === 'add' ? await add() : await deliver(performance.now() - openedAt);
await queue.close();
await store.close();
process.stdout.write(JSON.stringify(result));

async function add() {
  const body = Buffer.alloc(400, 'x');
  const now = Date.now();
  for (let from = 0; from < size; from += 1_000) {
    await queue.add(Array.from({ length: 1_000 }, (_, index) => delivery(from + index, body, now)));
  }
  return {};
}

/**
 * @param {number} number
 * @param {Buffer} body
 * @param {number} now
 */
function delivery(number, body, now) {
  const id = `bench-${String(number).padStart(9, '0')}`;
  const dueAt = kind.includes('shuffled') ? now - Math.floor(Math.random() * 3_600_000) : now;
  const orderKeys = kind.includes('key') ? [`user-${number % (size / 10)}`] : [];
  return { id, ...LANE, messageId: id, type: 'track', body, orderKeys, createdAt: now, dueAt, ...NEW };
}

/** @param {number} openMs */
async function deliver(openMs) {
  const countedAt = performance.now();
  await new SqliteInspection({ store, clock: systemClock }).stats();
  const countMs = performance.now() - countedAt;
  const cpuBefore = process.cpuUsage();
  const spent = { claim: 0, settle: 0 };
  for (let done = 0; done < deliveries;) {
    const began = performance.now();
    const { claims } = await queue.claim({ ...LANE, limit: 32, leaseMs: 60_000 });
    const claimed = performance.now();
    await Promise.all(claims.map((each) => queue.renew(each, PROGRESS, 60_000)));
    await Promise.all(claims.map((each) => queue.settle(each, { state: 'delivered', progress: PROGRESS })));
    spent.claim += claimed - began;
    spent.settle += performance.now() - claimed;
    done += claims.length;
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    openMs,
    countMs,
    claimUs: (spent.claim * 1000) / deliveries,
    settleUs: (spent.settle * 1000) / deliveries,
    cpuUs: (user + system) / deliveries,
    megabytes: process.resourceUsage().maxRSS / 1024,
  };
}
