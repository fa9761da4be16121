import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { harEntry } from '../../../capture/import/formats.ts';
import { jsonLines } from '../../../end-to-end/receiving.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { hooks } from '../../run-in-process.ts';

const BODY = Buffer.from('{"type":"track","event":"Order Completed","userId":"é"}');
const HAR = JSON.stringify({ log: { entries: [harEntry({ url: '/hook?a=1', body: BODY })] } });

/** Imports files, and returns the result with the captures that were written, by the names of their files. */
async function importing(
  files: Record<string, string | Uint8Array>,
  { args = Object.keys(files), stdin = '' }: { args?: readonly string[]; stdin?: string } = {},
) {
  const cwd = temporaryFolder(files);
  const result = await hooks(['import', ...args, '--to', 'out'], { cwd, stdin });
  const names = result.code === 2 ? [] : readdirSync(join(cwd, 'out'));
  const captures = names.map((name) => JSON.parse(readFileSync(join(cwd, 'out', name), 'utf8')) as object);
  return { ...result, cwd, names, captures };
}

it('writes a capture for each request with a body, and exits with 0', async () => {
  const curl = `curl https://a.example/orders -u user:pass -H 'Cookie: a=b' --json '{"n":1}'`;
  const { code, stdout, names, captures } = await importing({ 'a.har': HAR, 'b.sh': curl });
  expect(stdout.split('\n').map((line) => line.replaceAll('\\', '/'))).toEqual([
    `out/000001-order-completed.json  POST /hook?a=1  ${BODY.length} bytes`,
    'out/000002-orders.json  POST /orders  7 bytes',
    '2 saved',
    '',
  ]);
  expect(names).toEqual(['000001-order-completed.json', '000002-orders.json']);
  expect(captures).toMatchObject([
    { capture: 1, at: '2026-11-01T10:00:00.000Z', method: 'POST', url: '/hook?a=1', body: BODY.toString() },
    {
      headers: [
        ['Authorization', '***'],
        ['Cookie', '***'],
        ['Content-Type', 'application/json'],
        ['Accept', 'application/json'],
      ],
    },
  ]);
  expect(code).toBe(0);
});

it('reads gzipped files and standard input, and prints JSON for programs', async () => {
  const files = { 'a.har': gzipSync(HAR) };
  const { stdout } = await importing(files, {
    args: ['a.har', '-', '-o', 'json'],
    stdin: 'curl a.example -d x',
  });
  expect(jsonLines(stdout)).toEqual([
    {
      file: 'a.har',
      saved: join('out', '000001-order-completed.json'),
      method: 'POST',
      url: '/hook?a=1',
      bytes: BODY.length,
    },
    { file: '<stdin>', saved: join('out', '000002-request.json'), method: 'POST', url: '/', bytes: 1 },
    { summary: { saved: 2, rejected: 0, skipped: 0 } },
  ]);
});

it.each([
  [{ queryStringParameters: { a: 'x y', b: '&' } }, '/h?a=x+y&b=%26'],
  [{ queryStringParameters: { a: '2' }, multiValueQueryStringParameters: { a: ['1', '2'] } }, '/h?a=1&a=2'],
  [{ queryStringParameters: null }, '/h'],
  [{ rawQueryString: 'a=%20', queryStringParameters: { a: ' ' } }, '/h?a=%20'],
  [
    { requestContext: { elb: {} }, queryStringParameters: { to: 'https%3A%2F%2Fb', 'na%6De': 'Jane%20Doe' } },
    '/h?to=https%3A%2F%2Fb&na%6De=Jane%20Doe',
  ],
  [{ requestContext: { elb: {} }, multiValueQueryStringParameters: { a: ['%31', '+2'] } }, '/h?a=%31&a=+2'],
])('keeps the query of an event of Lambda: %j', async (query, url) => {
  const event = { httpMethod: 'POST', path: '/h', headers: {}, body: 'x', ...query };
  expect((await importing({ 'a.json': JSON.stringify(event) })).captures).toMatchObject([{ url }]);
});

it.each([
  ["http://a/it's?b='c'|d#e", "/it's?b='c'|d"],
  ['http://a//b/./c/../d%2f?/../e', '//b/d%2f?/../e'],
  ['http://a?b', '/?b'],
  ['http://a/é?€', '/%C3%A9?%E2%82%AC'],
])('keeps the target of a URL as clients send it: %s', async (url, target) => {
  const request = requestOf({ headers: {}, url, body: 'x' });
  expect((await importing({ 'a.json': request })).captures).toMatchObject([{ url: target }]);
});

it.each([
  ["'http://[::1]:80/a[]=1'", '/a[]=1'],
  [String.raw`'http://a/?x\[1-3\]=\{y,z\}'`, '/?x[1-3]={y,z}'],
  ["-g 'http://a/[1-3]/\\['", '/[1-3]/\\['],
  ['http://a/b/../c', '/c'],
  ['--path-as-is http://a/b/../c', '/b/../c'],
])('reads the URL of a command as curl does: %s', async (words, url) => {
  expect((await importing({ 'a.sh': `curl -d x ${words}` })).captures).toMatchObject([{ url }]);
});

it('saves a request with any method if it has a body, and skips an empty body', async () => {
  const script = "curl -X GET a.example -d x\ncurl a.example -d ''\ncurl -X GET a.example";
  const get = { method: 'GET', headers: { 'Content-Length': '1' } };
  const log = [
    { ...get, body: 'x' },
    { ...get, body: '' },
    { ...get, headers: {}, body: {} },
  ];
  const { captures, stdout } = await importing({
    'a.sh': script,
    'b.json': JSON.stringify(log.map((each) => ({ url: '/', ...each }))),
  });
  expect(captures).toMatchObject([
    { method: 'GET', body: 'x' },
    { method: 'GET', body: 'x' },
  ]);
  expect(stdout).toContain('2 saved, 1 rejected, 3 without a body skipped');
});

it.each([{ b: 1, a: 2 }, { a: { c: 1, b: 2 }, d: 1 }, { b: [1, { a: 2 }] }, ['b', 'a']])(
  'saves parsed JSON that is as long as its body, in an order of keys that no program makes: %j',
  async (body) => {
    const headers = { 'Content-Length': String(JSON.stringify(body).length) };
    const { captures } = await importing({ 'a.json': requestOf({ headers, body }) });
    expect(captures).toMatchObject([{ body: JSON.stringify(body) }]);
  },
);

it('names no file by what a request says, other than letters, digits and hyphens', async () => {
  const body = JSON.stringify({ event: '../../../etc/x\u001B[31m' });
  const { names } = await importing({ 'a.sh': `curl 'http://a/../..' --data-raw '${body}'` });
  expect(names).toEqual(['000001-etc-x-31m.json']);
});

/** A HAR file with one request. */
const harOf = (fields: object): string =>
  JSON.stringify({ log: { entries: [{ request: { method: 'POST', url: 'http://a/h', ...fields } }] } });
const length = (value: string): object => [{ name: 'content-length', value }];
const requestOf = (fields: object): string => JSON.stringify({ method: 'POST', url: '/h', ...fields });

describe('a request whose exact bytes are unknown', () => {
  it.each([
    [
      'a text that is shorter',
      'a.har',
      harOf({ headers: length('9'), postData: { text: 'abc' } }),
      'request 1 (POST /h) is rejected: 3 bytes are recorded, but the request had 9',
    ],
    [
      'a HAR file without a length',
      'a.har',
      harOf({ headers: [], bodySize: -1, postData: { text: 'abc' } }),
      'its length is not recorded',
    ],
    [
      'bytes that are not text',
      'a.har',
      harOf({ headers: length('3'), postData: { text: '\u{FFFD}' } }),
      'U+FFFD',
    ],
    [
      'a HAR file without the body',
      'a.har',
      harOf({ headers: length('53'), bodySize: 53 }),
      'request 1 (POST /h) is rejected: its body is not recorded, but the request had 53 bytes',
    ],
    [
      'a form',
      'a.har',
      harOf({ headers: length('3'), postData: { params: [{ name: 'a', value: 'b' }] } }),
      'lists its form fields',
    ],
    ['a cut HAR file', 'a.har', HAR.slice(0, -2), 'line 1 is rejected: the file is cut off here'],
    ['a broken HAR file', 'a.har', `${HAR.slice(0, -3)}}`, 'is rejected: the file is not JSON from here on'],
    [
      'parsed JSON of another length',
      'a.json',
      requestOf({ headers: { 'content-length': '10' }, body: { a: 1 } }),
      '7 bytes are recorded, but the request had 10',
    ],
    [
      'parsed JSON whose order of keys is unknown',
      'a.json',
      requestOf({ headers: { 'content-length': '7' }, body: { 2: 1 } }),
      'order of keys',
    ],
    [
      'parsed JSON whose keys are sorted',
      'a.json',
      requestOf({ headers: { 'content-length': '29' }, body: { a: { b: 1, c: 2 }, d: [{ e: 1 }] } }),
      'its body is recorded as parsed JSON, with sorted keys',
    ],
    [
      'parsed JSON whose keys are sorted by their length',
      'a.json',
      requestOf({ headers: { 'content-length': '15' }, body: { b: 1, aa: 2 } }),
      'its body is recorded as parsed JSON, with sorted keys',
    ],
    ['a variable', 'a.sh', 'curl http://a -d "$BODY"', 'line 1 is rejected: it has a variable'],
    ['a command', 'a.sh', 'curl http://a -d `id`', 'it has a variable or a command'],
    ['the output of another command', 'a.sh', 'cat x | curl http://a -d @-', 'the output of another command'],
    ['a variable in a pipe', 'a.sh', 'printf %s "$X" |\ncurl http://a -d @-', 'output of another command'],
    ['a form of curl', 'a.sh', 'curl http://a -F a=b', 'boundaries'],
    [
      'an unknown option',
      'a.sh',
      'curl http://a -d x --aws-sigv4 y',
      'its option --aws-sigv4 is unknown here',
    ],
    [
      'a file elsewhere',
      'a.sh',
      'curl http://a --data-binary @/etc/hostname',
      'not in the folder of the input',
    ],
    ['a file above', 'a.sh', 'curl http://a --data-binary @../x', 'not in the folder of the input'],
    ['a missing file', 'a.sh', 'curl http://a --data-binary @x', 'sends the file x, which cannot be read'],
    ['an open quote', 'a.sh', "curl http://a -d 'x", 'a quote is not closed'],
    [
      'a header of curl with a line break',
      'a.sh',
      "curl http://a -d x -H $'X-A: y\\nz'",
      'does not allow its method or header X-A',
    ],
    [
      'the first of two raw requests',
      'a.http',
      'POST /a HTTP/1.1\nHost: a\n\nx\n\n### Second\nPOST /b HTTP/1.1\nHost: a\n\ny\n',
      'the request is rejected: It has no Content-Length, and a line with ###',
    ],
    ['a special variable', 'a.sh', 'curl http://a -d "$@"', 'it has a variable'],
    ['a translated text', 'a.sh', 'curl http://a -d $"x"', 'it has a variable'],
    ['a redirect after a word', 'a.sh', 'curl http://a -d x>out', 'it has a redirect without a space'],
    ['a redirect in cmd.exe', 'a.sh', 'curl ^"http://a^" -d ^"x^">out', 'it has a redirect without a space'],
    ['a variable of cmd.exe', 'a.sh', 'curl ^\n http://a -d "%API_TOKEN%"', 'it has a variable of cmd.exe'],
    ['a pipe of cmd.exe', 'a.sh', 'echo x | curl ^"http://a^" -d @-', 'the output of another command'],
    ['a variable of bash or cmd.exe', 'a.sh', 'curl http://a -d "%API_TOKEN%"', 'bash and cmd.exe read'],
    ['quotes of bash or cmd.exe', 'a.sh', 'curl http://a -d "{""a"":1}"', 'bash and cmd.exe read'],
    ['two URLs', 'a.sh', 'curl http://a/b -d x --url http://a/c', 'it has several URLs; write a command'],
    ['a range of URLs', 'a.sh', "curl -d x 'http://[::1]/[1-3]'", 'brackets or braces in its URL'],
    ['a list of URLs', 'a.sh', "curl -d x 'http://a/{15,16}'", 'brackets or braces in its URL'],
    ['a NUL', 'a.sh', "curl http://a -d $'a\\0b'", 'it has a NUL'],
    [
      'a heredoc',
      'a.sh',
      'curl http://a -d @- <<EOF',
      'it sends standard input (a heredoc), which is not read',
    ],
    [
      'a method with a line break',
      'a.json',
      requestOf({ method: 'POST\r\nX: y', headers: {}, body: 'x' }),
      'is rejected: HTTP does not allow its method or header POST\\r\\nX: y',
    ],
    [
      'a header name with a line break',
      'a.json',
      requestOf({ headers: { 'X\r\nEvil': 'y' }, body: 'x' }),
      'HTTP does not allow its method or header X\\r\\nEvil',
    ],
    [
      'a header value with a line break',
      'a.json',
      requestOf({ headers: { 'X-A': 'y\r\nEvil: z' }, body: 'x' }),
      'HTTP does not allow its method or header X-A',
    ],
    [
      'a capture with such a header',
      'a.json',
      requestOf({ capture: 1, headers: [['X-A', '\u{0}']], body: 'x' }),
      'a capture is rejected: The capture cannot be sent: HTTP does not allow its method or header X-A',
    ],
  ])('is rejected, with exit code 1: %s', async (_what, name, content, reason) => {
    const { code, stderr } = await importing({ [name]: content });
    expect(stderr).toContain(`${name}: `);
    expect(stderr).toContain(reason);
    expect(code).toBe(1);
  });

  it.each(['{"a":1,"b":2}', 'x{1..3}', '*.json', 'a?b', '[a-c]', '~', '~/x', '@<(id)', 'x)'])(
    'is rejected if a shell expands one of its words: %s',
    async (word) => {
      const { code, stderr } = await importing({ 'a.sh': `curl http://a -d ${word}` });
      expect(stderr).toContain('outside quotes');
      expect(code).toBe(1);
    },
  );

  it('does not keep the requests around it from being saved', async () => {
    const good = `curl http://a -d x`;
    const { code, names, stdout } = await importing({
      'a.sh': `${good}\ncurl http://a -d "$X"\n${good}\ncurl http://a`,
    });
    expect([code, names.length]).toEqual([1, 2]);
    expect(stdout).toContain('2 saved, 1 rejected, 1 without a body skipped');
  });
});

it.each([
  ['a text that is no request', 'hello', 'expected a HAR file, curl commands, a raw HTTP request or JSON'],
  ['an empty file', '', 'holds requests, got an empty file'],
  ['UTF-16', Buffer.from('\uFEFFcurl http://a -d x', 'utf16le'), 'got text in UTF-16'],
  ['UTF-16 without a BOM', Buffer.from('{"method":"POST"}', 'utf16le'), 'got text in UTF-16'],
  ['PowerShell', 'Invoke-WebRequest -Uri "http://a" -Body "x"', 'got a command of PowerShell'],
  ['fetch', 'fetch("http://a", {\n  "body": "x",\n  "method": "POST"\n});', 'got a call of fetch'],
  ['a file of an HTTP client', '### Create\nPOST http://a\n\n{"a":1}', 'got a .http file'],
  ['messages', '{"type":"track","event":"A"}', 'Nothing to import: no file has a request with a body'],
  ['a request without a body', 'curl http://a', 'Nothing to import'],
])('exits with 2 for %s', async (_what, content, sentence) => {
  const { code, stderr } = await importing({ 'a.txt': content });
  expect(stderr).toContain(sentence);
  expect(code).toBe(2);
});

it.each([
  ['printf %s eA== | base64 -d |\ncurl a.example/y --data-binary @-', 'x'],
  ["printf %s 'a b' | curl a.example/y --data-binary @-", 'a b'],
  ['false || curl a.example/y -d x | jq .', 'x'],
  ["curl a.example/y -d $'\\ca\\cZ\\c?'", '\u0001\u001A\u007F'],
  [`curl a.example/y -d "%C3%A9cole%20 100%" -d '%A%""{a,b}*' -d ""`, `%C3%A9cole%20 100%&%A%""{a,b}*&`],
  ['curl ^"a.example/y^" -d ^"^%^A^%^20^" > nul 2>&1 | more', '%A%20'],
])('reads the body of %j', async (script, body) => {
  const { captures } = await importing({ 'a.sh': script });
  expect(captures).toMatchObject([{ url: '/y', body }]);
});

it('reads the file that a curl command names, if it is in the folder of the input', async () => {
  const files = { 'a.sh': 'curl a.example/x -d @b.txt --data-binary @b.txt', 'b.txt': 'x\ny\n' };
  const { captures } = await importing(files, { args: ['a.sh'] });
  expect(captures).toMatchObject([{ body: 'xy&x\ny\n' }]);
});

const CALL = 'curl a.example/y -d x';

it.each([
  `me@host:~$ ${CALL}`,
  `[me@host ~]$ ${CALL}`,
  `(venv) me@host ~ % ${CALL}`,
  `% ${CALL}`,
  `FOO=1 ${CALL}`,
  `sudo -u me ${CALL}`,
  `time ${CALL}`,
  `timeout 5 /usr/bin/${CALL}`,
  `if ${CALL}; then echo; fi`,
  `[me@host *] ~ $ ${CALL}`,
  `X=$Y ${CALL}`,
  `curl >& log a.example/y 2>&1 -d x`,
  `curl &> log a.example/y <<< z -d x`,
  `cat > b.json <<EOF\n{"a":1}\nEOF\n${CALL}`,
])('reads the request of %j', async (script) => {
  const { captures, code } = await importing({ 'a.sh': script });
  expect(captures).toMatchObject([{ url: '/y', body: 'x' }]);
  expect(code).toBe(0);
});

it.each([
  ['xargs ' + CALL, 'the curl command in line 2 is rejected: it is in the text or the arguments'],
  [`bash -c '${CALL}'`, 'the curl command in line 2 is rejected'],
  [`(${CALL})`, 'the curl command in line 2 is rejected'],
  [`ID=$(${CALL})`, 'the curl command in line 2 is rejected: it has a variable or a command'],
  [`don't\n${CALL}`, 'the curl command in line 2 is rejected: a quote is not closed'],
  [`# ${CALL}`, 'the curl command in line 2 is rejected: it is in a comment'],
  ['wget a.example --post-data=x', 'the wget command in line 2 is rejected: wget is not read'],
])('rejects a call of curl or wget that is not read: %j', async (line, reason) => {
  const { captures, code, stderr } = await importing({ 'a.sh': `${CALL}\n${line}` });
  expect(captures).toHaveLength(1);
  expect(stderr).toContain(reason);
  expect(code).toBe(1);
});

it.each([
  ['Monolog', '[2026-01-01 00:00:00] app.INFO: got ', ' [] []'],
  ['a thread and a part of JSON', '[main] {id} ', ''],
  ['curl', 'curl -d said ', ''],
])('reads requests of a log with text before them: %s', async (_what, before, after) => {
  const line = `${before}${requestOf({ headers: {}, body: 'x' })}${after}\n`;
  const { captures, code } = await importing({ 'a.log': line.repeat(2) });
  expect(captures).toMatchObject([{ body: 'x' }, { body: 'x' }]);
  expect(code).toBe(0);
});

describe('a file that a curl command names', () => {
  it.skipIf(process.platform === 'win32').each([
    ['a link to a file elsewhere', 'link'],
    ['a file in a link to a folder elsewhere', 'up/secret'],
  ])('is rejected: %s', async (_what, name) => {
    const cwd = temporaryFolder({ secret: 'CANARY', 'd/a.sh': `${CALL} -d @inside -d @${name}`, 'd/b': 'y' });
    symlinkSync('b', join(cwd, 'd/inside'));
    symlinkSync('../secret', join(cwd, 'd/link'));
    symlinkSync('..', join(cwd, 'd/up'));
    const { code, stderr } = await hooks(['import', 'd/a.sh', '--to', 'out'], { cwd });
    expect(stderr).toContain(`it sends the file ${name}, which is not in the folder of the input`);
    expect(code).toBe(1);
    writeFileSync(join(cwd, 'd/a.sh'), `${CALL} -d @inside`);
    expect((await hooks(['import', 'd/a.sh', '--to', 'out'], { cwd })).code).toBe(0);
  });

  it('is rejected if it is a folder', async () => {
    const files = { 'a.sh': `${CALL} -d @b`, 'b/c': '' };
    const { code, stderr } = await importing(files, { args: ['a.sh'] });
    expect(stderr).toContain('it sends the file b, which ');
    expect(code).toBe(1);
  });
});

it('reports a file that cannot be read as rejected, and reads the others', async () => {
  const chunked = 'POST /h HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n';
  const files = {
    'a.http': 'POST /h HTTP/1.1\nContent-Length: 9\n\nabc',
    'b.http': chunked,
    'c.txt': 'hello',
    'd.gz': gzipSync(HAR).subarray(0, -9),
    'e.json': '{"capture":1,"method":"POST"}',
    'f.sh': CALL,
  };
  const { code, stdout, stderr } = await importing(files);
  for (const line of [
    'a.http: the request is rejected: Content-Length is 9, but 3 bytes follow the headers',
    'b.http: the request is rejected: A raw HTTP request with Transfer-Encoding cannot be read',
    'c.txt: the file is rejected: Expected a HAR file',
    'd.gz: the file is rejected: The gzipped file is corrupt or cut off',
    'e.json: a capture is rejected: ',
  ]) {
    expect(stderr).toContain(line);
  }
  expect(stderr).not.toContain(' --');
  expect(stdout).toContain('5 rejected');
  expect(code).toBe(1);
});

it('lets replay send the requests of a HAR file as they are', async () => {
  const cwd = temporaryFolder({ 'a.har': HAR });
  const { code, stdout } = await hooks(['replay', 'a.har', '--exact', '-n', '--url', 'http://127.0.0.1:1'], {
    cwd,
  });
  expect(stdout).toContain(BODY.toString());
  expect(code).toBe(0);
  const cut = temporaryFolder({ 'a.har': HAR.slice(0, -2) });
  const ended = await hooks(['replay', 'a.har', '-n', '--url', 'http://127.0.0.1:1'], { cwd: cut });
  expect(ended.stdout).toContain('the file is cut off here');
  expect(ended.code).toBe(1);
});

describe('a minified HAR file of Chrome', () => {
  const page = { request: { method: 'GET', url: 'https://a.example/', headers: [] } };
  const chrome = (headers: readonly object[] = []) =>
    JSON.stringify({
      log: {
        creator: { name: 'WebInspector', version: '537.36' },
        entries: [
          { request: { ...page.request, headers } },
          harEntry({ url: '/hook', body: BODY }),
          harEntry({ url: '/hook', body: Buffer.from('{"type":"nope"}') }),
        ],
      },
    });
  const NOTE = 'note: a.har has no Cookie and no Authorization headers; Chrome leaves them out unless';

  it('without secrets is noted once by import and replay', async () => {
    const { stderr, cwd } = await importing({ 'a.har': chrome() });
    expect(stderr.split(NOTE)).toHaveLength(2);
    const replayed = await hooks(['replay', 'a.har', '--url', 'http://127.0.0.1:9/', '--dry-run'], { cwd });
    expect(replayed.stderr.split(NOTE)).toHaveLength(2);
    const cookie = await importing({ 'a.har': chrome([{ name: 'cookie', value: 'a=b' }]) });
    expect(cookie.stderr).not.toContain(NOTE);
  });

  it('is replayed with the number of each request, and its requests without a body are counted', async () => {
    const cwd = temporaryFolder({ 'a.har': chrome() });
    const args = [
      'replay',
      'a.har',
      '--url',
      'http://127.0.0.1:9/',
      '--retry-for',
      '0',
      '--report',
      'a.json',
    ];
    const { stdout, stderr } = await hooks(args, { cwd });
    expect(stdout + stderr).toContain('a.har request 3: ');
    expect(stderr).toContain('note: 1 request without a body skipped');
    expect(readFileSync(join(cwd, 'a.json'), 'utf8')).toContain('"origin":"a.har request 3"');
  });
});
