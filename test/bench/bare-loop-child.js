// The minimum of a replay: reads lines, parses, stringifies and signs each, and posts it over one undici Client per
// connection. No order, no retries, no record of anything. Arguments: URL, file of NDJSON, connections. Prints
// {"delivered","seconds"}.
import { createHmac } from 'node:crypto';
import { openSync, readSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { Client } from 'undici';

setFlagsFromString('--liftoff-only');
const [url, file, connections] = process.argv.slice(2);
const { origin, pathname } = new URL(url);
const nextLine = lineReader(openSync(file, 'r'));
let delivered = 0;

const began = performance.now();
await Promise.all(Array.from({ length: Number(connections) }, connection));
process.stdout.write(JSON.stringify({ delivered, seconds: (performance.now() - began) / 1000 }));

function connection() {
  return new Promise((resolve, reject) => {
    const client = new Client(origin, { headersTimeout: 0, bodyTimeout: 0 });
    const request = { method: 'POST', path: pathname, headers: null, body: null };
    let deadline;
    const next = () => {
      const line = nextLine();
      if (line === undefined) return resolve(client.close());
      const body = Buffer.from(JSON.stringify(JSON.parse(line)));
      const signature = createHmac('sha1', 's').update(body).digest('hex');
      request.headers = ['content-type', 'application/json', 'X-Signature', signature];
      request.body = body;
      deadline = setTimeout(() => reject(new Error('timeout')), 5_000);
      client.dispatch(request, exchange);
    };
    const exchange = {
      onRequestStart() {},
      onResponseStart(_controller, status) {
        if (status !== 200) reject(new Error(`status ${status}`));
      },
      onResponseData() {},
      onResponseEnd() {
        clearTimeout(deadline);
        delivered++;
        next();
      },
      onResponseError: (_controller, error) => reject(error),
    };
    next();
  });
}

/**
 * @param {number} fd
 * @returns {() => string | undefined}
 */
function lineReader(fd) {
  const buffer = Buffer.allocUnsafe(1024 * 1024);
  let [start, end] = [0, 0];
  return () => {
    for (;;) {
      const newline = buffer.subarray(0, end).indexOf(0x0a, start);
      if (newline !== -1) {
        const line = buffer.utf8Slice(start, newline);
        start = newline + 1;
        return line;
      }
      buffer.copyWithin(0, start, end);
      [start, end] = [0, end - start];
      const count = readSync(fd, buffer, end, buffer.length - end, null);
      if (count === 0) return undefined;
      end += count;
    }
  };
}
