// Needs python3.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeCertificates } from '../certificates.ts';
import { examined } from '../cli/examined.ts';
import { hooks } from '../cli/run-in-process.ts';
import { hasTool } from '../external-tool.ts';

/** Serves one request at a time, like Python's development servers by default. Arguments: seconds, certificate, key. */
const SERVER = `import http.server, ssl, sys, time
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_POST(self):
        time.sleep(float(sys.argv[1]))
        self.send_response(200)
        self.end_headers()
    def log_message(self, *words): pass
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()`;

async function pythonServer(...args: string[]): Promise<number> {
  const server = spawn('python3', ['-c', SERVER, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void server.kill());
  const [port] = (await once(server.stdout, 'data')) as [Buffer]; // what the server prints
  return Number(port.toString());
}

describe.skipIf(!hasTool('python3', '--version'))('a development server of Python', () => {
  it('is healthy for hooks doctor', async () => {
    const url = `http://127.0.0.1:${await pythonServer('0')}/hook`;
    const { code, of } = await examined({ config: { webhooks: [url], sharedSecret: 's3cret' } });
    expect(of('webhook')).toMatchObject([{ status: 'ok' }]);
    expect(code).toBe(0);
  });

  it.each([
    ['send', ['send', 'track', '--event', 'Signup', '--retry-for', '0', '--url']],
    ['test', ['test', '--only', 'track']],
  ])('is reported as too slow, not as another protocol, by hooks %s', async (_verb, argv) => {
    const url = `http://127.0.0.1:${await pythonServer('1')}/hook`;
    const { code, stdout, stderr } = await hooks([...argv, url, '--timeout', '200ms']);
    expect(stdout + stderr).toMatch(/no response|timeout/);
    expect(stdout + stderr).not.toContain('another protocol');
    expect(code).toBe(1);
  });

  it('is recognized by its TLS', async () => {
    const made = await makeCertificates();
    onTestFinished(() => made.remove());
    const port = await pythonServer('0', made.good.certFile, made.good.keyFile);
    const delivery = { ca: made.caFile };
    const healthy = await examined({ config: { webhooks: [`https://127.0.0.1:${port}/`], delivery } });
    expect(healthy.of('webhook')).toMatchObject([{ status: 'ok' }]);
    const plain = await examined({ config: { webhooks: [`http://127.0.0.1:${port}/`], delivery } });
    expect(plain.of('webhook').at(-1)?.said).toContain('the port speaks TLS');
  });
});
