import { chmod, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createIo } from '../../../src/cli/io.ts';
import { createProgram } from '../../../src/cli/program.ts';
import type { AnswerCase, AnswerTheme, Given } from '../answer-case.ts';
import { responds } from '../counterparts.ts';
import { SEND } from './sending.ts';
import { SLIPS } from './slips.ts';

const CONFIG = 'webhooks: [http://127.0.0.1:9/]\nsharedSecret: answers-secret\n';
const MESSAGE = '{"type":"track","userId":"u","event":"A"}';

/** Code that Node runs before the command, for what cannot be set up otherwise: another version, another clock. */
function preloaded(code: string): Given {
  return {
    files: { '.hooksrc.yaml': CONFIG, 'preload.cjs': code },
    env: { NODE_OPTIONS: '--require {dir}/preload.cjs' },
  };
}

const OLD_NODE = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } });`;
const clockAt = (time: number): string =>
  `const now = Date.now(); Date.now = () => ${time} + performance.now();`;

/** What a shell or a form did to the secret, told before a message is signed with it. */
const ODD_SECRETS: readonly AnswerCase[] = (
  [
    ['send', ...SEND.slice(1)],
    ['test', '{url}', '--only', 'track'],
    ['replay', 'day.ndjson', '--url', '{url}', '--retry-for', '0'],
    ['sign', 'day.ndjson'],
  ] as const
).flatMap(([command, ...words]) => [
  odd(command, ['unexpanded', '$HOOKS_SECRET'], words),
  odd(command, ['braces', '${HOOKS_SECRET}'], words),
  odd(command, ['quotes', '"answers-secret"'], words),
]);

function odd(command: string, [id, secret]: readonly [string, string], words: readonly string[]): AnswerCase {
  const isQuoted = id === 'quotes';
  return {
    id: `${command}-secret-${id}`,
    title: isQuoted ? 'the secret has its quotes in it' : 'the variable of the secret was not expanded',
    given: {
      receiver: () => ({ status: 401, body: 'bad signature' }),
      files: { 'day.ndjson': MESSAGE },
    },
    argv: [command, ...words, '--secret', secret],
    cause: isQuoted
      ? 'the secret is in quotes, which are part of it'
      : 'the secret looks like the name of a variable that was not replaced',
    fix: isQuoted
      ? 'take them out (docker --env-file keeps the quotes of a file); the receiver must have the same secret'
      : 'in a shell, use no single quotes around it',
    never: ['is not set', 'answers-secret'],
    exitCode: command === 'sign' ? 0 : 1,
  };
}

const TRACKING = ['send', 'track', '--event', 'A', '--user-id', 'u', '--retry-for', '0'];

/** A tracking API knows the sender by the write key. */
const TRACKING_API: readonly AnswerCase[] = [
  {
    id: 'wrong-write-key',
    title: 'the tracking API does not know the write key',
    given: { receiver: () => ({ status: 401 }) },
    argv: [...TRACKING, '--endpoint', '{url}', '--write-key', 'wrong'],
    cause: 'Delivery failed: 401 from {url}',
    fix: 'check the write key (--write-key or HOOKS_WRITE_KEY): it belongs to one source',
    never: ['same secret', 'unsigned'],
  },
  {
    id: 'endpoint-of-webhooks',
    title: 'the endpoint is a receiver of signed webhooks',
    given: { receiver: responds(401, '{"error":"bad signature"}') },
    argv: [...TRACKING, '--endpoint', '{url}', '--write-key', 'key'],
    cause: 'it verifies signatures, and --endpoint is for tracking APIs',
    fix: 'send to it with --url and its secret (--secret-file FILE)',
    never: ['check the write key'],
  },
  {
    id: 'wrong-endpoint',
    title: 'the endpoint is not a tracking API',
    given: { receiver: () => ({ status: 404 }) },
    argv: [...TRACKING, '--endpoint', '{url}', '--write-key', 'key'],
    cause: 'Delivery failed: 404 from {url}',
    fix: 'check the path of --endpoint: batches go to',
  },
  {
    id: 'endpoint-refused',
    title: 'nothing listens at the endpoint',
    argv: [...TRACKING, '--endpoint', 'http://127.0.0.1:9/', '--write-key', 'key'],
    cause: 'the connection was refused (ECONNREFUSED 127.0.0.1:9) (http://127.0.0.1:9/v1/batch)',
    fix: 'start the receiver, wait until it listens',
  },
  {
    id: 'endpoint-without-key',
    title: 'an endpoint without a write key',
    argv: [...TRACKING, '--endpoint', 'http://127.0.0.1:9/'],
    cause: 'A tracking API needs a write key, but none is given',
    fix: 'add --write-key KEY, or set HOOKS_WRITE_KEY',
    exitCode: 2,
  },
];

/** What `hooks doctor` finds. The webhook of the config is not there, so it always ends with 1. */
function found(id: string, title: string, given: Given, [cause, fix]: readonly [string, string]): AnswerCase {
  return { id: `doctor-${id}`, title, given, argv: ['doctor'], cause, fix };
}

const DOCTOR: readonly AnswerCase[] = [
  found('write-key', 'serve needs a write key and there is none', { files: { '.hooksrc.yaml': CONFIG } }, [
    'it has no write key, so hooks serve accepts no messages',
    'set `writeKey` in the config, or HOOKS_WRITE_KEY',
  ]),
  found(
    'two-configs',
    'two config files are in one folder',
    { files: { '.hooksrc.yaml': CONFIG, '.hooksrc.json': '{"webhooks":["http://127.0.0.1:9/"]}' } },
    [
      '.hooksrc.yaml is not read, because .hooksrc.json is read instead',
      'keep one of them, or name it with -c .hooksrc.yaml',
    ],
  ),
  found(
    'hidden-url',
    'a variable hides the webhooks of the config',
    { files: { '.hooksrc.yaml': CONFIG }, env: { HOOKS_URL: 'http://127.0.0.1:9/other' } },
    ['HOOKS_URL hides `webhooks` of .hooksrc.yaml', 'unset HOOKS_URL to use the value of the file'],
  ),
  found(
    'hidden-secret',
    'a variable hides the secret of the config',
    { files: { '.hooksrc.yaml': CONFIG }, env: { HOOKS_SECRET: 'another' } },
    ['HOOKS_SECRET hides `sharedSecret` of .hooksrc.yaml', 'unset HOOKS_SECRET to use the value of the file'],
  ),
  found(
    'unset-variable',
    'the config needs a variable that is not set',
    { files: { '.hooksrc.yaml': 'webhooks: [http://127.0.0.1:9/]\nsharedSecret: ${MISSING}\n' } },
    ['needs MISSING, which is not set', 'export MISSING=…'],
  ),
  found(
    'unexpanded',
    'the secret is the text of a variable',
    { files: { '.hooksrc.yaml': 'webhooks: [http://127.0.0.1:9/]\n' }, env: { HOOKS_SECRET: '$SECRET' } },
    ['looks like the name of a variable that was not replaced', 'write ${NAME} in a config file'],
  ),
  found(
    'unexpanded-in-config',
    'the config names a variable without braces',
    { files: { '.hooksrc.yaml': 'webhooks: [http://127.0.0.1:9/]\nsharedSecret: $WEBHOOK_SECRET\n' } },
    ['looks like the name of a variable that was not replaced', 'write ${NAME} in a config file'],
  ),
  found('clock-back', 'the clock is years behind', preloaded(clockAt(Date.UTC(2019, 5, 1))), [
    'the clock of this machine says 2019-06-01',
    'set the clock of this machine',
  ]),
  found('clock-ahead', 'the clock is years ahead', preloaded(clockAt(Date.UTC(2041, 5, 1))), [
    'the clock of this machine says 2041-06-01',
    'set the clock of this machine',
  ]),
  found('no-config', 'there is no config', {}, ['no config file was found', 'run hooks init to write one']),
  found(
    'tls-variable',
    'certificates are switched off for Node',
    { files: { '.hooksrc.yaml': CONFIG }, env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } },
    ['NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect', 'delivery: { ca: ./ca.pem }'],
  ),
  found(
    'no-queue',
    'the folder of the queue is a file',
    { files: { '.hooksrc.yaml': CONFIG, blocked: '' }, env: { HOOKS_DATA_DIR: '{dir}/blocked' } },
    ['a part of its path is not a folder', 'name another file with --store'],
  ),
];

const FAULTY_CONFIG = 'webhook: [http://127.0.0.1:9/]\ndelivery: { timout: 5s, concurrency: many }\n';

/** Each fault of one config, all in one run. */
function faulty(id: string, [cause, fix]: readonly [string, string]): AnswerCase {
  return {
    id: `doctor-fault-${id}`,
    title: `a config has several faults: ${id}`,
    given: { files: { '.hooksrc.yaml': FAULTY_CONFIG } },
    argv: ['doctor'],
    cause,
    fix,
  };
}

const FAULTS: readonly AnswerCase[] = [
  faulty('unknown-key', ['Unknown setting `webhook`', 'did you mean `webhooks`?']),
  faulty('unknown-key-inside', ['Unknown setting `delivery.timout`', 'did you mean `delivery.timeout`?']),
  faulty('wrong-value', ['Expected `delivery.concurrency`', 'hint: from 1 to 1024']),
];

const COMMAND_NAMES = (await createProgram([], createIo(process), () => {})).commands.map((command) =>
  command.name(),
);

/** Every command refuses a Node that is too old. */
function tooOld(command: string): AnswerCase {
  return {
    id: `old-node-${command}`,
    title: 'Node is too old',
    given: preloaded(OLD_NODE),
    argv: [command],
    cause: 'hooks needs Node 20.19 or later, got 18.20.4',
    fix: 'install a newer Node',
    exitCode: 2,
  };
}

/** Nothing is done. */
const refused = (each: AnswerCase): AnswerCase => ({ ...each, exitCode: 2 });

const SECRETS: readonly AnswerCase[] = [
  {
    id: 'secret-file-utf-16',
    title: 'PowerShell wrote the secret file',
    given: { files: { secret: Buffer.from('\ufeffanswers-secret\r\n', 'utf16le'), body: MESSAGE } },
    argv: ['sign', '--secret-file', 'secret', 'body'],
    cause: 'The secret is in UTF-16, as PowerShell writes files',
    fix: 'write the file as UTF-8: iconv -f UTF-16 -t UTF-8',
  },
  {
    id: 'secret-file-latin-1',
    title: 'the secret file is Latin-1',
    given: { files: { secret: Buffer.from('geheim-ß', 'latin1'), body: MESSAGE } },
    argv: ['sign', '--secret-file', 'secret', 'body'],
    cause: 'The secret is not valid UTF-8 (from --secret-file secret)',
    fix: 'store random bytes as hex or base64',
  },
  {
    id: 'secret-file-empty',
    title: 'the secret file is empty',
    given: { files: { secret: '\n', body: MESSAGE } },
    argv: ['sign', '--secret-file', 'secret', 'body'],
    cause: 'The secret is empty (from --secret-file secret)',
    fix: 'give the secret of the other side',
  },
  {
    id: 'secret-file-missing',
    title: 'the secret file is not there',
    given: { files: { body: MESSAGE } },
    argv: ['sign', '--secret-file', 'secret', 'body'],
    cause: 'the secret cannot be read',
    fix: 'name a file that you may read',
  },
  {
    id: 'secret-variable-empty',
    title: 'HOOKS_SECRET is empty',
    given: { files: { body: MESSAGE }, env: { HOOKS_SECRET: '' } },
    argv: ['sign', 'body'],
    cause: 'The secret is empty (from HOOKS_SECRET)',
    fix: 'give the secret of the other side',
  },
  {
    id: 'secret-none',
    title: 'there is no secret to sign with',
    given: { files: { body: MESSAGE } },
    argv: ['sign', 'body'],
    cause: 'There is no secret',
    fix: 'give --secret, --secret-file FILE or HOOKS_SECRET',
  },
  {
    id: 'verify-no-body',
    title: 'the body is not there',
    argv: ['verify', '--secret', 'x', 'nothing.json'],
    cause: 'Cannot read nothing.json: there is no such file',
    fix: 'give the path of a file',
  },
  {
    id: 'verify-folder',
    title: 'the body is a folder',
    given: { files: { 'bodies/a.json': '{}' } },
    argv: ['verify', '--secret', 'x', 'bodies'],
    cause: 'Cannot read bodies: it is a folder',
    fix: 'give the path of a file',
  },
];

const STORES: readonly AnswerCase[] = [
  {
    id: 'queue-no-store',
    title: 'nothing was ever queued',
    given: { files: { '.hooksrc.yaml': CONFIG } },
    argv: ['queue', 'stats', '--store', 'elsewhere.db'],
    cause: 'There is no queue at {dir}/elsewhere.db',
    fix: 'create it with serve, worker, send --queue or audience sync',
  },
  {
    id: 'queue-not-a-store',
    title: 'the file of the queue is something else',
    given: {
      files: { '.hooksrc.yaml': CONFIG, 'other.db': 'not a database, but long enough to be read as one' },
    },
    argv: ['queue', 'stats', '--store', 'other.db'],
    cause: 'is not a SQLite database',
    fix: 'name another file with --store',
  },
  {
    id: 'queue-no-destination',
    title: 'nothing is configured to queue for',
    argv: ['send', 'track', '--event', 'A', '--queue', '--no-config'],
    cause: 'There is no configured destination to queue for',
    fix: 'put `webhooks` in the config',
  },
  {
    id: 'serve-no-write-key',
    title: 'serve has no write key',
    given: { files: { '.hooksrc.yaml': CONFIG } },
    argv: ['serve', '--port', '0', '--allow-private'],
    cause: 'No source has a write key, so no client could call the service',
    fix: 'set `writeKey` in the config (of each source), or HOOKS_WRITE_KEY',
  },
  {
    id: 'config-missing',
    title: 'the named config is not there',
    argv: ['send', 'track', '--event', 'A', '-c', 'nothing.yaml'],
    cause: 'The config file nothing.yaml does not exist',
    fix: 'check its path; hooks init FILE writes one',
  },
  {
    id: 'config-conflict',
    title: 'the config has a merge conflict',
    given: {
      files: { '.hooksrc.yaml': 'writeKey: k\n<<<<<<< HEAD\nstore: a.db\n=======\nstore: b.db\n>>>>>>> b\n' },
    },
    argv: ['send', 'track', '--event', 'A'],
    cause: '.hooksrc.yaml:2: has the marks of a merge conflict',
    fix: 'keep one side',
  },
  {
    id: 'config-tabs',
    title: 'the YAML of the config has tabs',
    given: { files: { '.hooksrc.yaml': 'delivery:\n\ttimeout: 5s\n' } },
    argv: ['send', 'track', '--event', 'A'],
    cause: '.hooksrc.yaml:2: not valid YAML: tab characters must not be used in indentation',
    fix: 'indent with spaces',
  },
  {
    id: 'config-unreadable-link',
    title: 'the config is a link to nothing',
    given: {
      start: async ({ folder }) => {
        await symlink('/nonexistent/hooks', join(folder, '.hooksrc.yaml'));
        await chmod(folder, 0o700);
      },
    },
    argv: ['send', 'track', '--event', 'A'],
    cause: '.hooksrc.yaml is a link to /nonexistent/hooks',
    fix: 'put `webhooks` in the config',
    missed: 'that the config is a link to nothing',
  },
];

/** Machines, configs, secrets and stores. */
export const SYSTEMS: AnswerTheme = {
  title: 'The machine, the config or the store is in the way',
  cases: [
    ...DOCTOR,
    ...FAULTS,
    ...COMMAND_NAMES.map(tooOld),
    ...SECRETS.map(refused),
    ...ODD_SECRETS,
    ...TRACKING_API,
    ...STORES.map(refused),
    ...SLIPS,
  ],
};
