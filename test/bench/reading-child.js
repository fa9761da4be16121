// Reads a file of NDJSON (reading.js). Arguments: the bundle, `scan`, `check`, `reading` or `parse`, the file.
// Prints how many messages a pass found, and the time that it took on average, once all is compiled.
import { closeSync, openSync, readSync } from 'node:fs';

const [bundle, kind, file] = process.argv.slice(2);
const { openInputs, readEntries, prepareEntry, readyEntry } = await import(bundle);

/** V8 still compiles in the third pass, because a pass over 200 MB takes only 50 ms. */
const WARM_UP_PASSES = 4;
const PASSES = 4;

const pass = { scan, check, reading, parse }[kind];
await passes(WARM_UP_PASSES);
const began = { at: performance.now(), cpu: process.cpuUsage() };
const found = await passes(PASSES);
const { user, system } = process.cpuUsage(began.cpu);
const [ms, cpuMs] = [performance.now() - began.at, (user + system) / 1000];
process.stdout.write(JSON.stringify({ found: found / PASSES, ms: ms / PASSES, cpuMs: cpuMs / PASSES }));

async function passes(times) {
  let sum = 0;
  for (let time = 0; time < times; time++) sum += await pass();
  return sum;
}

async function scan() {
  let count = 0;
  for await (const entries of entriesOf(file)) count += entries.length;
  return count;
}

async function check() {
  let count = 0;
  for await (const entries of entriesOf(file)) {
    for (const entry of entries) if (prepareEntry(entry).value.type === 'track') count++;
  }
  return count;
}

async function reading() {
  const options = { exact: false, strict: false, rewrite: (value) => value, now: () => 0 };
  let count = 0;
  for await (const entries of entriesOf(file)) {
    for (const entry of entries) {
      const read = prepareEntry(entry);
      if (readyEntry(read, options).ready.message.type === 'track') count++;
    }
  }
  return count;
}

/** The minimum of reading: the bytes, their lines as text, and JSON.parse. */
async function parse() {
  let count = 0;
  for (const line of linesOf(file)) if (JSON.parse(line).type === 'track') count++;
  return count;
}

async function* entriesOf(name) {
  const [input] = await openInputs([name], { cwd: '/', stdin: process.stdin });
  yield* readEntries(input);
}

function* linesOf(name) {
  const fd = openSync(name, 'r');
  const buffer = Buffer.allocUnsafe(1024 * 1024);
  let end = 0;
  for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer, end, buffer.length - end)) {
    end += count;
    let start = 0;
    const filled = buffer.subarray(0, end);
    for (let at = filled.indexOf(0x0a); at !== -1; at = filled.indexOf(0x0a, start)) {
      yield filled.utf8Slice(start, at);
      start = at + 1;
    }
    buffer.copyWithin(0, start, end);
    end -= start;
  }
  closeSync(fd);
}
