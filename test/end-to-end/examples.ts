import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { MESSAGE_TYPES } from '../../src/message/types.ts';
import { documentedFile } from '../documentation/blocks.ts';
import { deadLetter } from './dead-letter.ts';
import { closedPort } from './delivering.ts';
import { receiving, ROOT, SECRET, track, tracks } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { sign } from '../sign.ts';
import { harEntry } from '../capture/import/formats.ts';

/** Every command that has its own help with examples. */
export const COMMANDS: readonly (readonly string[])[] = [
  [],
  ['send'],
  ...MESSAGE_TYPES.map((type) => ['send', type]),
  ...[
    'replay',
    'sign',
    'verify',
    'listen',
    'expect',
    'test',
    'serve',
    'worker',
    'queue',
    'delete',
    'import',
    'redact',
  ].map((verb) => [verb]),
  ...['init', 'config', 'doctor', 'completion'].map((verb) => [verb]),
  ...[
    'stats',
    'list',
    'show',
    'retry',
    'drop',
    'purge',
    'export',
    'import',
    'backup',
    'vacuum',
    'adopt',
    'recover',
    'move',
  ].map((verb) => ['queue', verb]),
  ['audience'],
  ...['sync', 'list', 'show', 'forget'].map((verb) => ['audience', verb]),
  ['trait'],
  ['trait', 'sync'],
  ['plan'],
  ...['infer', 'lint', 'diff', 'convert', 'types', 'sample'].map((verb) => ['plan', verb]),
];

/** Returns the command lines after `$ ` in a help, with their continuation lines. */
export function examplesOfHelp(help: string): string[] {
  return [...help.matchAll(/^ {2}\$ (.*(?:(?<=\\)\n.*)*)$/gm)].map(([, example = '']) => example);
}

/** The script that runs an example in the folder of a test. */
export interface Run {
  readonly script: string;
  /** Programs other than hooks that the script needs. */
  readonly tools: readonly string[];
}

/** Waits until a service or worker is ready, stops it, and exits with its code. */
function untilReady(script: string): string {
  return `${script} > ready.txt 2>&1 & pid=$!; until [ -s ready.txt ] || ! kill -0 $pid; do sleep 0.05; done; kill -TERM $pid; wait $pid; code=$?; cat ready.txt >&2; exit $code`;
}

/** Starts a service for the script, which then uses the address of this service. */
function besideService(script: string): string {
  const beside = `hooks serve --port 0 > ready.txt & pid=$!; until [ -s ready.txt ]; do sleep 0.05; done; to=$(sed 's/.*\\///' ready.txt)`;
  return `${beside}; ${script.replace('127.0.0.1:8788', '$to')}; code=$?; kill $pid; wait $pid; exit $code`;
}

/** Starts a correct receiver for the script. */
function besideReceiver(script: string, url: string): string {
  const beside = `PORT=${new URL(url).port} node server.js > /dev/null & pid=$!; until curl --no-fail -so /dev/null ${url}; do sleep 0.05; done`;
  return `${beside}; ${script}; code=$?; kill $pid; exit $code`;
}

/** Syncs the audiences of the examples before the script. */
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

/** Examples that cannot run unchanged, with the script that runs instead. The first pattern that matches counts. */
const WAYS: readonly (readonly [pattern: RegExp, way: Way])[] = [
  // The server of the example does not exist; test/queue/move.test.ts moves to a real one.
  [/^hooks queue move/, (script) => script.replace(/--to \S+/, '--to sqlite:moved.db')],
  [/^hooks (serve|worker)/, (script) => untilReady(withPort(script))],
  [/127\.0\.0\.1:8788/, besideService],
  // No request arrives, so the command exits with 1.
  [
    /^hooks listen/,
    (script) => `${withPort(script).replaceAll(/ --within \S+/g, '')} --within 200ms; [ $? = 1 ]`,
  ],
  // Runs two schedules, because all of them take a minute.
  [
    /^(?:export \S+; )?hooks test [^]*--state/,
    // The example sets its own secret.
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
  [/^hooks redact .*--check/, (script) => `${script}; [ $? = 1 ]`],
  [/\bID\b/, (script, { id }) => script.replace(/\bID\b…?/, id)],
  [/^hooks audience (show|forget)|audience_/, besideAudience],
  [/^hooks trait (show|forget)/, (script) => `hooks trait sync 'Lifetime Value' values.csv -q; ${script}`],
  [/^hooks queue import/, (script) => `hooks queue export --deliveries > all.ndjson && ${script}`],
  [/^hooks queue recover/, (script) => script.replace(' hooks.db', ' data/hooks.db')],
  [/--source web/, (script) => `${script} -c sources.yaml`],
  // For bash only: sh may be another shell.
  [/^eval /, (script) => `bash -c '${script}; complete -p hooks'`],
];

function withPort(script: string): string {
  return script.includes('--port') ? script.replace(/--port \S+/, '--port 0') : `${script} --port 0`;
}

/** Returns the script for an example. `url` is that of a receiver that accepts everything. */
export function runOf(example: string, { url, ...place }: Place & { readonly url: string }): Run {
  const plain = example.replace(/\s+# .*$/, '');
  const [, way] = WAYS.find(([pattern]) => pattern.test(plain)) ?? [];
  const script = (way?.(plain, place) ?? plain)
    .replaceAll(/http:\/\/localhost:(?:3000|8787)|https:\/\/(?:tracking|staging)\.example/g, url)
    .replaceAll(/s3cret(?!-of)|(?<=--secret )old/g, SECRET)
    // A worker has no port.
    .replace(/(hooks worker.*) --port 0/, '$1');
  const tools = ['jq', 'zcat', 'curl', 'sqlite3', 'bash', 'python3'].filter((tool) =>
    new RegExp(`(^|[ |;'"(])${tool} `).test(script),
  );
  return { script, tools };
}

/** Prepares a folder with the files that examples name, and with `programs` at the front of PATH. For examples of the queue, `id` is that of a dead letter. */
export async function preparedFolder(
  example: string,
  programs: string,
): Promise<Place & { readonly cwd: string; readonly url: string; readonly env: Record<string, string> }> {
  const to = await receiving();
  const cwd = temporaryFolder(files(to.url));
  await cp(join(ROOT, 'fixtures'), join(cwd, 'fixtures'), { recursive: true });
  await cp(join(ROOT, 'fixtures/receivers/receiver.js'), join(cwd, 'server.js'));
  for (const name of ['captures', '.zfunc', '.config/fish/completions', 'schemas', 'old', 'new']) {
    await mkdir(join(cwd, name), { recursive: true });
  }
  for (const folder of ['schemas', 'old', 'new']) {
    await cp(join(cwd, 'plan.json'), join(cwd, folder, 'plan.json'));
  }
  await cp(join(cwd, 'capture.json'), join(cwd, 'captures/1.json'));
  const signature = sign(track(1), SECRET);
  const env = {
    PATH: `${programs}:${process.env['PATH'] ?? ''}`,
    HOME: cwd,
    HOOKS_DATA_DIR: join(cwd, 'data'),
    HOOKS_URL: to.url,
    HOOKS_WRITE_KEY: 'key',
    GITHUB_STEP_SUMMARY: join(cwd, 'summary.md'),
    // The receivers of the examples are on this machine.
    HOOKS_ALLOW_PRIVATE: 'true',
    HTTP_X_SIGNATURE: signature,
    SIGNATURE: signature,
  };
  return {
    cwd,
    env,
    url: to.url,
    id: example.startsWith('hooks queue') ? await deadLetter(cwd, join(cwd, 'data')) : '',
    free: (await closedPort()).replace('/hook', '/'),
  };
}

/** A tracking plan that the messages of the tests follow. */
const PLAN = JSON.stringify({
  rules: [{ key: 'Signup', type: 'TRACK', version: 1, jsonSchema: { type: 'object' } }],
});

function files(url: string): Record<string, string | Uint8Array> {
  const body = track(1);
  const headers = [['X-Signature', sign(body, SECRET)]];
  const bin = { type: 'module' };
  return {
    ...Object.fromEntries(['plan.json', 'old.json', 'new.json'].map((name) => [name, PLAN])),
    'events.ndjson': tracks(3),
    'event.json': body,
    'body.json': body,
    'capture.json': JSON.stringify({ capture: 1, method: 'POST', url: '/', headers, body }),
    'request.http': `POST / HTTP/1.1\r\nX-Signature: ${sign(body, SECRET)}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    'recorded.har': JSON.stringify({
      log: { entries: [harEntry({ url: '/hook', body: Buffer.from(body) })] },
    }),
    'copied.sh': `curl '${url}' --data-raw '${body}'`,
    'requests.log': `INFO ${JSON.stringify({ method: 'POST', url: '/', headers: {}, body })}\n`,
    'secret.txt': `${SECRET}\n`,
    'team.key': 'a key of the whole team\n',
    'staging.yaml': `webhooks: [${url}]\n`,
    'prod.yaml': `webhooks: [${url}]\n`,
    'sources.yaml': `sources:\n  web:\n    destinations: { Webhooks: { webhooks: [${url}] } }\n`,
    'day.ndjson': tracks(3),
    'users.txt': 'u1\nu2\n',
    'day.gz': gzipSync(tracks(3)),
    'events.ndjson.gz': gzipSync(tracks(3)),
    'members.csv': 'userId,customer_id\nu1,c1\nu2,c2\n',
    'ids.gz': gzipSync('u1\nu2\n'),
    'values.csv': 'userId,value,ltv\nu1,27.5,30\nu2,9,10\n',
    'package.json': JSON.stringify(bin),
    'app.py': documentedFile('docs/receivers.md', 'app.py'),
  };
}
