// A step of servers.js: fills a queue on a server, delivers from it until nothing is left as `hooks worker` does or as plain
// BullMQ workers do, measures claims, settles what waits in one state, or forgets what is settled. Arguments: bundle, and
// {"step","who","kind","store","url","messages","warmUp","keyed","prefix","state"} as JSON.
import * as bullmq from 'bullmq';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { Agent, request } from 'undici';
import { message } from './messages.js';

const [parts, given] = process.argv.slice(2);
const { systemClock, openDurableQueue, openEngine, DELIVERY_DEFAULTS } = await import(parts);
const { step, who, kind, store, url, messages, warmUp, keyed, prefix = 'bench', state } = JSON.parse(given);
const NEW = { state: 'pending', progress: { rounds: 0, attempts: [], rejectedBy: [], notBefore: {} } };
const LANE = { source: 'web', destination: 'Webhooks' };
const CONCURRENCY = DELIVERY_DEFAULTS.concurrency;
/** Time without a delivery after which nothing is left. */
const QUIET_MS = 6_000;
const CLAIMED = 2_000;
const SETTLED_AT_ONCE = 500;
const ADDED_A_MS = 10;
const PROGRESS = { rounds: 1, firstAttemptAt: Date.now(), attempts: [], rejectedBy: [], notBefore: {} };

const count = { delivered: 0, warmAt: 0, warmCpu: process.cpuUsage(), lastAt: 0 };
const steps = {
  fill: who === 'plain' ? fillPlain : fill,
  deliver: who === 'plain' ? deliverPlain : deliver,
  claim,
  settle,
  forget,
};
process.stdout.write(JSON.stringify(await steps[step]()));

async function fill() {
  const open = await openDurableQueue({ store, dataDir: '', clock: systemClock });
  const at = Date.now();
  for (let from = 0; from < messages; from += 500) {
    await open.queue.add(
      Array.from({ length: Math.min(500, messages - from) }, (_, index) => {
        const [id, body] = [`${prefix}-${from + index}`, Buffer.from(message(from + index))];
        return {
          id,
          ...LANE,
          messageId: id,
          type: 'track',
          body,
          orderKeys: orderKeysOf(from + index),
          // Several messages per millisecond, like those of several clients.
          createdAt: at - Math.floor((messages - from - index) / ADDED_A_MS),
          dueAt: at,
          ...NEW,
        };
      }),
    );
  }
  await open.close();
  return {};
}

/** @param {number} number */
function orderKeysOf(number) {
  return keyed === undefined || number % keyed.oneIn > 0 ? [] : [`user ${number % keyed.orderKeys}`];
}

async function deliver() {
  const open = await openDurableQueue({ store, dataDir: '', clock: systemClock });
  const webhooks = [{ url, headers: {} }];
  const destination = { enabled: true, sharedSecrets: ['s'], webhooks, delivery: DELIVERY_DEFAULTS };
  const { engine, close } = await openEngine({
    sources: { web: { destinations: { Webhooks: destination } } },
    open,
    clock: systemClock,
    allowPrivate: true,
    allowProxy: false,
    onEvent: (event) => {
      if (event.kind === 'settled' && event.delivery.state === 'delivered') counted();
    },
    onUnrecorded: () => {},
  });
  startAtFullSpeed(open.queue);
  engine.start();
  const measured = await quiet();
  await close();
  return measured;
}

/**
 * A lane whose first claim is full of what fell due before starts slowly: 32 deliveries in the first second and twice as many
 * in each that follows, 8,000 in all before that is no limit, whatever keeps the queue.
 *
 * @param {{ claim: (request: { limit: number }) => Promise<object> }} queue
 */
function startAtFullSpeed(queue) {
  const ask = queue.claim.bind(queue);
  queue.claim = (asked) => {
    queue.claim = ask;
    return ask({ ...asked, limit: asked.limit - 1 });
  };
}

async function claim() {
  const { queue, close } = await openDurableQueue({ store, dataDir: '', clock: systemClock });
  const spent = { claim: 0, settle: 0 };
  for (let done = 0; done < CLAIMED;) {
    const began = performance.now();
    const { claims } = await queue.claim({ ...LANE, limit: 32, leaseMs: 60_000 });
    const claimed = performance.now();
    await Promise.all(claims.map((each) => queue.settle(each, { state: 'delivered', progress: PROGRESS })));
    spent.claim += claimed - began;
    spent.settle += performance.now() - claimed;
    done += claims.length;
  }
  await close();
  return { claimUs: perClaim(spent.claim), settleUs: perClaim(spent.settle) };
}

/** Claims and settles deliveries until none is left or enough are settled, to prepare the next step. */
async function settle() {
  const { queue, close } = await openDurableQueue({ store, dataDir: '', clock: systemClock });
  const settlement = { state, progress: PROGRESS, reason: 'rejected', dueAt: Date.now() + 3_600_000 };
  for (let left = 2, settled = 0; left > 0 && settled < (messages ?? Infinity);) {
    const { claims } = await queue.claim({ ...LANE, limit: SETTLED_AT_ONCE, leaseMs: 60_000 });
    await Promise.all(claims.map((each) => queue.settle(each, settlement)));
    left = claims.length === 0 ? left - 1 : 2;
    settled += claims.length;
  }
  await close();
  return {};
}

/** Deletes expired settled deliveries, as every claim of a worker does, until none is left. */
async function forget() {
  const retention = { deliveredMs: 1, deadMs: 1 };
  const { queue, inspection, close } = await openDurableQueue({
    store,
    dataDir: '',
    clock: systemClock,
    retention,
  });
  while ((await inspection.lastDelivered(1)).length > 0) {
    await queue.claim({ ...LANE, limit: 1, leaseMs: 60_000 });
  }
  await close();
  return {};
}

/** @param {number} ms */
function perClaim(ms) {
  return Math.round((ms * 1_000) / CLAIMED);
}

/** Runs BullMQ like its manual shows. */
function plain() {
  if (kind === 'redis') return { ...bullmq, connection: new Redis(store, { maxRetriesPerRequest: null }) };
  const options = { connectionString: store, max: 10, options: '-c search_path=bullmq' };
  return { ...bullmq.withBackend(bullmq.createPostgresBackend), connection: new Pool(options) };
}

async function fillPlain() {
  const { Queue, connection } = plain();
  const queue = new Queue('plain', { connection });
  for (let from = 0; from < messages; from += 500) {
    const size = Math.min(500, messages - from);
    await queue.addBulk(
      Array.from({ length: size }, (_, index) => ({ name: 'track', data: { body: message(from + index) } })),
    );
  }
  await queue.close();
  return end();
}

async function deliverPlain() {
  const { Worker, connection } = plain();
  const headers = { 'content-type': 'application/json' };
  const dispatcher = new Agent();
  const post = async (/** @type {{ data: { body: string } }} */ { data }) => {
    const response = await request(url, { method: 'POST', headers, body: data.body, dispatcher });
    await response.body.dump();
    counted();
    return response.statusCode;
  };
  const worker = new Worker('plain', post, { connection, concurrency: CONCURRENCY });
  const measured = await quiet();
  await worker.close();
  return end(measured);
}

function end(result = {}) {
  // Ends the process after its output is written, because the open connection would keep it running.
  setTimeout(() => process.exit(0), 100);
  return result;
}

function counted() {
  count.lastAt = performance.now();
  count.delivered++;
  if (count.delivered !== warmUp) return;
  count.warmAt = count.lastAt;
  count.warmCpu = process.cpuUsage();
}

/**
 * Measures until nothing has been delivered for a while: the rate and the CPU time after the first `warmUp` deliveries, and
 * `allCpuUs`, the CPU time of the whole process since it started.
 */
async function quiet() {
  const began = performance.now();
  let [seen, cpuUs, allCpuUs] = [0, 0, 0];
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { delivered, warmAt, warmCpu, lastAt } = count;
    if (delivered > seen) {
      seen = delivered;
      cpuUs = sumOf(process.cpuUsage(warmCpu));
      allCpuUs = sumOf(process.cpuUsage());
    }
    if (performance.now() - (lastAt || began + QUIET_MS) <= QUIET_MS) continue;
    const measured = Math.max(0, delivered - warmUp);
    if (measured === 0) return { delivered, measured, perSecond: 0, cpuUs: 0, allCpuUs };
    return { delivered, measured, perSecond: (measured * 1_000) / (lastAt - warmAt), cpuUs, allCpuUs };
  }
}

/** @param {NodeJS.CpuUsage} usage */
function sumOf({ user, system }) {
  return user + system;
}
