import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectRejected } from '../cli/expect-rejected.ts';
import { argv } from './argv.ts';
import { toCapture } from '../../src/capture/to-capture.ts';
import { hooks } from '../cli/run-in-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { jsonLines, receiving, ROOT, SECRET, sorted, summaryOf, track } from './receiving.ts';

/** Bodies that services send. */
const SERVICES = ['github', 'stripe', 'slack', 'shopify', 'standard-webhooks'].flatMap((name) => {
  const text = readFileSync(join(ROOT, `fixtures/signatures/${name}.json`), 'utf8');
  return (JSON.parse(text) as { body: string }[]).map(({ body }) => body);
});

const OFF = { integrations: { All: false } };

const ODD: readonly (string | Buffer)[] = [
  '{"a":1}\n',
  '\n\n{"a":1}',
  ' \t{"a":1}\r\n',
  '{\r\n  "a": 1\r\n}\r\n',
  '\ufeff{"a":1}\n',
  '\ufeff[\n{},\n{}\n]',
  '[1,2]',
  '[{"a":1},{"b":2}]\n',
  '[\n  {"a":1},\n  {"b":2}\n]\n',
  '5',
  'null',
  '"text"\n',
  '{}',
  '[]',
  '{"batch":[{"type":"track"},{"type":"page"}]}\n',
  '{\n"batch": [\n{"type":"track"}\n]\n}\n',
  '{"a":1,"a":2}',
  '{"n":12345678901234567890}',
  '{"n":1e999}',
  '{"a":',
  '[[[',
  'a=1&b=2',
  'payload=%7B%7D\n',
  '<xml/>',
  '<!doctype html>',
  'type,event\ntrack,A\n',
  '---\na: 1\n',
  '\n',
  ' ',
  '\0\0',
  'PK\u0003\u0004',
  '{"capture":2}',
  '{"capture":{"camera":1},"method":"card"}\n',
  '{"a":1}{"b":2}',
  '{"a":1}x\n\n',
  track(1, OFF),
  `${track(2, OFF)}\n`,
  Buffer.from([0xff, 0xfe, 0x7b, 0]),
  Buffer.from([0x22, 0xc3, 0x28, 0x22]),
  `{"large":"${'x'.repeat(900_000)}"}\n`,
];

const BODIES = [...SERVICES, ...ODD].map((body) => Buffer.from(body));

/** Returns the bodies as sorted texts that keep every byte. */
function texts(bodies: readonly Uint8Array[]): string[] {
  return sorted(bodies.map((body) => Buffer.from(body).toString('latin1')));
}

interface Given {
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly stdin?: string;
  readonly respond?: string;
}

/** Replays with --exact to a receiver that verifies signatures. */
async function replayed(args: readonly string[], { files = {}, stdin, respond }: Given = {}) {
  const to = await receiving({ secret: SECRET, ...(respond !== undefined && { respond }) });
  const cwd = temporaryFolder(files);
  const flags = ['--exact', '--url', to.url, '--secret', SECRET, '-o', 'json'];
  const run = (...more: readonly string[]) =>
    hooks(['replay', ...more, ...flags], { cwd, ...(stdin !== undefined && { stdin }) });
  const result = await run(...args);
  return { ...result, cwd, run, to, came: texts(to.requests.map(({ body }) => body)) };
}

function named(bodies: readonly Uint8Array[], name: (index: number) => string) {
  return Object.fromEntries(bodies.map((body, index) => [name(index), body]));
}

describe.concurrent('hooks replay --exact', () => {
  it('sends each file of a glob as one request with its exact bytes, and unpacks gzipped files', async () => {
    const gzipped = BODIES.map((body) => gzipSync(body));
    const files = { ...named(BODIES, (at) => `${at}.json`), ...named(gzipped, (at) => `${at}.body.gz`) };
    const { code, stdout, stderr, came, to } = await replayed(['*.json', '*.body.gz'], { files });
    expect([code, summaryOf(stdout)], stderr).toMatchObject([
      0,
      { delivered: 2 * BODIES.length, skipped: 0 },
    ]);
    expect(came).toEqual(texts([...BODIES, ...BODIES]));
    expect(to.requests.every(({ verdict }) => verdict === 'valid')).toBe(true);
  });

  it('keeps every byte of failed bodies in the file of --failed', async () => {
    const files = named(BODIES, (at) => `${at}.json`);
    const respond = `404x${BODIES.length},200`;
    const { code, run, to } = await replayed(['*.json', '--failed', 'failed.ndjson'], { files, respond });
    expect(code).toBe(1);
    const again = await run('failed.ndjson');
    expect([again.code, summaryOf(again.stdout)]).toMatchObject([0, { delivered: BODIES.length }]);
    expect(texts(to.requests.slice(BODIES.length).map(({ body }) => body))).toEqual(texts(BODIES));
  });

  it('sends standard input unchanged', async () => {
    for (const body of ['\ufeff [1,\r\n2] \n', '{"batch":[{"type":"track"}]}\n', 'a=1\n']) {
      expect((await replayed(['-'], { stdin: body })).came).toEqual(texts([Buffer.from(body)]));
    }
  });

  it('splits .ndjson and .jsonl by line, gzipped or not, and keeps white space and lists within a line', async () => {
    const lines = [
      ' {"a": 1} ',
      '[{"a":1},{"b":2}]',
      '{"batch":[{"type":"track"}]}',
      track(1, OFF),
      '{"a":1,"a":2}',
    ];
    const text = `\ufeff${lines.join('\r\n')}\n\n \n`;
    const files = {
      'a.ndjson': text,
      'b.JSONL': text,
      'c.ndjson.gz': gzipSync(text),
      'd.jsonl.gz': gzipSync(text),
    };
    const { code, came, stderr } = await replayed(Object.keys(files), { files });
    expect(code, stderr).toBe(0);
    const each = lines.map((line) => Buffer.from(line));
    expect(came).toEqual(texts([...each, ...each, ...each, ...each]));
  });

  it('reports a line that is not JSON, and sends the other lines', async () => {
    const files = { 'a.ndjson': '{"a":1}\nnonsense\n{"b":2}\n' };
    const { code, came, stdout } = await replayed(['a.ndjson'], { files });
    expect([code, came]).toEqual([1, ['{"a":1}', '{"b":2}']]);
    expect(jsonLines(stdout)).toContainEqual(
      expect.objectContaining({ outcome: 'invalid', origin: 'a.ndjson:2' }),
    );
  });

  it.each([
    ['day.json', { files: { 'first.json': '{}', 'day.json': '{"a":1}\n{"b":2}\n' } }],
    ['day', { files: { day: gzipSync(`\n${track(1)}\r\n\r\n${track(2)}`) } }],
    ['day', { files: { day: '[1]\n[2]' } }],
  ])(
    'rejects several lines of JSON in %s before it sends any, and asks for a format',
    async (name, given) => {
      const { code, stdout, stderr, came, run, to } = await replayed(Object.keys(given.files), given);
      expect([code, stdout, came]).toEqual([2, '', []]);
      expect(stderr).toBe(
        `error: ${name}: several lines of JSON: one body, or a body per line?\nhint:  add --format ndjson to send each line, or --format raw to send the file as one body\n`,
      );
      expect((await run(name, '--format', 'raw')).code).toBe(0);
      expect(to.requests).toHaveLength(1);
      await run(name, '--format', 'ndjson');
      expect(to.requests).toHaveLength(3);
    },
  );

  it('rejects several lines of JSON on standard input, and asks for a format', async () => {
    const { code, stderr, came } = await replayed(['-'], { stdin: '{"a":1}\n{"b":2}\n' });
    expect([code, came]).toEqual([2, []]);
    expect(stderr).toContain('<stdin>: several lines of JSON');
    const split = await replayed(['-', '--format', 'ndjson'], { stdin: '{"a":1}\n{"b":2}\n' });
    expect(split.came).toHaveLength(2);
  });

  it('recognizes captures by their content in any file, and never filters them', async () => {
    const bodies = [
      Buffer.from(track(1, OFF)),
      Buffer.from(`${track(2, OFF)}\n`),
      Buffer.from([0xff]),
      Buffer.from(''),
    ];
    const captures = bodies.map((body) => toCapture({ method: 'POST', url: '/', headers: [], body }));
    const late = { ...captures[0], capture: undefined, at: '2026-11-20T21:10:05.123Z', ...captures[0] };
    const pretty = captures.map((capture) => JSON.stringify(capture, null, 2));
    const files = {
      'lines.json': captures.map((capture) => `${JSON.stringify(capture)}\r\n`).join('\n'),
      list: `\ufeff${JSON.stringify(captures)}`,
      'pretty.json': ` ${pretty.join('\n')}`,
      'single.txt': JSON.stringify(late),
      'lines.ndjson': captures.map((capture) => ` ${JSON.stringify(capture)}\n`).join(''),
    };
    const { code, came, stderr, stdout } = await replayed(Object.keys(files), { files });
    expect([code, summaryOf(stdout)], stderr).toMatchObject([0, { filtered: 0, delivered: 17 }]);
    const [first = Buffer.alloc(0)] = bodies;
    expect(came).toEqual(texts([...bodies, ...bodies, ...bodies, ...bodies, first]));
    const alone = await replayed(['single.txt'], { files });
    expect([alone.code, alone.came]).toEqual([0, texts([first])]);
  });

  it('sends 2,000 generated bodies, each unchanged', async () => {
    const blank = fc
      .array(fc.constantFrom(' ', '\t', '\n', '\r\n', ''), { maxLength: 3 })
      .map((all) => all.join(''));
    const json = fc
      .tuple(fc.json(), fc.constantFrom(0, 1, 2))
      .map(([text, gap]) => JSON.stringify(JSON.parse(text), null, gap));
    const body = fc.tuple(
      fc.constantFrom('', '', '\ufeff'),
      blank,
      fc.oneof(json, fc.string({ minLength: 1 })),
      blank,
    );
    const all = fc.sample(
      body.map((parts) => Buffer.from(parts.join(''))),
      { numRuns: 2_000, seed: 29 },
    );
    const { code, stdout, came } = await replayed(['*.json', '--format', 'raw'], {
      files: named(all, (at) => `${at}.json`),
    });
    expect([code, summaryOf(stdout)]).toMatchObject([0, { delivered: all.length }]);
    expect(came).toEqual(texts(all));
  });

  it('rejects a body of more than 1 MiB, and --format alone', async () => {
    const files = { 'big.json': `"${'x'.repeat(1024 * 1024)}"`, 'small.json': '{}' };
    const { code, came, stdout } = await replayed(['big.json', 'small.json'], { files });
    expect([code, came, summaryOf(stdout)]).toMatchObject([1, ['{}'], { invalid: 1, delivered: 1 }]);
    await expectRejected(
      argv`replay - --format raw --loopback`,
      'error: `--format` is for `--exact`, which is not given\nhint:  add --exact, or leave out --format: messages are recognized by their content\n',
    );
  });
});

describe.concurrent('a body that is not a message', () => {
  const NO_MESSAGE = [
    '{"action":"opened","issue":{"id":1}}',
    '{"id":"evt_1","type":"charge.succeeded","data":{}}',
  ];

  it.each(NO_MESSAGE)('%s is rejected with a hint to --exact, with any scheme', async (body) => {
    for (const scheme of ['segment', 'github']) {
      const flags = ['--loopback', '--secret', SECRET, '--scheme', scheme];
      const { code, stdout } = await hooks(['replay', '-', ...flags], { stdin: body });
      expect(code).toBe(1);
      expect(stdout).toContain('add --exact to send any JSON as it is');
    }
    await expectRejected(argv`send --json ${body} --loopback`, 'add --exact to send any JSON as it is');
  });

  it.each(['a=1&b=2', '<xml/>', '5', '{"id":12345678901234567890}', ...NO_MESSAGE])(
    'is rejected with a hint to --exact, if it is of a capture: %s',
    async (body) => {
      const capture = toCapture({ method: 'POST', url: '/', headers: [], body: Buffer.from(body) });
      for (const flags of [[], ['--compare', 'http://127.0.0.1:9']]) {
        const args = argv`replay - --url http://127.0.0.1:9 ${flags}`;
        const { code, stdout } = await hooks(args, { stdin: JSON.stringify(capture) });
        expect([code, stdout]).toEqual([1, expect.stringContaining('add --exact to send ')]);
      }
    },
  );

  it.each([[['--exact']], [['--scheme', 'github']], [['--scheme', 'stripe,standard-webhooks']]])(
    'is sent unchanged by send --json with %s',
    async (flags) => {
      const to = await receiving();
      const bodies = [...NO_MESSAGE, ' [1, 2]\n', '{ "n": 12345678901234567890 }', '5', JSON.stringify(OFF)];
      const secret = flags.includes('github') ? SECRET : 'whsec_YSBrZXkgb2YgMzIgYnl0ZXMgZm9yIHRoZSB2ZWN0b3I=';
      for (const stdin of bodies) {
        const { code, stdout, stderr } = await hooks(
          argv`send --json @- --url ${to.url} --secret ${secret} ${flags} -o json -v`,
          { stdin },
        );
        expect(code, stderr).toBe(0);
        expect(jsonLines(stdout)).toMatchObject([{ outcome: 'delivered', body: stdin }]);
      }
      expect(to.bodies()).toEqual(bodies);
    },
  );

  it('is valid for the receiver of --loopback if its signature is', async () => {
    const stdin = [...NO_MESSAGE, '5'].join('\n');
    const { stdout } = await hooks(argv`replay - --exact --format ndjson --loopback`, { stdin });
    expect(stdout).toMatch(/^received +3 valid$/m);
    const text = await hooks(argv`replay - --exact --format raw --loopback`, { stdin: 'not JSON' });
    expect(text).toMatchObject({ stdout: expect.stringMatching(/^received +1 valid$/m), stderr: '' });
    const message = await hooks(argv`replay - --exact --format ndjson --loopback`, {
      stdin: '{"type":"track"}',
    });
    expect(message.stdout).toMatch(/^received +0 valid, 1 not valid$/m);
  });

  it('is distinguished from a message and from a body that flags complete to a message', async () => {
    const to = await receiving();
    const flags = ['--url', to.url, '--secret', SECRET, '--scheme', 'github'];
    expect((await hooks(argv`send --json @- ${flags}`, { stdin: ` ${track(1)}` })).code).toBe(0);
    expect(to.bodies()[0]).toMatch(/^\{"version":1,"type":"track","userId":"u1"/);
    const { code, stderr } = await hooks(argv`send --json {"a":1} --user-id u ${flags}`);
    expect([code, to.requests.length]).toEqual([2, 1]);
    expect(stderr).toContain('Expected `type` to be');
    expect((await hooks(argv`send --json {"a": ${flags}`)).code).toBe(2);
  });

  it.each([
    [['track', '--exact', '--json', '{}'], '`--exact` with `--json` alone, got `track` too'],
    [['--exact', '--json', '{}', '--user-id', 'u'], '`--exact` with `--json` alone, got `--user-id` too'],
    [['--exact', '--json', '{}', '--strict'], '`--exact` with `--json` alone, got `--strict` too'],
    [['track', '--exact'], '`--exact` with `--json` alone, got `track` too'],
    [['--exact', '--json', '{'], 'the text ends inside the object'],
  ])('send %s is rejected', async (args, sentence) => {
    await expectRejected(['send', ...args, '--loopback'], sentence);
  });

  it.each([[['replay', '-']], [['send', '--json', '{}']]])(
    '%s --exact is rejected with a tracking API from flags or variables',
    async (args) => {
      for (const given of [
        { flags: ['--endpoint', 'http://127.0.0.1:9', '--write-key', 'k'] },
        { env: { HOOKS_ENDPOINT: 'http://127.0.0.1:9', HOOKS_WRITE_KEY: 'k' } },
      ]) {
        const { flags = [], env = {} } = given;
        await expectRejected(
          [...args, '--exact', ...flags],
          '`--exact` is for webhooks; a tracking API has no use for it',
          { env, stdin: '{}' },
        );
      }
    },
  );
});
