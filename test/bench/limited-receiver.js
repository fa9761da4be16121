// A receiver with a limit that arithmetic knows. Arguments: `stall`, which responds at once except in the last 2 s of each
// 10 s, whose requests it answers at their end; or `bucket`, which responds with 429 to more than 300 requests a second, of
// which 30 may come at once. Prints {"url"}.
import { createServer } from 'node:http';

const [EVERY_MS, STALL_MS, RATE, BURST] = [10_000, 2_000, 300, 30];
const [kind] = process.argv.slice(2);
const began = performance.now();
let [tokens, filledAt] = [BURST, began];

const server = createServer((request, response) => {
  request.resume().on('end', () => (kind === 'stall' ? stall(response) : limit(response)));
});

/** @param {import('node:http').ServerResponse} response */
function stall(response) {
  const phase = (performance.now() - began) % EVERY_MS;
  if (phase < EVERY_MS - STALL_MS) response.end();
  else setTimeout(() => response.end(), EVERY_MS - phase);
}

/** @param {import('node:http').ServerResponse} response */
function limit(response) {
  const now = performance.now();
  tokens = Math.min(BURST, tokens + ((now - filledAt) * RATE) / 1_000);
  filledAt = now;
  if (tokens >= 1) tokens--;
  else response.statusCode = 429;
  response.end();
}

// Exits by itself, so that its usage is written.
process.on('SIGTERM', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/hook` })}\n`);
});
