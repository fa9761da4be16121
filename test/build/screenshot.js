// Makes the picture of the inbox, fixtures/inbox.png: npm run build && node test/build/screenshot.js
import { execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECRET = 'hooks-fixture-secret';

/** A receiver that rejects the type `delete`. */
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    const isKnown = !body.includes('"type":"delete"');
    response.statusCode = isKnown ? 200 : 500;
    response.end(isKnown ? 'ok' : 'TypeError: unknown type "delete"');
  });
});
receiver.listen(3000, '127.0.0.1');
await once(receiver, 'listening');

const listen = spawn(
  process.execPath,
  [join(ROOT, 'bin/hooks.js'), 'listen', '--ui', '--forward', 'http://localhost:3000/webhook', '-o', 'json'],
  { env: { PATH: process.env.PATH, HOOKS_SECRET: SECRET }, stdio: ['ignore', 'pipe', 'inherit'] },
);
const [ready] = await once(createInterface({ input: listen.stdout }), 'line');
const { url, inbox } = JSON.parse(ready);

async function post(body, signature) {
  const headers = { 'content-type': 'application/json', 'user-agent': 'shop/2.4' };
  if (signature !== undefined) headers['x-signature'] = signature;
  await fetch(`${url}/webhook`, { method: 'POST', body, headers });
}
const sign = (body) => createHmac('sha1', SECRET).update(body).digest('hex');

const folder = join(ROOT, 'fixtures/golden');
const bodies = readdirSync(folder)
  .filter((name) => name.endsWith('.body'))
  .map((name) => readFileSync(join(folder, name), 'utf8'));
for (const body of bodies) await post(body, sign(body));
const [track = ''] = bodies.filter((body) => body.includes('"type":"track"'));
await post(track.replace('Order Completed', 'Order Refunded'));
await post(track, sign(`${track}\n`));
const signup =
  '{"version":1,"type":"track","userId":"user-2001","event":"Signup","properties":{"plan":"pro"}}';
await post(signup, sign(signup));

const executablePath = execFileSync('sh', ['-c', 'command -v chromium || command -v google-chrome']);
const browser = await chromium.launch({
  executablePath: executablePath.toString().trim(),
  args: ['--no-sandbox'],
});
const page = await browser.newPage({ viewport: { width: 1160, height: 680 } });
await page.goto(inbox);
await page.getByRole('listbox').getByRole('option').nth(1).click();
await page.getByRole('treeitem').first().waitFor();
await page.screenshot({ path: join(ROOT, 'fixtures/inbox.png') });
await browser.close();
listen.kill();
receiver.close();
receiver.closeAllConnections();
