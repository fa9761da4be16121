import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PARTITIONS, parseMember, type AudienceEntry } from '../../src/audience/entry.ts';
import type { ReadMembersOptions } from '../../src/audience/read/layout.ts';
import { MemberTarget } from '../../src/audience/read/member-target.ts';
import { readMembers } from '../../src/audience/read/read-entries.ts';
import { Spill } from '../../src/audience/spill.ts';
import type { ChunkStore } from '../../src/audience/store.ts';
import { InputError } from '../../src/errors.ts';
import { gunzipIfPacked } from '../../src/replay/reading/gunzip.ts';

type Kind = 'audience' | 'trait';

interface Reading extends ReadMembersOptions {
  readonly kind?: Kind;
  /** Bytes per chunk. */
  readonly chunk?: number;
}

/** Chunks in memory. Other tests use the file, which takes longer to open than the input to read. */
class MemoryChunks implements ChunkStore {
  readonly #chunks = new Map<number, Uint8Array>();

  write(place: number, bytes: Uint8Array): void {
    this.#chunks.set(place, Uint8Array.from(bytes));
  }

  read(from: number, to: number): readonly Uint8Array[] {
    const found = [...this.#chunks].filter(([place]) => place >= from && place < to);
    return found.toSorted(([one], [other]) => one - other).map(([, bytes]) => bytes);
  }

  close(): void {
    this.#chunks.clear();
  }
}

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(
  input: string | Uint8Array,
  { kind = 'audience', chunk = 64 * 1024, ...options }: Reading = {},
): Promise<readonly AudienceEntry[]> {
  const spill = new Spill(new MemoryChunks());
  try {
    const bytes = typeof input === 'string' ? Buffer.from(input) : input;
    const { signal } = new AbortController();
    const target = new MemberTarget({ kind, file: 'members', spill });
    await readMembers({ ...options, open: () => gunzipIfPacked(inChunks(bytes, chunk)) }, target, signal);
    spill.finish();
    return Array.from({ length: PARTITIONS }, (_, partition) => Buffer.concat(spill.chunksOf(partition)))
      .flatMap((lines) => lines.toString().split('\n').slice(0, -1))
      .map(parseMember);
  } finally {
    spill.close();
  }
}

async function ids(input: string | Uint8Array, options?: Reading): Promise<readonly string[]> {
  return (await read(input, options)).map(({ userId }) => userId).toSorted();
}

async function valuesOf(input: string, options?: Reading): Promise<Record<string, unknown>> {
  const entries = await read(input, { kind: 'trait', ...options });
  return Object.fromEntries(entries.map(({ userId, value }) => [userId, value]));
}

async function rejectionOf(input: string | Uint8Array, options?: Reading): Promise<string> {
  const error: unknown = await read(input, options).catch((thrown: unknown) => thrown);
  if (!(error instanceof InputError)) throw new Error(`Expected an InputError, got ${String(error)}`);
  return `${error.file}:${error.line}: ${error.message}; ${error.hint}`;
}

function lineWithText(length: number): string {
  return JSON.stringify({ userId: 'u\t', value: 'x'.repeat(length) });
}

describe('one id per line', () => {
  it.each([
    ['plain', 'u1\nu2\n', ['u1', 'u2']],
    ['without a final line break', 'u1\nu2', ['u1', 'u2']],
    ['with CR LF and blank lines', '\r\n\nu1\r\n\r\n u2 \r\n', ['u1', 'u2']],
    ['with a BOM', '\ufeffu1\nu2\n', ['u1', 'u2']],
    ['with blanks, quotes and controls inside', 'a b\nu"1\nu!1\nx\ty\n', ['a b', 'u!1', 'u"1', 'x\ty']],
    ['in any script', 'é\n優\n🔥\n', ['é', '優', '🔥'].toSorted()],
    ['with duplicates', 'u1\nu1\n', ['u1', 'u1']],
  ])('is read %s', async (_, input, expected) => {
    expect(await ids(input)).toEqual(expected);
    expect(await ids(input, { chunk: 1 })).toEqual(expected);
  });

  it('is read gzipped', async () => {
    expect(await ids(gzipSync('u1\nu2\n'))).toEqual(['u1', 'u2']);
  });

  it('is empty for an empty input', async () => {
    expect(await ids('')).toEqual([]);
    expect(await ids('\n \n')).toEqual([]);
  });

  it('is rejected if invalid, with the line', async () => {
    expect(await rejectionOf(Buffer.from('u1\nu2\n\xff\n', 'latin1'))).toMatch(/^members:3: Expected UTF-8/);
    expect(await rejectionOf(Buffer.from('u1\nu2\n', 'utf16le'))).toMatch(/^members:1: .*UTF-16/);
    expect(await rejectionOf(Buffer.from('\ufeffü1\nü2\n', 'utf16le'))).toContain('iconv');
    expect(await rejectionOf(`u1\n${'x'.repeat(5_000)}\n`)).toContain(
      'members:2: Expected a user id of at most 2048 bytes, got 5000',
    );
    expect(await rejectionOf('x'.repeat(3_000_000))).toContain('Expected lines, got one of more than 1 MiB');
    expect(await rejectionOf('email\na@b.example\n')).toContain(
      'looks like a header; if it is a header, pass --id-column email',
    );
    expect(await rejectionOf('["u1"]')).toContain("jq -c '.[]'");
  });

  it.each([
    'userId\ru1\ru2\r',
    'userId,name\ru1,a\ru2,b\r',
    '\ru1\ru2',
    '{"userId":"u1"}\r{"userId":"u2"}',
    'u1\r'.repeat(400_000),
  ])('is rejected if lines end in CR alone: %.30j', async (input) => {
    expect(await rejectionOf(input)).toBe(
      String.raw`members:1: Expected lines that end in LF or CR LF, got CR alone; convert it: tr '\r' '\n' < FILE`,
    );
  });

  it('is rejected if cut off or corrupt', async () => {
    const packed = gzipSync('u1\nu2\n'.repeat(5_000));
    expect(await rejectionOf(packed.subarray(0, packed.length - 9))).toContain('gzipped input is cut off');
    packed[30] = (packed[30] ?? 0) ^ 0xff;
    packed[31] = (packed[31] ?? 0) ^ 0xff;
    expect(await rejectionOf(packed)).toMatch(/gzipped input is (corrupt|cut off)/);
  });
});

describe('CSV', () => {
  it.each([
    ['with one column', 'userId\nu1\nu2\n', {}, ['u1', 'u2']],
    ['by the column userId at any place', 'plan,userId\npro,u1\nfree,u2\n', {}, ['u1', 'u2']],
    ['by a column with a similar name', 'plan,User ID\npro,u1\n', {}, ['u1']],
    ['by a given column', 'id,email\n1,a@b\n', { idColumn: 'email' }, ['a@b']],
    ['with semicolons', 'userId;plan\nu1;pro\n', {}, ['u1']],
    ['with tabs', 'userId\tplan\nu1\tpro\n', {}, ['u1']],
    ['with CR LF and blank lines', 'userId,plan\r\n\r\nu1,pro\r\n', {}, ['u1']],
    ['quoted', '"userId","plan"\n"u1","p,ro"\n"u""2","x"\n', {}, ['u"2', 'u1']],
    ['quoted over several lines', 'userId,note\nu1,"a\nb"\nu2,"c"\nu3,plain\n', {}, ['u1', 'u2', 'u3']],
    ['with blanks around', 'userId , plan\n u1 , pro\n', {}, ['u1']],
    ['with blanks around quotation marks', 'userId, plan\n "u1" , "pro" \r\nu2,x\n', {}, ['u1', 'u2']],
    ['with mixed line ends', 'userId,plan\r\nu1,"a"\r\nu2,b\nu3,"c"\n', {}, ['u1', 'u2', 'u3']],
    ['with lines of blanks', 'userId\nu1\n \nu2\n', {}, ['u1', 'u2']],
    ['with lines of blanks and quotes', 'userId\nu1\n \n"u2"\n', {}, ['u1', 'u2']],
    ['with a header alone', 'userId,plan\n', {}, []],
  ])('is read %s', async (_, input, options, expected) => {
    expect(await ids(input, options)).toEqual(expected);
    expect(await ids(input, { ...options, chunk: 1 })).toEqual(expected);
  });

  it('has values that are parsed as JSON if possible, otherwise as text', async () => {
    const csv = 'userId,value\na,27.5\nb,true\nc,gold\nd,\ne,007\nf,"{""x"":[1]}"\ng,"a,b"\n';
    const expected = { a: 27.5, b: true, c: 'gold', d: null, e: '007', f: { x: [1] }, g: 'a,b' };
    expect(await valuesOf(csv)).toEqual(expected);
    expect(await valuesOf(csv, { chunk: 1 })).toEqual(expected);
    expect(await valuesOf('userId,value\na,27.5\nd,\n', { areTexts: true })).toEqual({ a: '27.5', d: '' });
    expect(await valuesOf('id,ltv\na,1\n', { idColumn: 'id', valueColumn: 'ltv' })).toEqual({ a: 1 });
  });

  it('is rejected if it does not match its header, with the line', async () => {
    expect(await rejectionOf('a,b\n1,2\n')).toContain(
      'members:1: Expected a header with the column `userId`, got `a`, `b`',
    );
    expect(await rejectionOf('userId,plan\nu1,pro\nu2\n')).toContain(
      'members:3: Expected 2 columns as in the header, got 1',
    );
    expect(await rejectionOf('userId,plan\n"u1",pro\n"u2"\n')).toContain('members:3: Expected 2 columns');
    expect(await rejectionOf('userId,plan\n,pro\n')).toContain(
      'members:2: Expected a user id, got an empty text',
    );
    expect(await rejectionOf('userId\nu1\n""\n')).toContain(
      'members:3: Expected a user id, got an empty text',
    );
    expect(await rejectionOf('userId,plan\nu1,"a" "b"\n')).toContain('members:2: ');
    expect(await rejectionOf('userId,note\nu1,"a\nb\nc\n')).toContain(
      'members:2: a quotation mark is opened here',
    );
    expect(await rejectionOf('userId,note\nu1,"a\nb"\nu2,"c"x\n')).toMatch(/^members:4: /);
    expect(await rejectionOf('user,ltv\nu1,5\n', { kind: 'trait' })).toContain('--id-column');
    expect(await rejectionOf('userId,ltv\nu1,5\n', { kind: 'trait' })).toContain('--value-column');
    expect(await rejectionOf('userId,value\nu1,12345678901234567890\n', { kind: 'trait' })).toContain(
      '--text',
    );
  });

  it('is read equally with and without csv-parse', async () => {
    const blanks = fc.constantFrom('', '', ' ', '\t', ' \v', '\u00a0', '\ufeff', '\u3000 ');
    const cell = (core: RegExp) =>
      fc.tuple(blanks, fc.stringMatching(core), blanks).map((parts) => parts.join(''));
    const rows = fc.array(fc.tuple(cell(/^[a-z0-9é]{1,6}$/u), cell(/^[a-z0-9 é🔥]{0,5}$/u)), {
      minLength: 1,
      maxLength: 20,
    });
    const layout = fc.record({
      end: fc.constantFrom('\n', '\r\n', '\n \n'),
      around: fc.constantFrom('', ' ', '\v'),
      chunk: fc.integer({ min: 1, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(rows, layout, async (given, { end, around, chunk }) => {
        const lines = (write: (id: string, value: string) => string): string =>
          given.map(([id, value]) => `${write(id, value)}${end}`).join('');
        const options = { kind: 'trait', chunk, areTexts: true } as const;
        const plain = await read(`userId,value\n${lines((id, value) => `${id},${value}`)}`, options);
        const quote = (text: string): string => `${around}"${text}"${around}`;
        for (const write of [
          (id: string, value: string) => `${id},${quote(value)}`,
          (id: string, value: string) => `${quote(id)},${quote(value)}`,
        ]) {
          expect(await read(`userId,value\n${lines(write)}`, options)).toEqual(plain);
        }
      }),
      { numRuns: 50 },
    );
  });

  it.each(['u1\u00a0', '\ufeffu1', '\u3000u1', 'u1\u0085'])(
    'has the same id %j in any layout',
    async (id) => {
      const all = [
        `x\n${id}\n`,
        `x\r\n${id}\r\n`,
        `x\n ${id} \n`,
        `userId\nx\n${id}\n`,
        `userId,name\nx,Ann\n${id},Ann\n`,
        `userId,name\nx,Ann\n${id},"Ann"\n`,
        `userId,name\nx,Ann\n"${id}", "Ann"\n`,
        `{"userId":"x"}\n{"userId":"${id}"}\n`,
      ];
      for (const input of all) expect(await ids(input)).toEqual([id, 'x'].toSorted());
    },
  );
});

describe('NDJSON', () => {
  it('is read by the field userId, or by a given field', async () => {
    expect(await ids('{"userId":"u1","x":1}\n\n{"userId":2}\n')).toEqual(['2', 'u1']);
    expect(await ids('{"id":"u1"}\n', { idColumn: 'id' })).toEqual(['u1']);
    expect(await ids('{"userId":"a\\nb"}\n', { chunk: 1 })).toEqual(['a\nb']);
  });

  it('has values of every type', async () => {
    const lines =
      '{"userId":"a","value":1}\n{"userId":"b","value":{"x":null}}\n{"userId":"c","value":null}\n';
    expect(await valuesOf(lines)).toEqual({ a: 1, b: { x: null }, c: null });
  });

  it('is rejected if a line is invalid, with its number', async () => {
    expect(await rejectionOf('{"userId":"u1"}\n{"userId":\n')).toMatch(/^members:2: /);
    expect(await rejectionOf('{"userId":"u1"}\nu2\n')).toMatch(/^members:2: /);
    expect(await rejectionOf('{"userId":"u1"}\n{"user":"u2"}\n')).toContain(
      'members:2: Expected a user id in `userId`, got nothing',
    );
    expect(await rejectionOf('{"userId":null}\n')).toContain('got null');
    expect(await rejectionOf('{"userId":"\\ud800"}\n')).toMatch(/^members:1: /);
    expect(await rejectionOf('{"userId":"u1"}\n', { kind: 'trait' })).toContain(
      'Expected a value in `value`, got nothing',
    );
    expect(await read(lineWithText(16_382), { kind: 'trait' })).toHaveLength(1);
    expect(await rejectionOf(lineWithText(16_383), { kind: 'trait' })).toContain(
      'members:1: Expected a value of at most 16384 bytes as JSON, got 16385',
    );
  });
});
