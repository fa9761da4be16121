// The minimum of a server that takes single messages and delivers them: appends each body to a log, syncs it, responds, signs
// the body and posts it. No ids, order, retries or clean-up. Arguments: file of the log, URL of the receiver. Prints {"url"},
// and goes on until SIGTERM.
import { createHmac } from 'node:crypto';
import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { Client } from 'undici';

const [log, webhook] = process.argv.slice(2);
const { origin, pathname } = new URL(webhook);
const fd = openSync(log, 'a');
const client = new Client(origin);
const server = createServer((request, response) => void serve(request, response));
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`);
});
process.once('SIGTERM', () => process.exit(0));

async function serve(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.from(JSON.stringify(JSON.parse(Buffer.concat(chunks).toString())));
  writeSync(fd, body);
  fdatasyncSync(fd);
  response.end('{"success":true}');
  const signature = createHmac('sha1', 's').update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'X-Signature': signature };
  const posted = await client.request({ method: 'POST', path: pathname, headers, body });
  await posted.body.dump();
}
