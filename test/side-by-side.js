// Runs npm scripts concurrently: `node test/side-by-side.js test:static test:vitest`.
// Shows the output of the last script immediately, and that of the others when they end. Fails if one of them fails.
import { spawn } from 'node:child_process';

const scripts = process.argv.slice(2);
const codes = await Promise.all(scripts.map((script, index) => run(script, index === scripts.length - 1)));
const failed = scripts.filter((_, index) => codes[index] !== 0);
for (const script of failed) process.stdout.write(`failed: npm run ${script}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Runs a script. Resolves to its exit code, or null if a signal ended it. */
function run(script, isShownAtOnce) {
  const started = performance.now();
  const child = spawn('npm', ['run', '--silent', script], {
    stdio: ['ignore', ...(isShownAtOnce ? ['inherit', 'inherit'] : ['pipe', 'pipe'])],
  });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const seconds = ((performance.now() - started) / 1_000).toFixed(0);
      process.stdout.write(Buffer.concat(output));
      process.stdout.write(`${script}: ${code === 0 ? 'passed' : 'failed'} after ${seconds} s\n`);
      resolve(code);
    });
  });
}
