import { chmod, cp, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { MESSAGE_TYPES } from '../../src/message/types.ts';
import { closedPort } from './delivering.ts';
import { hooks, startHooks } from './hooks.ts';
import { receiving, ROOT, SECRET, track, tracks } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { sign } from '../sign.ts';

/** Where `hooks` is. Written before any example runs: one that is begun meanwhile would hold the file open for writing. */
const BIN = temporaryFolder({
  hooks: `#!/bin/sh\nexec '${process.execPath}' '${ROOT}bin/hooks.js' "$@"\n`,
});
await chmod(join(BIN, 'hooks'), 0o755);

/** Every command that has a help of its own with examples. */
export const COMMANDS: readonly (readonly string[])[] = [
  [],
  ['send'],
  ...MESSAGE_TYPES.map((type) => ['send', type]),
  ...['replay', 'sign', 'verify', 'listen', 'expect', 'test', 'serve', 'worker', 'queue', 'delete'].map(
    (verb) => [verb],
  ),
  ...['init', 'config', 'doctor', 'completion'].map((verb) => [verb]),
  ...['stats', 'list', 'show', 'retry', 'drop', 'purge', 'export', 'backup', 'vacuum', 'recover', 'move'].map(
    (verb) => ['queue', verb],
  ),
  ['audience'],
  ...['sync', 'list', 'show', 'forget'].map((verb) => ['audience', verb]),
  ['trait'],
  ['trait', 'sync'],
];

/** The command lines after `$ ` of a help, with the lines that continue them. */
export function examplesOfHelp(help: string): string[] {
  return [...help.matchAll(/^ {2}\$ (.*(?:(?<=\\)\n.*)*)$/gm)].map(([, example = '']) => example);
}

/** README.md and the pages of docs/, by their path from the top. */
export async function pages(): Promise<string[]> {
  const docs = await readdir(join(ROOT, 'docs'));
  return ['README.md', ...docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)];
}

/** The commands of a page's shell blocks. What a block exports holds for the lines below it. */
export async function examplesOfPage(page: string): Promise<string[]> {
  const text = await readFile(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = '']) => {
    const lines = block.match(/^(?!#).*(?:\\\n.*)*$/gm)?.filter((line) => line.trim() !== '') ?? [];
    const exported = lines.filter((line) => line.startsWith('export '));
    return lines.filter((line) => !line.startsWith('export ')).map((line) => [...exported, line].join('; '));
  });
}

/** How an example is run, beside it: as it stands, but for what a folder of a test cannot have. */
export interface Run {
  readonly script: string;
  /** Programs of others that it needs. */
  readonly tools: readonly string[];
}

/** A running service or worker: it says that it is ready, is asked to stop, and ends with 0. */
function untilReady(script: string): string {
  return `${script} > ready.txt 2>&1 & pid=$!; until [ -s ready.txt ] || ! kill -0 $pid; do sleep 0.05; done; kill -TERM $pid; wait $pid; code=$?; cat ready.txt >&2; exit $code`;
}

/** With a service beside it, whose address takes the place of the one in the example. */
function besideService(script: string): string {
  const beside = `hooks serve --port 0 > ready.txt & pid=$!; until [ -s ready.txt ]; do sleep 0.05; done; to=$(sed 's/.*\\///' ready.txt)`;
  return `${beside}; ${script.replace('127.0.0.1:8788', '$to')}; code=$?; kill $pid; wait $pid; exit $code`;
}

/** With a right receiver beside it. */
function besideReceiver(script: string, url: string): string {
  const beside = `PORT=${new URL(url).port} node server.js > /dev/null & pid=$!; until curl -so /dev/null ${url}; do sleep 0.05; done`;
  return `${beside}; ${script}; code=$?; kill $pid; exit $code`;
}

/** After a first sync. */
function besideAudience(script: string): string {
  const place = script.includes('--place loopback') ? ' --loopback' : '';
  const syncs = ['High-Value Users (US)', 'VIP'].map(
    (name) => `hooks audience sync '${name}' members.csv -q${place}`,
  );
  return [...syncs, script.replace(' hooks.db', ' data/hooks.db')].join('; ');
}

type Way = (script: string, place: Place) => string;

interface Place {
  readonly id: string;
  readonly free: string;
}

/** What an example cannot be run as it stands for, and how it is run instead. The first that matches; without one, as it stands. */
const WAYS: readonly (readonly [pattern: RegExp, way: Way])[] = [
  [/^npm ci && npx /, (script) => script.replace('npm ci && npx ', '')],
  // Scripts of the package: that they are there. Continuous integration runs them.
  [
    /^npm (ci && npm )?(run|test)/,
    (script) => {
      const [, name = 'test'] = /npm run (\S+)/.exec(script) ?? [];
      return `node -e 'process.exitCode = JSON.parse(require("fs").readFileSync("${ROOT}package.json")).scripts["${name}"] ? 0 : 1'`;
    },
  ],
  // The package is packed and installed by the tests of the packed package.
  [/^npm pack/, () => 'true'],
  // From a registry: that it is what this package is tested with.
  [/^npm install/, (script) => script.split(' ').slice(2).map(isTestedWith).join(' && ')],
  // Nobody knows that server; test/queue/move.test.ts moves to one that is there.
  [/^hooks queue move/, (script) => script.replace(/--to \S+/, '--to sqlite:moved.db')],
  // What only root may do; the command of the queue runs here.
  [
    /^sudo -u hooks /,
    (script) => script.replace(/^sudo -u hooks \S+ /, '').replace('/etc/hooks/config.yaml', 'prod.yaml'),
  ],
  [/^sudo /, () => 'true'],
  [/^hooks (serve|worker)/, (script) => untilReady(withPort(script))],
  [/127\.0\.0\.1:8788/, besideService],
  // Nobody sends to a port that the test does not know: what it waits for does not come, which is 1.
  [
    /^hooks listen/,
    (script) => `${withPort(script).replaceAll(/ --within \S+/g, '')} --within 200ms; [ $? = 1 ]`,
  ],
  // Two schedules show that it runs; all of them take a minute.
  [
    /^(?:export \S+; )?hooks test [^]*--state/,
    // The secret is the example's own.
    (script, { free }) => script.replace(/http\S+/, free).replace(' -- ', ' --only twice --schedules 1 -- '),
  ],
  [
    /^hooks test http.* -- /,
    (script, { free }) => `HOOKS_SECRET=${SECRET} ${script.replace(/http\S+/, free)}`,
  ],
  [
    /^hooks test http/,
    (script, { free }) =>
      `export HOOKS_SECRET=${SECRET}; ${besideReceiver(script.replace(/http\S+/, free), free)}`,
  ],
  [/\bID\b/, (script, { id }) => script.replace(/\bID\b…?/, id)],
  [/^hooks audience (show|forget)|audience_/, besideAudience],
  [/^hooks trait (show|forget)/, (script) => `hooks trait sync 'Lifetime Value' values.csv -q; ${script}`],
  [/^sqlite3 /, (script) => script.replace(' hooks.db', ' data/hooks.db')],
  [/^hooks queue recover/, (script) => script.replace(' hooks.db', ' data/hooks.db')],
  [/--source web/, (script) => `${script} -c sources.yaml`],
  // Words of bash: sh may be another shell.
  [/^eval /, (script) => `bash -c '${script}; complete -p hooks'`],
];

/** `name@major` */
function isTestedWith(wanted: string): string {
  const [name = '', major = ''] = wanted.split('@');
  return `node -e 'process.exitCode = JSON.parse(require("fs").readFileSync("${ROOT}package.json")).devDependencies["${name}"].replace("^", "").startsWith("${major}.") ? 0 : 1'`;
}

function withPort(script: string): string {
  return script.includes('--port') ? script.replace(/--port \S+/, '--port 0') : `${script} --port 0`;
}

/** How it is run in this folder. `url` is that of a receiver that takes everything. */
export function runOf(example: string, { url, ...place }: Place & { readonly url: string }): Run {
  const plain = example.replace(/\s+# .*$/, '');
  const [, way] = WAYS.find(([pattern]) => pattern.test(plain)) ?? [];
  const script = (way?.(plain, place) ?? plain)
    .replaceAll(/http:\/\/localhost:3000|https:\/\/(?:tracking|staging)\.example/g, url)
    .replaceAll(/s3cret(?!-of)|(?<=--secret )old/g, SECRET)
    // A worker has no port.
    .replace(/(hooks worker.*) --port 0/, '$1');
  const tools = ['jq', 'zcat', 'curl', 'sqlite3', 'bash', 'python3'].filter((tool) =>
    new RegExp(`(^|[ |;'"(])${tool} `).test(script),
  );
  return { script, tools };
}

/** What the example names: files, `hooks` itself, and for those of the queue one with a dead letter, whose id is `id`. */
export async function surroundings(
  example: string,
): Promise<Place & { readonly cwd: string; readonly url: string; readonly env: Record<string, string> }> {
  const to = await receiving();
  const cwd = temporaryFolder(await files(to.url));
  await cp(join(ROOT, 'fixtures'), join(cwd, 'fixtures'), { recursive: true });
  await cp(join(ROOT, 'fixtures/receivers/receiver.js'), join(cwd, 'server.js'));
  for (const name of ['captures', '.zfunc', '.config/fish/completions']) {
    await mkdir(join(cwd, name), { recursive: true });
  }
  await cp(join(cwd, 'capture.json'), join(cwd, 'captures/1.json'));
  const signature = sign(track(1), SECRET);
  const env = {
    PATH: `${BIN}:${process.env['PATH'] ?? ''}`,
    HOME: cwd,
    HOOKS_DATA_DIR: join(cwd, 'data'),
    HOOKS_URL: to.url,
    HOOKS_WRITE_KEY: 'key',
    // The receivers of the examples are on this machine.
    HOOKS_ALLOW_PRIVATE: 'true',
    HTTP_X_SIGNATURE: signature,
    SIGNATURE: signature,
  };
  return {
    cwd,
    env,
    url: to.url,
    id: /^hooks queue|^sqlite3(?!.*audience_)/.test(example) ? await deadLetter(cwd) : '',
    free: (await closedPort()).replace('/hook', '/'),
  };
}

async function files(url: string): Promise<Record<string, string | Uint8Array>> {
  const body = track(1);
  const headers = [['X-Signature', sign(body, SECRET)]];
  const bin = { type: 'module' };
  return {
    'event.json': body,
    'body.json': body,
    'capture.json': JSON.stringify({ capture: 1, method: 'POST', url: '/', headers, body }),
    'request.http': `POST / HTTP/1.1\r\nX-Signature: ${sign(body, SECRET)}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    'secret.txt': `${SECRET}\n`,
    'staging.yaml': `webhooks: [${url}]\n`,
    'prod.yaml': `webhooks: [${url}]\n`,
    'sources.yaml': `sources:\n  web:\n    destinations: { Webhooks: { webhooks: [${url}] } }\n`,
    'day.ndjson': tracks(3),
    'day.ndjson.gz': gzipSync(tracks(3)),
    'users.txt': 'u1\nu2\n',
    'day.gz': gzipSync(tracks(3)),
    'events.ndjson.gz': gzipSync(tracks(3)),
    'members.csv': 'userId,customer_id\nu1,c1\nu2,c2\n',
    'ids.gz': gzipSync('u1\nu2\n'),
    'values.csv': 'userId,value,ltv\nu1,27.5,30\nu2,9,10\n',
    'package.json': JSON.stringify(bin),
    'app.py': await documentedReceiver(),
  };
}

/** The receiver of docs/receivers.md that `hooks test --state` finds nothing wrong with. */
export async function documentedReceiver(): Promise<string> {
  const page = await readFile(join(ROOT, 'docs/receivers.md'), 'utf8');
  const [, program = ''] = /^This receiver passes all of them:\n\n```python\n(.*?)^```/ms.exec(page) ?? [];
  return program;
}

/** A delivery that nobody took. */
async function deadLetter(cwd: string): Promise<string> {
  const refusing = await receiving({ respond: '400' });
  const config = join(cwd, 'refusing.yaml');
  await writeFile(config, `webhooks: [${refusing.url}]\n`);
  const place = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } };
  await hooks(['send', '--json', '@event.json', '--queue', '-c', config], place);
  const worker = startHooks(['worker', '--allow-private', '-o', 'json', '-c', config], place);
  await worker.lines.next();
  const { value = '{}' } = (await worker.lines.next()) as { value?: string }; // a line, or the end
  await worker.stop();
  return (JSON.parse(value) as { id: string }).id;
}
