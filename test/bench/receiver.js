import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const LEAN_RECEIVER = fileURLToPath(new URL('lean-receiver.js', import.meta.url));

/**
 * Starts a receiver process that responds to every POST with 200 immediately: nginx if it is installed, otherwise a minimal
 * one on node:net. A receiver on node:http would be slower than a good sender.
 *
 * @param {string} folder for its files
 * @returns {Promise<{ name: string, url: string, stop: () => Promise<void> }>}
 */
export async function startReceiver(folder) {
  const port = await freePort();
  const nginx = spawnSync('nginx', ['-v']).status === 0;
  const child = nginx ? startNginx(folder, port) : spawn(process.execPath, [LEAN_RECEIVER, String(port)]);
  const url = `http://127.0.0.1:${port}/hook`;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await Promise.race([
    untilItAnswers(url),
    ended.then(() => Promise.reject(new Error('the receiver ended'))),
  ]);
  const stop = async () => {
    child.kill();
    await ended;
  };
  return { name: nginx ? 'nginx' : 'node:net', url, stop };
}

/**
 * @param {string} folder
 * @param {number} port
 */
function startNginx(folder, port) {
  const prefix = join(folder, 'nginx');
  mkdirSync(join(prefix, 'temp'), { recursive: true });
  const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path temp;`);
  writeFileSync(
    join(prefix, 'nginx.conf'),
    `daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 100000000; ${temps.join(' ')}
  server { listen 127.0.0.1:${port}; location / { return 200 'ok'; } }
}
`,
  );
  return spawn('nginx', ['-p', prefix, '-c', join(prefix, 'nginx.conf'), '-e', 'stderr']);
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : 0));
    });
  });
}

/** @param {string} url */
async function untilItAnswers(url) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const answered = await fetch(url, { method: 'POST', body: '{}' }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answered) return;
    await sleep(50);
  }
  throw new Error(`no answer from ${url} in 5 s`);
}
