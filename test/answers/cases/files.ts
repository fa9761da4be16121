import { deflateSync, gzipSync } from 'node:zlib';
import type { AnswerCase, AnswerTheme } from '../answer-case.ts';

const MESSAGE = { type: 'track', userId: 'u', event: 'Signup', timestamp: '2026-11-20T21:10:05.123Z' };
const LINE = JSON.stringify(MESSAGE);

interface ReplayCase {
  readonly id: string;
  readonly title: string;
  readonly file: string | Uint8Array;
  readonly cause: string;
  readonly fix: string;
  readonly flags?: readonly string[];
  readonly never?: readonly string[];
}

/** `hooks replay` of a file that is not what it reads: nothing is sent, so no receiver is needed. */
function replayed({ id, title, file, flags = [], never = [], ...rest }: ReplayCase): AnswerCase {
  return {
    id: `replay-${id}`,
    title,
    given: { files: { events: file } },
    argv: ['replay', 'events', '--dry-run', '--url', 'http://127.0.0.1:9/', ...flags],
    never: ['give it as in "type": "track"', ...never],
    ...rest,
  };
}

/** JSON that holds messages, with the jq filter that takes them out. */
function held(
  id: string,
  title: string,
  value: unknown,
  [cause, filter]: readonly [string, string],
): AnswerCase {
  return replayed({
    id,
    title,
    file: `${JSON.stringify(value)}\n`,
    cause,
    fix: `take the messages out: jq -c '${filter}' FILE | hooks replay -`,
  });
}

/** A text other than JSON. */
function other(
  id: string,
  title: string,
  file: string | Uint8Array,
  [cause, fix]: readonly [string, string],
): AnswerCase {
  return replayed({ id, title, file, cause, fix, never: ['malformed JSON'] });
}

/** A broken or wrong line of NDJSON. */
function line(
  id: string,
  title: string,
  file: string | Uint8Array,
  [cause, fix]: readonly [string, string],
): AnswerCase {
  return replayed({ id, title, file, cause, fix });
}

const FORMATS: readonly AnswerCase[] = [
  other('yaml', 'the file is YAML', '- type: track\n  userId: u\n', [
    'the input is YAML, not JSON',
    'yq -o json',
  ]),
  other('yaml-document', 'the file is a YAML document', '---\ntype: track\n', [
    'the input is YAML, not JSON',
    'yq -o json',
  ]),
  other('yaml-map', 'the file is one message in YAML', 'type: track\nuserId: u\n', [
    'the input is YAML, not JSON',
    'yq -o json',
  ]),
  other('csv', 'the file is CSV', 'type,userId,event\ntrack,u,Signup\n', [
    'the input is CSV, not JSON',
    'mlr --icsv --ojsonl cat FILE | hooks replay -',
  ]),
  other('tsv', 'the file is TSV', 'type\tuserId\tevent\ntrack\tu\tSignup\n', [
    'the input is CSV, not JSON',
    'mlr --icsv --ojsonl cat FILE',
  ]),
  other('xml', 'the file is XML', '<?xml version="1.0"?><events/>', [
    'the input is XML, not JSON',
    'yq -p xml',
  ]),
  other('html', 'a login page was downloaded in place of the file', '<!DOCTYPE html><html></html>', [
    'the input is HTML, perhaps an error or login page',
    'download it again with curl -f',
  ]),
  other('base64', 'the file is in base64', `${Buffer.from(LINE).toString('base64')}\n`, [
    'the input is base64, not JSON',
    'base64 -d FILE | hooks replay -',
  ]),
  other('utf-16', 'PowerShell wrote the file', Buffer.from(`\ufeff${LINE}\n`, 'utf16le'), [
    'the input is UTF-16, not UTF-8',
    'iconv -f UTF-16 -t UTF-8 FILE | hooks replay -',
  ]),
  other('zlib', 'the file is compressed with zlib', deflateSync(LINE), [
    'the input is compressed with zlib, which is not supported',
    'zlib-flate -uncompress < FILE | hooks replay -',
  ]),
  other('zip', 'the file is a zip', Buffer.from('504b030414000000', 'hex'), [
    'the input is a zip file, which is not supported',
    'unzip -p FILE | hooks replay -',
  ]),
  other('zstd', 'the file is compressed with zstd', Buffer.from('28b52ffd24000000', 'hex'), [
    'the input is compressed with zstd, which is not supported',
    'zstd -dc FILE | hooks replay -',
  ]),
  other('bzip2', 'the file is compressed with bzip2', Buffer.from('425a683931415926', 'hex'), [
    'the input is compressed with bzip2, which is not supported',
    'bzip2 -dc FILE | hooks replay -',
  ]),
  other('xz', 'the file is compressed with xz', Buffer.from('fd377a585a000004', 'hex'), [
    'the input is compressed with xz, which is not supported',
    'xz -dc FILE | hooks replay -',
  ]),
  other('gzip-twice', 'the file is gzipped twice', gzipSync(gzipSync(LINE)), [
    'the input is gzipped twice',
    'gzip -dc FILE | hooks replay -',
  ]),
  other(
    'sqlite',
    'the file is a database',
    Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(100)]),
    ['the input is a database file, not JSON', 'sqlite3 FILE'],
  ),
  other('parquet', 'the file is Parquet', Buffer.from('PAR1abcdef'), [
    'the input is a Parquet file, not JSON',
    'duckdb -json',
  ]),
  other('zeros', 'the disk lost the file', Buffer.alloc(64), [
    'the input is not text: it begins with zero bytes',
    'check that it is the right file',
  ]),
];

const HELD: readonly AnswerCase[] = [
  held('events', 'the messages are listed in an object', { events: [MESSAGE] }, [
    'this is an object that lists messages as `events`',
    '.events[]',
  ]),
  held('data', 'the messages are listed under another name', { total: 1, 'the data': [MESSAGE] }, [
    'this is an object that lists messages as `the data`',
    '."the data"[]',
  ]),
  held('sqs', 'the file is an SQS event', { Records: [{ body: LINE }] }, [
    'this is an SQS event',
    '.Records[].body | fromjson',
  ]),
  held('sqs-receive', 'the file is what aws sqs receive-message printed', { Messages: [{ Body: LINE }] }, [
    'this is the output of aws sqs receive-message',
    '.Messages[].Body | fromjson',
  ]),
  held('sns', 'the file is an SNS notification', { Type: 'Notification', TopicArn: 'x', Message: LINE }, [
    'this is an SNS notification',
    '.Message | fromjson',
  ]),
  held('sns-event', 'the file is an SNS event', { Records: [{ Sns: { Message: LINE } }] }, [
    'this is an SNS event',
    '.Records[].Sns.Message | fromjson',
  ]),
  held(
    'kinesis',
    'the file is a Kinesis event',
    { Records: [{ kinesis: { data: Buffer.from(LINE).toString('base64') } }] },
    ['this is a Kinesis event', '.Records[].kinesis.data | @base64d | fromjson'],
  ),
  held(
    'pub-sub',
    'the file is a Pub/Sub push message',
    { subscription: 's', message: { data: Buffer.from(LINE).toString('base64') } },
    ['this is a Pub/Sub push message', '.message.data | @base64d | fromjson'],
  ),
  held('api-gateway', 'the file is an API Gateway event', { httpMethod: 'POST', body: LINE }, [
    'this is an API Gateway or Lambda event',
    'if .isBase64Encoded then .body | @base64d else .body end | fromjson',
  ]),
  held('event-bridge', 'the file is an EventBridge event', { 'detail-type': 'x', detail: MESSAGE }, [
    'this is an EventBridge event',
    '.detail',
  ]),
  held('elasticsearch', 'the file is an Elasticsearch response', { hits: { hits: [{ _source: MESSAGE }] } }, [
    'this is an Elasticsearch response',
    '.hits.hits[]._source',
  ]),
  held('payload', 'each message is inside another object', { at: 1, payload: MESSAGE }, [
    'this is an object that holds a message as `payload`',
    '.payload',
  ]),
  held('payload-text', 'each message is a text inside another object', { at: 1, payload: LINE }, [
    'this is an object that holds a message as `payload`, as a string',
    '.payload | fromjson',
  ]),
  held('encoded-twice', 'each line was encoded twice', LINE, [
    'this is a string that contains JSON: it was encoded twice',
    'fromjson',
  ]),
];

const LINES: readonly AnswerCase[] = [
  line(
    'latin-1',
    'a line is Latin-1',
    Buffer.from('{"type":"track","userId":"u","event":"Zürich"}\n', 'latin1'),
    ['expected UTF-8, got the byte 0xfc', 'iconv -f LATIN1 -t UTF-8'],
  ),
  line('cut-line', 'the last line is cut off', `${LINE}\n{"type":"track","userId"`, [
    'events:2:25: the text ends inside the object',
    'is it cut off? `}` is missing',
  ]),
  line('trailing-comma', 'a line has a trailing comma', '{"type":"track","userId":"u","event":"A",}\n', [
    'events:1:42: expected a key in double quotes, got `}`',
    'is there an extra comma before it?',
  ]),
  line('single-quotes', 'a line is a Python object', "{'type': 'track', 'userId': 'u'}\n", [
    "events:1:2: expected a key in double quotes, got `'`",
    'strings take double quotes',
  ]),
  line('comment', 'the file has comments', `// exported\n${LINE}\n`, [
    'events:1:1: expected a value, got `/`',
    'JSON has no comments',
  ]),
  line(
    'big-number',
    'a line has a number that JavaScript rounds',
    '{"type":"track","userId":"u","event":"A","properties":{"id":12345678901234567890}}\n',
    ['got 12345678901234567890, which would become 12345678901234567000', 'send it as a string'],
  ),
  line('duplicate-key', 'a line has a key twice', '{"type":"track","userId":"u","event":"A","event":"B"}\n', [
    'expected each key once, got `event` twice',
    'keep one of them',
  ]),
  line('unknown-type', 'a line has a type that there is not', '{"type":"trak","userId":"u","event":"A"}\n', [
    'expected `type` to be page, screen',
    'did you mean "track"?',
  ]),
  line(
    'local-time',
    'a line has a time without a zone',
    '{"type":"track","userId":"u","event":"A","timestamp":"2026-11-20 21:10:05"}\n',
    ['expected `timestamp` to be RFC 3339 with a zone', 'add its zone or offset'],
  ),
];

const NOTHING_THERE: readonly AnswerCase[] = [
  ...(
    [
      ['png', 'a PNG image', Buffer.from('89504e470d0a1a0a', 'hex'), 'is a PNG image, not text'],
      ['pdf', 'a PDF', '%PDF-1.7\n', 'is a PDF, not text'],
      ['binary', 'some binary file', Buffer.from('1bff0700e48f', 'hex'), 'is a binary file, not text'],
    ] as const
  ).map(([id, what, file, cause]) =>
    replayed({
      id: `binary-${id}`,
      title: `the file is ${what}`,
      file,
      cause,
      fix: 'check that it is the right file',
      never: ['UTF-16', 'Latin-1'],
    }),
  ),
  line(
    'keyed-messages',
    'the file is an object with a message under each key',
    '{"m1":{"type":"track"},"m2":{"type":"track"}}\n',
    ['this is an object that holds 2 messages', "jq -c '.[]' FILE"],
  ),
  line('conflict', 'the file has the conflict markers of Git', '<<<<<<< HEAD\n', [
    'got a conflict marker of Git',
    'resolve the conflict first: both sides are in the file',
  ]),
  replayed({
    id: 'log-line',
    title: 'a date stands before the JSON of a line',
    file: '2026-11-22T10:00:00Z {"type":"track","event":"A","userId":"u"}\n',
    cause: 'got text before it',
    fix: 'remove the text before the JSON',
    never: ['leading zeros'],
  }),
  {
    id: 'replay-no-file',
    title: 'the file is not there',
    argv: ['replay', 'nothing.ndjson', '--url', 'http://127.0.0.1:9/'],
    cause: 'nothing.ndjson: no such file',
    fix: 'check the name and the current folder',
    exitCode: 2,
  },
  {
    id: 'replay-no-match',
    title: 'the pattern matches no file',
    argv: ['replay', '*.ndjson', '--url', 'http://127.0.0.1:9/'],
    cause: 'No file matches *.ndjson',
    fix: 'check the pattern and the current folder',
    exitCode: 2,
  },
];

/** Files that `replay` cannot read as they are. */
export const FILES: AnswerTheme = {
  title: 'A file is not what is read',
  cases: [...FORMATS, ...HELD, ...LINES, ...NOTHING_THERE],
};
