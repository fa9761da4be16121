// Needs curl, openssl, python3, ruby and php.
import { afterAll, describe, expect, it } from 'vitest';
import { argv } from '../end-to-end/argv.ts';
import { makeCertificates } from '../certificates.ts';
import { hooks } from '../end-to-end/hooks.ts';
import { closesIdle } from '../hostile-receivers.ts';
import { hasTool } from '../external-tool.ts';

const BODY = '{"batch":[{"type":"track","event":"Signup","userId":"u1"}]}';

/** Programs that post to both URLs with the defaults of their language, such as Segment's Ruby library, and PHP with sockets. */
const CLIENTS: Readonly<Record<string, readonly [version: string, ...command: string[]]>> = {
  curl: ['--version', 'curl', '-sS', '--fail', '--data', BODY],
  openssl: [
    'version',
    'sh',
    '-c',
    `for url; do
      address=\${url#https://}; address=\${address%%/*}
      printf 'POST /v1/batch HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\nContent-Length: ${BODY.length}\\r\\n\\r\\n%s' '${BODY}' |
        openssl s_client -quiet -verify_return_error -connect "$address" || exit 1
    done`,
    'sh',
  ],
  python3: [
    '--version',
    'python3',
    '-c',
    `import sys, urllib.request
for url in sys.argv[1:]: urllib.request.urlopen(url, b'${BODY}').read()`,
  ],
  ruby: [
    '--version',
    'ruby',
    '-rnet/http',
    '-e',
    `ARGV.each do |url|
      uri = URI(url)
      http = Net::HTTP.new(uri.host, uri.port)
      http.use_ssl = true
      http.post(uri.path, '${BODY}').value
    end`,
  ],
  php: [
    '--version',
    'php',
    '-r',
    `foreach (array_slice($argv, 1) as $url) {
      $context = stream_context_create(['http' => ['method' => 'POST', 'content' => '${BODY}']]);
      if (file_get_contents($url, false, $context) === false) exit(1);
    }`,
    '--',
  ],
};

const certificates = await makeCertificates();
// Closes each connection, because some of the clients wait for that.
const server = await closesIdle({ certificate: certificates.good });
const trusted = server.url.replace('/hook', '/v1/batch');
afterAll(async () => {
  await server.close();
  await certificates.remove();
});

describe('hooks expect --self-signed', () => {
  const clients = Object.keys(CLIENTS).filter((name) => hasTool(name, CLIENTS[name]?.[0] ?? ''));

  it.each(clients)(
    'lets %s post to it, and to a server that the roots of the program trust',
    async (name) => {
      const words = (CLIENTS[name] ?? []).slice(1).map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
      const script = `${words.join(' ')} "$HOOKS_URL/v1/batch" '${trusted}'`;
      const run = (caFile: string) =>
        hooks(argv`expect --self-signed --messages 1 --match event=Signup --within 30s -- sh -c ${script}`, {
          env: { SSL_CERT_FILE: caFile },
        });
      expect(await run(certificates.caFile)).toMatchObject({ code: 0 });
      // Otherwise reaching the server would prove nothing.
      const stranger = await run(certificates.strangerCaFile);
      expect([stranger.code, stranger.stdout]).toEqual([
        1,
        expect.stringContaining('✓ messages   1 message'),
      ]);
    },
  );
});
