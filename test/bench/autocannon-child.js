// autocannon as a yardstick. Arguments: URL, file of NDJSON, connections, and either `same-work`, which does per request
// what a replay does per message (parse a line, stringify it, sign the bytes), or `fixed-body`, which repeats the first
// line; then the seconds, 5 without them. Prints {"delivered","seconds","p99","max"}, the latter two in ms.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';

const HEADERS = { 'Content-Type': 'application/json' };
const [url, file, connections, kind, seconds = '5'] = process.argv.slice(2);
const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
let next = 0;

const work = kind === 'same-work' ? { setupRequest } : { body: lines[0], headers: HEADERS };
const result = await autocannon({
  url,
  connections: Number(connections),
  // By time: `amount` counts time in whole seconds.
  duration: Number(seconds),
  requests: [{ method: 'POST', ...work }],
});
const { p99, max } = result.latency;
process.stdout.write(JSON.stringify({ delivered: result['2xx'], seconds: result.duration, p99, max }));

/** @param {object} request */
function setupRequest(request) {
  const body = JSON.stringify(JSON.parse(lines[next++ % lines.length]));
  const signature = createHmac('sha1', 's').update(body).digest('hex');
  return { ...request, body, headers: { ...HEADERS, 'X-Signature': signature } };
}
