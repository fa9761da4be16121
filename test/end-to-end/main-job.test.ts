import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { argv } from './argv.ts';
import { MESSAGE_TYPES } from '../../src/message/types.ts';
import { hooks } from '../cli/run-in-process.ts';
import { AT, headerOf, jsonLines, receiving, ROOT, SECRET, summaryOf, track } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { sign } from '../sign.ts';

/** The secret of the golden signatures, which openssl made. */
const FIXTURES_SECRET = 'hooks-fixture-secret';

function golden(type: string, ending: 'body' | 'sig'): string {
  return readFileSync(join(ROOT, `fixtures/golden/${type}.${ending}`), 'utf8').trim();
}

describe('the smoke test', () => {
  it.concurrent('delivers one message of each type to a receiver of its own, all valid', async () => {
    const { code, stdout } = await hooks(['replay', 'fixtures/*.json', '--loopback'], { cwd: ROOT });
    expect(code).toBe(0);
    for (const type of MESSAGE_TYPES) {
      expect(stdout).toMatch(
        new RegExp(`^✓ delivered ${type} .* 200 .* valid .*fixtures/${type}.json:1 http`, 'm'),
      );
    }
    expect(stdout).toMatch(/^read +7\ndelivered +7\nin /m);
    expect(stdout).toMatch(/^received +7 valid$/m);
  });

  it.concurrent(
    'sends the golden bodies, which parsing and serializing does not change, with the golden signatures',
    async () => {
      const to = await receiving({ secret: FIXTURES_SECRET });
      const args = ['replay', 'fixtures/*.json', '--url', to.url, '--secret', FIXTURES_SECRET, '-o', 'json'];
      const { code, stdout } = await hooks(args, { cwd: ROOT });
      expect(code).toBe(0);
      expect(summaryOf(stdout)).toMatchObject({ read: 7, delivered: 7 });
      const byType = new Map(to.requests.map((request) => [typeOf(request.body), request]));
      expect(byType.size).toBe(7);
      for (const [type, request] of byType) {
        const body = Buffer.from(request.body).toString();
        expect(body).toBe(golden(type, 'body'));
        expect(JSON.stringify(JSON.parse(body))).toBe(body);
        expect(headerOf(request, 'x-signature')).toBe(golden(type, 'sig'));
        expect(headerOf(request, 'content-type')).toBe('application/json');
        expect(headerOf(request, 'user-agent')).toMatch(/^hooks-cli\/\d/);
      }
    },
  );
});

function typeOf(body: Uint8Array): string {
  return (JSON.parse(Buffer.from(body).toString()) as { type: string }).type;
}

/** Flags for each type, and the body that send builds from them. */
const FROM_FLAGS: Readonly<Record<(typeof MESSAGE_TYPES)[number], readonly [flags: string[], body: string]>> =
  {
    page: [
      ['--user-id', 'u1', '--name', 'Pricing', '--category', 'Shop', '-p', 'path=/pricing'],
      `{"version":1,"type":"page","userId":"u1","properties":{"path":"/pricing","name":"Pricing","category":"Shop"},"timestamp":"${AT}"}`,
    ],
    screen: [
      ['--anonymous-id', 'a1', '--name', 'Home', '--context', 'device.model=Pixel 9', '-p', 'tab:=[1,2]'],
      `{"version":1,"type":"screen","anonymousId":"a1","name":"Home","timestamp":"${AT}","properties":{"tab":[1,2]},"context":{"device":{"model":"Pixel 9"}}}`,
    ],
    identify: [
      ['--user-id', 'u1', '-t', 'plan=pro', '-t', 'age=31', '-t', 'zip==01234', '-t', 'city=Łódź'],
      `{"version":1,"type":"identify","userId":"u1","traits":{"plan":"pro","age":31,"zip":"01234","city":"Łódź"},"timestamp":"${AT}"}`,
    ],
    track: [
      argv`--user-id u1 --event ${'Order Completed'} --properties {"total":1,"a":2} -p total=27.5`,
      `{"version":1,"type":"track","userId":"u1","event":"Order Completed","properties":{"total":27.5,"a":2},"timestamp":"${AT}"}`,
    ],
    alias: [
      ['--previous-id', 'a1', '--user-id', 'u1'],
      `{"version":1,"type":"alias","Previous ID":"a1","User ID":"u1","timestamp":"${AT}"}`,
    ],
    group: [
      ['--group-id', 'g1', '--user-id', 'u1', '--traits', '{"seats":5}'],
      `{"version":1,"type":"group","groupId":"g1","userId":"u1","traits":{"seats":5},"timestamp":"${AT}"}`,
    ],
    delete: [['--user-id', 'u1'], `{"type":"delete","userId":"u1","timestamp":"${AT}"}`],
  };

describe.concurrent.each(MESSAGE_TYPES)('hooks send %s', (type) => {
  it('builds the message from flags', async () => {
    const to = await receiving({ secret: SECRET });
    const [flags, body] = FROM_FLAGS[type];
    expect(
      await hooks(argv`send ${type} ${flags} --timestamp ${AT} --url ${to.url}/hook?a=1 --secret ${SECRET}`),
    ).toMatchObject({ code: 0, stderr: '' });
    expect(to.bodies()).toEqual([body]);
    expect(to.requests[0]).toMatchObject({ method: 'POST', path: '/hook?a=1', verdict: 'valid' });
  });

  it('takes the message from a file, with or without its type on the command line', async () => {
    const to = await receiving();
    const file = join(ROOT, `fixtures/${type}.json`);
    const [fromFile, fromStdin] = await Promise.all([
      hooks(argv`send --json @${file} --url ${to.url}`),
      hooks(argv`send ${type} --json @- --url ${to.url}`, { stdin: readFileSync(file) }),
    ]);
    expect([fromFile.code, fromStdin.code]).toEqual([0, 0]);
    expect(to.bodies()).toEqual([golden(type, 'body'), golden(type, 'body')]);
    expect(to.requests.map(({ rawHeaders }) => rawHeaders.includes('X-Signature'))).toEqual([false, false]);
  });
});

describe('a result line', () => {
  const FIELDS = ['messageId', 'type', 'outcome', 'url', 'status', 'attempts', 'ms', 'signature'];

  it.concurrent('of send has exactly the documented fields', async () => {
    const to = await receiving({ secret: SECRET });
    const { stdout } = await hooks(argv`send --json ${track(1)} --url ${to.url} --secret ${SECRET} -o json`);
    const [line] = jsonLines(stdout);
    expect(Object.keys(line ?? {})).toEqual(FIELDS);
    expect(line).toEqual({
      messageId: 'm1',
      type: 'track',
      outcome: 'delivered',
      url: to.url,
      status: 200,
      attempts: [
        {
          at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
          url: to.url,
          status: 200,
          ms: expect.any(Number) as number,
        },
      ],
      ms: expect.any(Number) as number,
      signature: sign(to.bodies()[0] ?? '', SECRET),
    });
  });

  it.concurrent('of replay also has the origin of the message, and with -v its body', async () => {
    const to = await receiving();
    const cwd = temporaryFolder({ 'two.ndjson': `${track(1)}\n\n${track(2)}\n` });
    const args = ['replay', 'two.ndjson', '--url', to.url, '-o', 'json'];
    const [plain, verbose] = [await hooks(args, { cwd }), await hooks([...args, '-v'], { cwd })];
    const [first, second] = jsonLines(plain.stdout);
    expect(Object.keys(first ?? {})).toEqual([...FIELDS.slice(0, -1), 'origin']);
    expect([first?.['origin'], second?.['origin']]).toEqual(['two.ndjson:1', 'two.ndjson:3']);
    const [withBody] = jsonLines(verbose.stdout);
    expect(Object.keys(withBody ?? {})).toEqual([...FIELDS.slice(0, -1), 'body', 'origin']);
    expect(withBody?.['body']).toBe(to.bodies()[2]);
    expect(summaryOf(plain.stdout)).toMatchObject({ read: 2, delivered: 2, skipped: 0 });
  });
});
