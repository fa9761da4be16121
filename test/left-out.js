// Prints which test files `npm test` leaves to `npm run test:system`, with the reasons in their first lines.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.system.test.ts'));
const counts = new Map();
for (const file of files) {
  const [first] = readFileSync(join(folder, file), 'utf8').split('\n', 1);
  const need =
    /^\/\/ (Needs [^.]+|(?:Takes|Kills|Measures) [^.:]+)/.exec(first)?.[1] ??
    'Needs something that its first line does not name';
  counts.set(need, (counts.get(need) ?? 0) + 1);
}
process.stdout.write(`\nleft out: ${files.length} test files; npm run test:system runs them\n`);
for (const [need, count] of [...counts].toSorted(([, one], [, other]) => other - one)) {
  process.stdout.write(`  ${String(count).padStart(3)}  ${need.charAt(0).toLowerCase()}${need.slice(1)}\n`);
}
