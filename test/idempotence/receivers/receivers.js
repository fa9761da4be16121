// Receivers that keep what they did in files of DATA_DIR: `node receivers.js NAME`. GET responds with the state, and POST /reset deletes it.
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { DATA_DIR = '.', PORT = '3000' } = process.env;
const EFFECTS = join(DATA_DIR, 'effects.txt');
const SEEN = join(DATA_DIR, 'seen.txt');

const linesOf = (file) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);
const add = (file, line) => appendFileSync(file, `${line}\n`, { flush: true });
const effectOf = ({ type, userId = 'nobody', event = '' }) => `${type} ${userId} ${event}`;

const memory = new Set();
const working = new Map();

const RECEIVERS = {
  /** Looks, works, and writes what it has seen together with the effect. */
  'check-then-act': async (message) => {
    if (linesOf(EFFECTS).some((line) => line.endsWith(message.messageId))) return 200;
    await sleep(25);
    add(EFFECTS, `${effectOf(message)} ${message.messageId}`);
    return 200;
  },
  /** The effect first, and the record of it 25 ms later. */
  'effect-before-record': async (message) => {
    if (linesOf(SEEN).includes(message.messageId)) return 200;
    add(EFFECTS, effectOf(message));
    await sleep(25);
    add(SEEN, message.messageId);
    return 200;
  },
  /** Knows messages as long as it runs. */
  'memory-only': async (message) => {
    if (memory.has(message.messageId)) return 200;
    memory.add(message.messageId);
    add(EFFECTS, effectOf(message));
    return 200;
  },
  /** Responds first and works later, so that a copy that comes meanwhile is work as well. */
  'responds-first': async (message) => {
    if (linesOf(SEEN).includes(message.messageId)) return 200;
    void (async () => {
      await sleep(150);
      add(EFFECTS, effectOf(message));
      add(SEEN, message.messageId);
    })();
    return 200;
  },
  /** Reads all that it knows, adds a line and writes it back as a whole, without a lock. */
  'lost-update': async (message) => {
    const lines = linesOf(EFFECTS);
    if (lines.includes(message.messageId)) return 200;
    await sleep(25);
    writeFileSync(`${EFFECTS}.new`, `${[...lines, message.messageId].join('\n')}\n`, { flush: true });
    renameSync(`${EFFECTS}.new`, EFFECTS);
    return 200;
  },
  /** As one whose unique key is not caught. */
  'fails-on-duplicates': async (message) => {
    if (linesOf(EFFECTS).some((line) => line.endsWith(message.messageId))) return 500;
    add(EFFECTS, `${effectOf(message)} ${message.messageId}`);
    return 200;
  },
  /** One at a time for each message, and the effect is its own record. */
  sound: async (message) => {
    const before = working.get(message.messageId);
    const work = (async () => {
      await before;
      if (linesOf(EFFECTS).some((line) => line.endsWith(message.messageId))) return;
      await sleep(5);
      add(EFFECTS, `${effectOf(message)} ${message.messageId}`);
    })();
    working.set(message.messageId, work);
    await work;
    return 200;
  },
  /** A set of users: adding one that is in it changes nothing. */
  'idempotent-set': async ({ userId }) => {
    await sleep(5);
    if (userId !== undefined && !linesOf(EFFECTS).includes(userId)) add(EFFECTS, userId);
    return 200;
  },
};

const receive = RECEIVERS[process.argv[2]];

createServer((request, response) => {
  if (request.method === 'GET') response.end(linesOf(EFFECTS).join('\n'));
  else if (request.url === '/reset') response.end(reset());
  else void answer(request, response);
}).listen(Number(PORT), '127.0.0.1');

function reset() {
  for (const file of [EFFECTS, SEEN]) rmSync(file, { force: true });
  memory.clear();
}

async function answer(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const status = await receive(JSON.parse(Buffer.concat(chunks).toString()));
  response.writeHead(status).end();
}
