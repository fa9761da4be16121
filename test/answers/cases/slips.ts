import type { AnswerCase, Given } from '../answer-case.ts';
import { responds } from '../counterparts.ts';

type Slip = readonly [
  id: string,
  title: string,
  argv: readonly string[],
  cause: string,
  fix: string,
  given?: Given,
];

const SEND = ['send', 'track', '--event', 'A'];
const REPLAY = ['replay', '--url', 'http://127.0.0.1:9/', '--retry-for', '0'];
const config = (text: string | Uint8Array): Given => ({ files: { '.hooksrc.yaml': text } });

/** The same mistakes in one file, of which each is reported. */
const SEVERAL_PROBLEMS = 'webhook: 1\nsharedSecret: ${UNSET}\nwebhooks: [htp:/x, nope]\n';

/** A name that differs by a letter or two from the one that is meant. */
const NEAR_NAMES: readonly Slip[] = [
  [
    'near-secret-file',
    'a typing error in the name of the secret file',
    ['sign', '--secret-file', 'secert.txt', 'body'],
    'the secret cannot be read: there is no such file',
    'did you mean secret.txt?',
    { files: { 'secret.txt': 's3cret', body: '{}' } },
  ],
  [
    'near-input',
    'a typing error in the folder of the input',
    [...REPLAY, 'captrue/a.ndjson'],
    'no such file',
    'did you mean capture/a.ndjson?',
    { files: { 'capture/a.ndjson': '' } },
  ],
  [
    'flag-variable',
    'a variable with the name of a flag that is not read',
    ['sign', 'body'],
    'warning: HOOKS_TIMEOUT is not read',
    'use --timeout or delivery.timeout in the config',
    { files: { body: '{}' }, env: { HOOKS_TIMEOUT: '5s' } },
  ],
  [
    'extra-issuers',
    'a file of NODE_EXTRA_CA_CERTS that does not exist',
    [...SEND, '--url', 'http://127.0.0.1:9/', '--retry-for', '0'],
    'warning: NODE_EXTRA_CA_CERTS names /nonexistent.pem, which cannot be read',
    'there is no such file',
    { env: { NODE_EXTRA_CA_CERTS: '/nonexistent.pem' } },
  ],
  [
    'unbraced-variable',
    'a variable without braces in a config',
    SEND,
    'Expected `webhooks[0]` to be a URL, got http://localhost:$PORT/webhook',
    'write ${PORT}',
    config('webhooks: ["http://localhost:$PORT/webhook"]\n'),
  ],
  [
    'unexpanded-flag',
    'a variable in single quotes',
    [...SEND, '--url', 'http://localhost:$PORT/webhook'],
    'Expected `--url` to be a URL, got http://localhost:$PORT/webhook',
    'no shell replaced $PORT',
  ],
  [
    'quoted-home',
    'a ~ in quotes',
    ['sign', '--secret-file', '~/secret.txt', 'body'],
    'there is no such file: ~ was not replaced by the home folder',
    'write $HOME',
    { files: { body: '{}' } },
  ],
  [
    'hidden-config',
    'a variable that hides the config',
    [...SEND, '--retry-for', '0'],
    'the URL is from HOOKS_URL, which overrides .hooksrc.yaml',
    'start the receiver, wait until it listens',
    { ...config('webhooks: [http://127.0.0.1:1/]\n'), env: { HOOKS_URL: 'http://127.0.0.1:2/' } },
  ],
  [
    'several-problems',
    'several problems in one config',
    SEND,
    'Expected `webhooks[1]` to be a URL, got nope',
    'set it: export UNSET=…',
    config(SEVERAL_PROBLEMS),
  ],
  [
    'utf-16-message',
    'a message in UTF-16',
    ['send', '--json', '@body.json', '--url', 'http://127.0.0.1:9/'],
    'body.json:1:1: expected UTF-8, got UTF-16',
    'from UTF-16: iconv -f UTF-16 -t UTF-8 FILE',
    { files: { 'body.json': Buffer.from('\ufeff{}', 'utf16le') } },
  ],
  [
    'several-webhooks',
    'several webhooks that fail for different reasons',
    [
      ...SEND,
      '--url',
      '{url}',
      '--url',
      'http://no.invalid/',
      '--url',
      'http://127.0.0.1:9/',
      '--retry-for',
      '0',
    ],
    'also: name lookup failed for http://no.invalid/',
    'http://no.invalid/: check the host name in the URL',
    { receiver: () => ({ status: 404 }) },
  ],
  [
    'near-variable',
    'a typing error in the name of a variable',
    ['sign', 'body'],
    'warning: HOOKS_SECERT is not read',
    'did you mean HOOKS_SECRET?',
    { files: { body: '{}' }, env: { HOOKS_SECERT: 's3cret' } },
  ],
  [
    'near-reference',
    'the config refers to a variable with a typing error',
    ['sign', 'body'],
    'needs the environment variable SHOP_SECRET, which is not set',
    'rename SHOP_SECERT, which is set, to SHOP_SECRET',
    {
      files: {
        body: '{}',
        '.hooksrc.yaml': 'webhooks: [http://127.0.0.1:9/]\nsharedSecret: ${SHOP_SECRET}\n',
      },
      env: { SHOP_SECERT: 's3cret' },
    },
  ],
  [
    'near-config',
    'the config lacks its dot',
    SEND,
    'warning: hooksrc.yaml is not read',
    'write it as .hooksrc.yaml',
    { files: { 'hooksrc.yaml': 'webhooks: [http://127.0.0.1:9/]\n' } },
  ],
  [
    'near-choice',
    'a typing error in the value of a flag',
    ['init', '--for', 'servce'],
    'Expected `--for` to be receiver, ci or service, got servce',
    'did you mean service?',
  ],
  [
    'near-check',
    'a typing error in the name of a check',
    ['test', 'http://127.0.0.1:9/', '--only', 'unsined'],
    'Unknown check `unsined` (--only)',
    'did you mean unsigned?',
  ],
];

const COMMANDS: readonly Slip[] = [
  [
    'json-file',
    '--json names a file without @',
    ['send', '--json', 'body.json'],
    'got the name of a file',
    '--json @body.json',
  ],
  [
    'nothing-expected',
    'expect is told nothing to expect',
    ['expect', '--', 'true'],
    'error: Nothing is expected',
    'give --count N',
  ],
  [
    'expect-no-shell',
    'no shell replaces $HOOKS_URL',
    ['expect', '--count', '1', '--within', '1s', '--', 'true', '$HOOKS_URL'],
    'no shell replaced $HOOKS_URL',
    "sh -c 'COMMAND $HOOKS_URL'",
  ],
  [
    'expect-get',
    'the command does not post',
    ['expect', '--count', '1', '--within', '1s', '--', 'true'],
    'got no request',
    'a GET does not count',
  ],
  [
    'flag-first',
    'a flag stands before the command',
    ['--url', 'http://127.0.0.1:9/', 'send'],
    'Unknown option `--url`',
    'give it after the command: hooks COMMAND --url',
  ],
  [
    'long-dash',
    'an editor made a long dash of two hyphens',
    ['send', 'track', '\u2014event', 'A'],
    'Expected no arguments',
    'write two hyphens: --event',
  ],
  [
    'typographic-url',
    'the URL has typographic quotes',
    ['send', 'track', '--event', 'A', '--url', '\u201chttp://127.0.0.1:9/\u201d'],
    'Expected `--url` to be a URL',
    'write plain quotes around it',
  ],
  [
    'ipv6-brackets',
    'an IPv6 address has no brackets',
    ['send', 'track', '--event', 'A', '--url', 'http://::1:9100/good'],
    'Expected `--url` to be a URL',
    'put an IPv6 address in brackets',
  ],
  [
    'month-13',
    'a date has the month 13',
    ['send', 'track', '--event', 'A', '--timestamp', '2026-13-01', '--url', 'http://127.0.0.1:9/'],
    'a date and time that exists',
    'month 01 to 12',
  ],
  [
    'metrics-port',
    'the port of the metrics is taken',
    ['serve', '--allow-private', '--port', '0', '--metrics-port', '{port}'],
    'something else is listening there',
    '--metrics-port 0',
    { receiver: responds(200), env: { HOOKS_URL: '{url}', HOOKS_WRITE_KEY: 'k' } },
  ],
  [
    'save-proc',
    'no folder can be made for captures',
    ['listen', '--port', '0', '--save', '/proc/x'],
    'no folder can be made there',
    'name a writable folder',
  ],
  [
    'data-dir',
    'HOOKS_DATA_DIR cannot be made',
    ['queue', 'stats'],
    'no folder can be made there',
    'another folder in HOOKS_DATA_DIR',
    { env: { HOOKS_DATA_DIR: '/proc/nope' } },
  ],
];

const FILES: readonly Slip[] = [
  [
    'yaml-mapping',
    'one message in YAML is replayed',
    [...REPLAY, 'a.yaml'],
    'the input is YAML',
    'yq -o json -I 0 . FILE',
    { files: { 'a.yaml': 'type: track\nevent: A\n' } },
  ],
  [
    'nested-list',
    'the messages are two levels down',
    [...REPLAY, 'a.json'],
    'lists messages as `data.events`',
    "jq -c '.data.events[]'",
    { files: { 'a.json': '{"data":{"events":[{"type":"track","event":"A"}]}}' } },
  ],
  [
    'git-lfs',
    'the file is a Git LFS pointer',
    [...REPLAY, 'a.json'],
    'a Git LFS pointer',
    'git lfs pull',
    { files: { 'a.json': 'version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12\n' } },
  ],
  [
    'replay-url',
    'a URL is replayed',
    [...REPLAY, 'https://a.example/e.json'],
    'expected a file, got a URL',
    'curl -fsS URL | hooks replay -',
  ],
  [
    'replay-s3',
    'an S3 object is replayed',
    [...REPLAY, 's3://b/e.json'],
    'expected a file, got an S3 object',
    'aws s3 cp URL -',
  ],
  [
    'replay-tilde',
    '~ stands in quotes',
    [...REPLAY, '~/e.json'],
    '~ was not replaced by the home folder',
    'remove the quotes around ~',
  ],
];

const CONFIGS: readonly Slip[] = [
  [
    'config-empty',
    'the config is empty',
    SEND,
    'There is no destination to send to: .hooksrc.yaml is empty',
    'put `webhooks` in the config',
    config(''),
  ],
  [
    'config-twice',
    'a key stands twice',
    SEND,
    'duplicated mapping key',
    'keep one of the two',
    config('webhooks: [http://a/]\nwebhooks: [http://b/]\n'),
  ],
  [
    'config-utf-16',
    'the config is UTF-16',
    SEND,
    'is UTF-16, not UTF-8',
    'iconv -f UTF-16 -t UTF-8',
    config(Buffer.from('\ufeffwebhooks: []', 'utf16le')),
  ],
  [
    'config-quote',
    'a quote is not closed',
    SEND,
    'within a double quoted scalar',
    'close the quote: the file is valid then',
    config('sharedSecret: "abc\nwebhooks: [http://a/]\n'),
  ],
  [
    'config-mustache',
    'a placeholder of a template is left',
    SEND,
    'Expected `sharedSecret` to be a string',
    'in YAML { begins an object',
    config('sharedSecret: {{ secret }}\n'),
  ],
  [
    'config-place',
    'enabled stands at the top',
    SEND,
    'Unknown setting `enabled`',
    'move it to `sources.NAME.destinations.NAME.enabled`',
    config('enabled: false\n'),
  ],
  [
    'config-comment',
    'YAML drops what follows # in a secret',
    ['doctor'],
    '`sharedSecret` ends before a space and #',
    'put quotes around the value',
    config('sharedSecret: abc #def\nwebhooks: [http://127.0.0.1:9/]\n'),
  ],
];

const NEGATIVE = new Set([
  'hidden-config',
  'extra-issuers',
  'several-webhooks',
  'expect-no-shell',
  'expect-get',
  'yaml-mapping',
  'nested-list',
  'git-lfs',
  'config-comment',
]);

/** What people mistype or misplace: left out of the page, which may not grow. */
export const SLIPS: readonly AnswerCase[] = [...NEAR_NAMES, ...COMMANDS, ...FILES, ...CONFIGS].map(
  ([id, title, argv, cause, fix, given = {}]) => ({
    id: `slip-${id}`,
    title,
    given: { ...given, files: { 'body.json': '{}', ...given.files } },
    argv,
    cause,
    fix,
    exitCode: NEGATIVE.has(id) ? 1 : 2,
    never: ['it is tried again', 'Please report this', 'it was removed'],
  }),
);
