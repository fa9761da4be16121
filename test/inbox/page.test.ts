import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { buildMessage } from '../../src/message/build.ts';
import { readJson } from '../../src/message/json/read-json.ts';
import { asCurl, asFixture } from '../../src/inbox/page/state/copies.ts';
import { differences, places } from '../../src/inbox/page/request/difference.ts';
import type { FullRequest } from '../../src/inbox/page/full-request.ts';
import { draftOf, editedOf, uneditableReason } from '../../src/inbox/page/request/edit-draft.ts';
import { EVERYTHING, filtered, NO_TYPE, wordsOf } from '../../src/inbox/page/list/filter.ts';
import { parseRoute, routeHash } from '../../src/inbox/page/state/route.ts';
import { aboutOf, shownVerdictOf, verdictText } from '../../src/inbox/page/summary-texts.ts';
import { parseTree, pretty } from '../../src/inbox/page/body/json-tree.ts';
import type { RequestSummary } from '../../src/inbox/wire.ts';

const SUMMARY: RequestSummary = {
  id: 1,
  at: 0,
  method: 'POST',
  path: '/hook',
  verdict: 'valid',
  status: 200,
  answered: 'status',
  bytes: 2,
  ms: 1,
};

describe('the filter', () => {
  const summaries: RequestSummary[] = [
    { ...SUMMARY, id: 1, type: 'track', event: 'Order Completed', userId: 'u1' },
    {
      ...SUMMARY,
      id: 2,
      type: 'track',
      event: 'Signup',
      anonymousId: 'Anon-7',
      status: 503,
      verdict: 'invalid',
    },
    { ...SUMMARY, id: 3, path: '/other', status: null, answered: 'timeout', verdict: 'unsigned' },
  ];
  const ids = (text: string, rest: object = {}, inBody?: Set<number>): number[] =>
    filtered(summaries, { ...EVERYTHING, text, ...rest }, inBody).map(({ id }) => id);

  it.each([
    ['', [1, 2, 3]],
    ['order', [1]],
    ['COMPLETED order', [1]],
    ['order signup', []],
    ['type:track', [1, 2]],
    ['type:trac', []],
    ['event:sign', [2]],
    ['user:anon', [2]],
    ['user:u1', [1]],
    ['status:5xx', [2]],
    ['status:200', [1]],
    ['status:timeout', [3]],
    ['verdict:invalid', [2]],
    ['path:/other', [3]],
    ['type:track signup', [2]],
    ['http://x', []],
    ['__proto__:x', []],
    ['constructor:zzz', []],
  ])('%j matches the requests %j', (text, expected) => {
    expect(ids(text)).toEqual(expected);
  });

  it('matches requests whose body contains the words', () => {
    expect(ids('paris', {}, new Set([3]))).toEqual([3]);
    expect(ids('type:track paris', {}, new Set([3, 2]))).toEqual([2]);
    expect(wordsOf({ ...EVERYTHING, text: 'type:track two  words' })).toBe('two words');
  });

  it('finds a batch by its messages, and a re-serialized request by its own verdict', () => {
    const among = { types: ['track', 'page'], events: ['Cart Viewed'], users: ['u7'] };
    const batch: RequestSummary = { ...SUMMARY, id: 4, messages: 3, among, verdict: 'unchecked' };
    const amber: RequestSummary = { ...SUMMARY, id: 5, type: 'page', isRestringified: true };
    const found = (text: string, rest: object = {}): number[] =>
      filtered([batch, amber], { ...EVERYTHING, text, ...rest }).map(({ id }) => id);
    for (const text of ['event:cart', 'user:u7', 'type:track', 'viewed']) expect(found(text)).toEqual([4]);
    expect(found('', { type: 'page' })).toEqual([4, 5]);
    expect(found('', { type: NO_TYPE })).toEqual([]);
    expect(found('', { verdict: 're-serialized' })).toEqual([5]);
    expect(found('verdict:re-serialized')).toEqual([5]);
    expect(found('', { verdict: 'valid' })).toEqual([5]);
  });

  it('matches by type and verdict', () => {
    expect(ids('', { type: NO_TYPE })).toEqual([3]);
    expect(ids('', { type: 'track', verdict: 'valid' })).toEqual([1]);
  });
});

describe('a row', () => {
  it.each([
    [{ type: 'track', event: 'Signup', userId: 'u1' }, ['track', 'u1']],
    [{ type: 'page' }, ['no user']],
    [{}, ['2 B']],
    [{ bytes: 0 }, ['no body']],
    [{ problem: 'expected a value\n' }, ['rejected: expected a value\\n']],
    [{ messages: 2, among: { types: ['track', 'page'], events: ['A'], users: [] } }, ['A, page']],
    [{ messages: 2, among: { types: ['track'], events: [], users: [] } }, ['track']],
    [{ type: 'page', unplanned: 1 }, ['violates the plan', 'no user']],
    [
      { messages: 2, unplanned: 1, among: { types: ['track'], events: [], users: [] } },
      ['1 violates the plan', 'track'],
    ],
  ])('of %j shows %j', (facts, about) => {
    expect(aboutOf({ ...SUMMARY, ...facts })).toEqual(about);
  });

  it('distinguishes a signature that is valid only re-serialized from one over the bytes', () => {
    const summary = { ...SUMMARY, isRestringified: true };
    expect([shownVerdictOf(SUMMARY), shownVerdictOf(summary)]).toEqual(['valid', 're-serialized']);
    const { what, why } = verdictText({ summary, headers: [], note: 'pretty-printed' });
    expect([what, why]).toEqual([
      expect.stringContaining('only'),
      expect.stringContaining('(pretty-printed)'),
    ]);
  });
});

describe('the address', () => {
  it.each([
    ['#/requests/17', 17, undefined],
    ['#/requests/17/compare/12', 17, 12],
    ['', undefined, undefined],
  ])('%j opens %j, compared with %j', (hash, selectedId, markedId) => {
    expect(parseRoute(hash)).toEqual({ selectedId, markedId });
    expect(routeHash({ selectedId, markedId })).toBe(hash);
  });

  it.each([
    '#',
    '#/requests/',
    '#/requests/x',
    '#/requests/1/../2',
    '#/requests/-1',
    '#/requests/1234567890123456',
  ])('%j opens no request', (hash) => {
    expect(parseRoute(hash).selectedId).toBeUndefined();
  });
});

describe('an edited request', () => {
  const details = {
    summary: SUMMARY,
    headers: [
      ['Host', 'a'],
      ['Content-Length', '9'],
      ['Connection', 'X-Hop'],
      ['X-Hop', '1'],
      ['X-A', 'b: c'],
    ],
  } as const;

  it('starts with the received request, without the headers of its connection', () => {
    const body = Buffer.from('{"a":\r\n1}');
    const draft = draftOf({ details, body }, false);
    expect(draft).toEqual({ headers: 'X-A: b: c', body: '{"a":\n1}', isSigned: false });
    // The line breaks of a text field do not count as an edit.
    expect(editedOf(draft, body)).toEqual({
      headers: [['X-A', 'b: c']],
      body: '{"a":\r\n1}',
      isSigned: false,
    });
    const changed = { ...draft, headers: '\n a:b \nnone\n', body: '{}' };
    expect(editedOf(changed, body)).toMatchObject({
      headers: [
        ['a', 'b'],
        ['none', ''],
      ],
      body: '{}',
    });
  });

  it('requires UTF-8 text that is not too long', () => {
    expect(uneditableReason(Buffer.from('é'))).toBeUndefined();
    expect(uneditableReason(new Uint8Array([0xff]))).toContain('UTF-8');
    expect(uneditableReason(new Uint8Array(1024 * 1024 + 1))).toContain('1 MiB');
  });
});

describe('the tree', () => {
  it.each([
    '{}',
    '[1,-0,1.50e3,12345678901234567890]',
    '{"a":{"a":1,"a":2},"":[true,false,null,"\\u0041\\n"]}',
    '"x"',
  ])('keeps the spelling of %s', (json) => {
    const tree = parseTree(` ${json}\n`);
    expect(
      tree &&
        pretty(tree)
          .replaceAll(/\s*\n\s*/g, '')
          .replaceAll('": ', '":'),
    ).toBe(json);
  });

  it.each(['', '{', '[1,]', '{"a"}', '01', 'nul', '"a\nb"', '"\\x"', '{"a":1}x', '"a\\"'])(
    'is undefined for %j',
    (text) => {
      expect(parseTree(text)).toBeUndefined();
    },
  );

  it('rejects deep nesting, and parses a string of escapes of any length', () => {
    expect(parseTree('['.repeat(1e6))).toBeUndefined();
    expect(parseTree(`${'['.repeat(600)}${']'.repeat(600)}`)).toBeUndefined();
    expect(parseTree(`"${'\\n'.repeat(2e6)}"`)).toMatchObject({ kind: 'string' });
    expect(parseTree(`["${'\\\\'.repeat(1e6)}","${'\\"'.repeat(1e5)}"]`)).toMatchObject({ kind: 'array' });
  });
});

function side(
  body: string | Uint8Array,
  rest: Partial<RequestSummary> = {},
  headers: [string, string][] = [],
): FullRequest {
  const bytes = Buffer.from(body);
  return { body: bytes, text: bytes.toString(), details: { summary: { ...SUMMARY, ...rest }, headers } };
}

describe('the difference', () => {
  it('names the places of JSON where two requests differ', () => {
    const one = side('{"a":{"b":[1,{"c":"x"}]},"gone":null,"same":1}', { verdict: 'valid' }, [['X-A', '1']]);
    const other = side('{"same":1,"a":{"b":[1,{"c":"y"}],"new key":{}}}', { verdict: 'invalid' }, [
      ['x-a', '2'],
    ]);
    expect(differences(one, other)).toEqual([
      { where: 'verdict', one: 'valid', other: 'invalid' },
      { where: 'header x-a', one: '1', other: '2' },
      { where: 'body.a.b[1].c', one: '"x"', other: '"y"' },
      { where: 'body.gone', one: 'null', other: undefined },
      { where: 'body.a["new key"]', one: undefined, other: '{}' },
    ]);
  });

  it('distinguishes numbers that are equal in a browser, and duplicate keys', () => {
    const [first] = differences(side('12345678901234567890'), side('12345678901234567891'));
    expect(first).toMatchObject({ where: 'body' });
    expect(differences(side('{"a":1,"a":2}'), side('{"a":2}'))).toMatchObject([
      { where: 'body.a', one: '1, 2' },
    ]);
  });

  it('compares other bodies line by line', () => {
    expect(differences(side('a\nb'), side('a\nc\nd'))).toEqual([
      { where: 'body line 2', one: 'b', other: 'c' },
      { where: 'body line 3', one: undefined, other: 'd' },
    ]);
  });

  it('is empty for equal requests, whose places can still be listed', () => {
    const [one, other] = [side('{"a":1}'), side('{"a":1}')];
    expect(differences(one, other)).toEqual([]);
    expect(places(one, other)).toContainEqual({ where: 'body.a', one: '1', other: '1' });
  });

  it.each([
    ['{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['{"a":1}', '{ "a": 1 }'],
    [new Uint8Array([0xff]), new Uint8Array([0xfe])],
  ])('reports different bytes with the same content: %j, %j', (one, other) => {
    const where = [{ where: 'body', one: 'reads the same', other: expect.any(String) as string }];
    expect(differences(side(one), side(other))).toEqual(where);
    expect(differences(side(one, { path: '/a' }), side(other))).toEqual([
      { where: 'path', one: '/a', other: '/hook' },
      ...where,
    ]);
  });
});

describe('a copy', () => {
  const capture = {
    capture: 1,
    method: 'POST',
    url: '/hook',
    headers: [
      ['Host', 'a'],
      ['X-Signature', 'abc'],
      ['Authorization', '***'],
      ['Content-Length', '9'],
    ],
  } as const;

  it('as curl has variables instead of secrets, and quotes the rest for a shell', () => {
    const body = `{"a":"it's $HOME \`id\`"}`;
    const command = asCurl({ ...capture, body }, 'http://127.0.0.1:1/x?token=***&b=1');
    expect(command).toBe(
      [
        `curl -X POST 'http://127.0.0.1:1/x?token='"$HOOKS_TOKEN"'&b=1'`,
        `-H 'X-Signature: abc'`,
        `-H "Authorization: $HOOKS_AUTHORIZATION"`,
        String.raw`--data-raw '{"a":"it'\''s $HOME \`id\`"}'`.replaceAll('\\`', '`'),
      ].join(' \\\n  '),
    );
    const echoed = execFileSync('sh', ['-c', command.replace(/^curl/, 'printf "%s|"')]).toString();
    expect(echoed.split('|').at(-2)).toBe(body);
  });

  it('as curl does not read a file that a body names', () => {
    const command = asCurl({ ...capture, body: '@/etc/hostname' }, 'http://127.0.0.1:1/');
    expect(command).toContain("--data-raw '@/etc/hostname'");
  });

  it('as curl is safe to paste with control characters in the body', () => {
    const body = 'a\u0003\nid\u001b[201~\u0000é';
    const command = asCurl({ ...capture, body }, 'http://127.0.0.1:1/');
    expect(command).toMatch(/^[ -~\n]*$/);
    const sent = execFileSync('sh', ['-c', command.replace(/curl[^]*/, 'cat')]).toString();
    expect(sent).toBe(body);
  });

  it('as curl sends binary bodies', () => {
    const command = asCurl({ ...capture, bodyBase64: '/wD+' }, 'http://127.0.0.1:1/');
    const shown = execFileSync('sh', ['-c', command.replace(/curl[^]*/, 'od -An -tx1')]).toString();
    expect(shown.trim()).toBe('ff 00 fe');
  });

  it('as a fixture is the message, from which the same message is built again', () => {
    const body = '{"version":1,"type":"track","userId":"u","event":"A","properties":{"n":1.0}}';
    const fixture = asFixture({ ...capture, body });
    expect(fixture).toContain('\n  "event": "A",\n');
    expect(fixture).toContain('"n": 1.0');
    expect(buildMessage(readJson(Buffer.from(fixture)), { now: 0 })).toEqual(
      buildMessage(readJson(Buffer.from(body)), { now: 0 }),
    );
  });

  it('as a fixture is the capture if there is no message', () => {
    expect(JSON.parse(asFixture({ ...capture, bodyBase64: '/wD+' }))).toEqual({
      ...capture,
      bodyBase64: '/wD+',
    });
    expect(JSON.parse(asFixture({ ...capture, body: '[1]' }))).toMatchObject({ capture: 1, body: '[1]' });
  });
});
