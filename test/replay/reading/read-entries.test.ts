import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openInputs } from '../../../src/replay/reading/inputs.ts';
import { nothingToRead, readEntries } from '../../../src/replay/reading/read-entries.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { LiveMemory } from './live-memory.ts';
import { entriesOf, read, shown } from './reading.ts';

describe('NDJSON', () => {
  it('yields a broken line unchanged and reads the others', async () => {
    expect(await read('{"a":1}\n{"a":\n{"a":3}\n')).toEqual(['1 {"a":1}', '2 {"a":', '3 {"a":3}']);
  });

  it('is recognized when its first line is broken', async () => {
    for (const first of ['{"a":', '{"a":"x', '{"a', 'oops', '{"a":1}}', '{"a":{"b":1}']) {
      expect(await read(`${first}\n{"a":2}\n{"a":\n{"a":4}`)).toEqual([
        `1 ${first}`,
        '2 {"a":2}',
        '3 {"a":',
        '4 {"a":4}',
      ]);
    }
  });

  it('does not split lines at U+2028', async () => {
    expect(await read('{"a":"x\u2028y\u2029"}\n{"b":"\u0085"}')).toEqual([
      '1 {"a":"x\u2028y\u2029"}',
      '2 {"b":"\u0085"}',
    ]);
  });

  it('reads a batch on a line as its messages', async () => {
    const line = '{"writeKey":"k","batch":[{"a":1},{"a":2}]}';
    expect(await read(`{"type":"track"}\n${line}\n${line}`)).toEqual([
      '1 {"type":"track"}',
      '2 {"a":1}',
      '2 {"a":2}',
      '3 {"a":1}',
      '3 {"a":2}',
    ]);
  });

  it('yields a line without waiting for the next', async () => {
    const stdin = new Readable({ read: () => undefined });
    const reading = readEntries({ name: '<stdin>', open: () => stdin });
    stdin.push('{"a":1}\n{"a"');
    expect((await reading.next()).value).toMatchObject([{ origin: { file: '<stdin>', line: 1 } }]);
    stdin.push(':2}\n');
    expect((await reading.next()).value).toMatchObject([{ origin: { line: 2 } }]);
    await reading.return();
    expect(stdin.destroyed).toBe(true);
  });
});

describe('a document', () => {
  it('is one message when an object of it begins a line', async () => {
    const text = '{"properties":\n{"a":1}\n}';
    expect(await read(text)).toEqual([`1 ${text}`]);
  });

  it('is a message, not a batch, when it has a type', async () => {
    const text = '{\n"type":"track","batch":[{"a":1}]}';
    expect(await read(text)).toEqual([`1 ${text}`]);
  });

  it('reads batches in an array, and several batches of one object', async () => {
    expect(await read('[{"batch":[{"a":1}]},{"a":2},\n{"x":1,"batch":[{"a":3}],"batch":[{"a":4}]}]')).toEqual(
      ['1 {"a":1}', '1 {"a":2}', '2 {"a":3}', '2 {"a":4}'],
    );
  });

  it('yields elements other than objects for validation to reject', async () => {
    expect(await read('[1, "a" ,\n[{"a":1}], null]')).toEqual(['1 1', '1 "a"', '2 [{"a":1}]', '2 null']);
  });

  it('has no entries when it is an empty array or batch', async () => {
    expect(await read('[]')).toEqual([]);
    expect(await read('{"batch":[]}')).toEqual([]);
  });

  it('reads the rest when an element is broken', async () => {
    const rest = '  {"a":2},\n  {"a":3}\n]';
    for (const broken of ['{"a":{"b":"x}},', '{"a":[1}},', '{"a":1]},', '{"a":{"b":1', '{"a":"x', '{"a":1']) {
      const entries = await read(`[\n  ${broken}\n${rest}`);
      expect(entries[0]).toMatch(/^2 ! the entry that begins here /);
      expect(entries.slice(1)).toEqual(['3 {"a":2}', '4 {"a":3}']);
    }
  });

  it('reads the rest of one line when an element is not closed', async () => {
    expect(await read('[{"a":1, {"a":2}, {"a":3}]')).toEqual([
      '1 ! the entry that begins here is not closed: another `{` follows in line 1',
      '1 {"a":2}',
      '1 {"a":3}',
    ]);
  });

  it('does not take a part of a broken element for an entry', async () => {
    const text = '[\n  {\n    "a": "x\n    "items": [\n      {\n      }\n    ]\n  },\n  {"a":2}\n]';
    expect(await read(text)).toEqual([
      '2 ! the entry that begins here breaks off in line 3: a string is not closed',
      '9 {"a":2}',
    ]);
  });

  it('yields the cut-off part of its last entry for the parser to report', async () => {
    expect(await read('[{"a":1},\n{"a":2')).toEqual(['1 {"a":1}', '2 {"a":2']);
    expect(await read('{\n"a":2')).toEqual(['1 {\n"a":2']);
    expect(await read('{"batch":[{"a":1}],"sentAt":')).toEqual([
      '1 {"a":1}',
      '1 ! the batch whose rest begins here is not closed: the input ends in it',
    ]);
    expect(await read('\n[{"a":1},')).toEqual([
      '2 {"a":1}',
      '2 ! the array that begins here is not closed: the input ends in it',
    ]);
    expect(await read('{"x":1,\n"batch":[{"a":1}')).toEqual([
      '2 {"a":1}',
      '2 ! the batch that begins here is not closed: the input ends in it',
    ]);
  });
});

describe('size', () => {
  const large = `{"a":"${'x'.repeat(1024 * 1024)}"}`;

  it('rejects an entry over 1 MiB and reads the rest, in every layout', async () => {
    const rejection = '! the entry that begins here is larger than 1024 KiB';
    expect(await read(`{"a":1}\n${large}\n{"a":2}`)).toEqual(['1 {"a":1}', `2 ${rejection}`, '3 {"a":2}']);
    expect(await read(`${large}\n{"a":2}\n{"a":3}`)).toEqual([`1 ${rejection}`, '2 {"a":2}', '3 {"a":3}']);
    expect(await read(`[${large},{"a":2}]`)).toEqual([`1 ${rejection}`, '1 {"a":2}']);
    expect(await read(`{"batch":[{"a":1},${large},{"a":2}]}`)).toEqual([
      '1 {"a":1}',
      `1 ${rejection}`,
      '1 {"a":2}',
    ]);
  });

  it('takes an entry of exactly 1 MiB', async () => {
    const text = `{"a":"${'x'.repeat(1024 * 1024 - 8)}"}`;
    expect(await read(`${text}\r\n${text}`)).toEqual([`1 ${text}`, `2 ${text}`]);
    expect(await read(`[${text},{}]`)).toEqual([`1 ${text}`, '1 {}']);
  });

  it('joins the parts of an entry once, not for each of its lists', async () => {
    const text = `{"type":"track",\n${'"a":[],'.repeat(50_000)}"b":1}`;
    const concat = vi.spyOn(Buffer, 'concat');
    onTestFinished(() => concat.mockRestore());
    expect(await read(text)).toEqual([`1 ${text}`]);
    const joined = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0); // what it returned
    expect(joined).toBeLessThan(8 * text.length);
  });

  it('finds the list of a batch wherever its start is cut', async () => {
    const text = '{"x":1,\n"batch"  : [ {"a":1} ],"y":[2]}';
    for (let chunkBytes = 1; chunkBytes < text.length; chunkBytes++) {
      expect(await read(text, chunkBytes)).toEqual(['2 {"a":1}']);
    }
  });

  it('skips a line of 100 MB without keeping it', async () => {
    const memory = new LiveMemory();
    async function* open(): AsyncGenerator<Buffer> {
      yield Buffer.from('{"a":1}\n{"a":"');
      for (let count = 0; count < 100; count++) yield Buffer.alloc(1024 * 1024, 'x');
      memory.measure();
      yield Buffer.from('"}\n{"a":3}\n');
    }
    const entries = await entriesOf({ name: 'x', open });
    expect(entries.map(({ origin, kind }) => `${origin.line} ${kind}`)).toEqual([
      '1 message',
      '2 broken',
      '3 message',
    ]);
    expect(memory.mostBytes).toBeLessThan(5e6);
  });
});

describe('white space', () => {
  const MB = 1024 * 1024;
  const refusal = '! the entry that begins here is larger than 1024 KiB';

  /** Read again with each chunk, these would take minutes. */
  it.each([
    ['', ' '],
    ['', '\t\r'],
    ['[', ' '],
    ['{"a":\n{}\n', ' '],
    ['{"a":\n{}\n', '\n\t'],
    ['{"a":1}\n', ' '],
  ])('after %j is read once, however much it is: %j', async (start, blanks) => {
    const chunk = Buffer.alloc(64 * 1024, blanks);
    const concat = vi.spyOn(Buffer, 'concat');
    onTestFinished(() => concat.mockRestore());
    async function* open(): AsyncGenerator<Buffer> {
      if (start !== '') yield Buffer.from(start);
      for (let bytes = 0; bytes < 16 * MB; bytes += chunk.length) yield chunk;
    }
    const entries = await entriesOf({ name: 'x', open });
    expect(entries.every(({ kind }) => kind === 'broken' || kind === 'message')).toBe(true);
    const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0); // what it returned
    expect(copied).toBeLessThan(16 * MB);
  });

  it('counts as an entry that is too large when a quarter of a gigabyte is gzipped', async () => {
    const packed = Buffer.concat(Array<Buffer>(4).fill(gzipSync(Buffer.alloc(64 * MB, ' '), { level: 1 })));
    const memory = new LiveMemory();
    expect(await read(packed)).toEqual([`1 ${refusal}`]);
    memory.measure();
    expect(memory.mostBytes).toBeLessThan(5e6);
  });

  it.each([16 * 1024, 64 * 1024])(
    'before an entry counts as a part of it, in chunks of %i',
    async (chunkBytes) => {
      const [most, tooMuch] = [' '.repeat(MB - 7), ' '.repeat(2 * MB)];
      expect(await read(`${most}{"a":1}\n{"a":2}`, chunkBytes)).toEqual(['1 {"a":1}', '2 {"a":2}']);
      expect(await read(`\n${tooMuch}{"a":1}\n{"a":2}\n`, chunkBytes)).toEqual([`2 ${refusal}`, '3 {"a":2}']);
      expect(await read(tooMuch, chunkBytes)).toEqual([`1 ${refusal}`]);
      expect(await read(`${tooMuch}\n\n{"a":2}`, chunkBytes)).toEqual([`1 ${refusal}`, '3 {"a":2}']);
      expect(await read(`{"a":1}\n{"a":2}\n${most} {"a":3}\n{"a":4}`, chunkBytes)).toEqual([
        '1 {"a":1}',
        '2 {"a":2}',
        `3 ${refusal}`,
        '4 {"a":4}',
      ]);
    },
  );

  it('stays in front of the first line, because its indentation shows where a broken entry ends', async () => {
    const text = `\n  [\n  {"a":1\n{"b":2},\n  {"c":3}\n  ]`;
    const whole = await read(text);
    expect(await read(text, 1)).toEqual(whole);
  });
});

describe('gzip', () => {
  it('reads members one after the other, whatever the chunks', async () => {
    const members = Buffer.concat([gzipSync('{"a":1}\n{"a'), gzipSync('":2}\n')]);
    for (const chunkBytes of [1, 7, 1_000]) {
      expect(await read(members, chunkBytes)).toEqual(['1 {"a":1}', '2 {"a":2}']);
    }
  });

  it('yields the entries before the cut and names its line', async () => {
    const text = Array.from({ length: 2_000 }, (_, n) => JSON.stringify({ n, noise: Math.sin(n) })).join(
      '\n',
    );
    const packed = gzipSync(text);
    const entries = await read(packed.subarray(0, packed.length - 100));
    expect(entries.length).toBeGreaterThan(1_900);
    expect(entries.slice(0, -1)).toEqual(
      text
        .split('\n')
        .slice(0, entries.length - 1)
        .map((line, n) => `${n + 1} ${line}`),
    );
    expect(entries.at(-1)).toBe(`${entries.length} ! the gzipped input is cut off here: its end is missing`);
  });

  it('yields the entries before the corrupt part', async () => {
    const text = Array.from({ length: 50_000 }, (_, n) => JSON.stringify({ n, noise: Math.sin(n) })).join(
      '\n',
    );
    const packed = gzipSync(text);
    packed.fill(0xff, packed.length / 2, packed.length / 2 + 100);
    const entries = await read(packed);
    expect(entries.length).toBeGreaterThan(20_000);
    expect(entries.at(-1)).toMatch(/^\d+ ! the gzipped input is corrupt from here on/);
  });

  it.each([
    ['what is no gzip after it', (packed: Buffer) => Buffer.concat([packed, Buffer.from('garbage')])],
    ['a wrong checksum', (packed: Buffer) => packed.fill(0, packed.length - 8, packed.length - 4)],
  ])('yields everything before %s, from a file and from a pipe', async (_, spoil) => {
    const lines = Array.from({ length: 5_000 }, (__, n) => JSON.stringify({ n, noise: Math.sin(n) }));
    const path = join(temporaryFolder(), 'spoilt.gz');
    writeFileSync(path, spoil(gzipSync(`${lines.join('\n')}\n`)));
    for (const name of [path, '-']) {
      const [input] = await openInputs([name], { cwd: '/', stdin: createReadStream(path) });
      const entries = input === undefined ? [] : (await entriesOf(input)).map(shown);
      expect(entries.slice(0, -1)).toEqual(lines.map((line, n) => `${n + 1} ${line}`));
      expect(entries.at(-1)).toMatch(/^5001 ! the gzipped input is corrupt from here on/);
    }
  });

  it('is recognized by content when cut to its first bytes', async () => {
    expect(await read(gzipSync('{"a":1}').subarray(0, 5))).toEqual([
      '1 ! the gzipped input is cut off here: its end is missing',
    ]);
  });
});

describe('an input other than JSON text', () => {
  it('is rejected once, with a hint', async () => {
    const utf16 = Buffer.from('\ufeff{"a":1}\n{"a":2}\n', 'utf16le');
    for (const content of [utf16, utf16.subarray(2), Buffer.from(utf16).swap16()]) {
      expect(await read(content)).toEqual(['1 ! the input is UTF-16, not UTF-8']);
    }
    expect(await read(Buffer.from('PK\x03\x04and so on\n'.repeat(9)))).toEqual([
      '1 ! the input is a zip file, which is not supported',
    ]);
    expect(await read(gzipSync(gzipSync('{}')))).toEqual(['1 ! the input is gzipped twice']);
    expect(await read(Buffer.alloc(100))).toEqual(['1 ! the input is not text: it begins with zero bytes']);
  });

  it('has no entries when it is empty or blank, with or without a BOM', async () => {
    for (const text of ['', ' ', '\n\n \r\n', '\ufeff', '\ufeff\n']) expect(await read(text)).toEqual([]);
    expect(await read(gzipSync(''))).toEqual([]);
  });

  it('is named by the error of a replay without entries', () => {
    expect(nothingToRead([{ name: 'a.json' }])).toMatchObject({
      message: 'Nothing to read: there is no message in it',
      file: 'a.json',
    });
    expect(nothingToRead([{ name: 'a' }, { name: 'b' }]).message).toContain('any of the 2 inputs');
  });
});

function capture(body: object) {
  return { capture: 1, at: '2026-11-20T21:10:05.123Z', method: 'POST', url: '/', headers: [], ...body };
}

describe('captures', () => {
  it('are read as the message in them', async () => {
    const text = { body: '{"type":"track", "a":1.0}' };
    const binary = { bodyBase64: Buffer.from('{"a":2}').toString('base64') };
    expect(await read(JSON.stringify(capture(text)))).toEqual(['1 capture {"type":"track", "a":1.0}']);
    expect(await read(JSON.stringify(capture(binary), null, 2))).toEqual(['1 capture {"a":2}']);
    expect(
      await read(`${JSON.stringify(capture(text))}\n${JSON.stringify(capture(binary))}\n{"a":3}`),
    ).toEqual(['1 capture {"type":"track", "a":1.0}', '2 capture {"a":2}', '3 {"a":3}']);
    expect(await read(JSON.stringify([capture(text), capture(binary)], null, 2))).toHaveLength(2);
  });

  it('are recognized with their keys in any order', async () => {
    const { capture: version, ...rest } = capture({ body: '{"a":1}' });
    expect(await read(JSON.stringify({ ...rest, capture: version }))).toEqual(['1 capture {"a":1}']);
  });

  it('yield each message of a batch or an array', async () => {
    expect(await read(JSON.stringify(capture({ body: '{"batch":[{"a":1},\n{"a":2}]}' })))).toEqual([
      '1 capture {"a":1}',
      '1 capture {"a":2}',
    ]);
    expect(await read(JSON.stringify(capture({ body: '[{"a":1}]' })))).toEqual(['1 capture {"a":1}']);
  });

  it('are broken entries when they are wrong or empty', async () => {
    expect(await read(JSON.stringify({ ...capture({ body: '{}' }), method: 1 }))).toEqual([
      '1 ! Expected `method` to be a string in the capture, got 1',
    ]);
    expect(await read(JSON.stringify(capture({ body: '' })))).toEqual([
      '1 ! the captured request has no body, so it contains no message',
    ]);
  });

  it('do not include a message with a field of that name', async () => {
    const text = '{"context":{},"capture":1}';
    expect(await read(text)).toEqual([`1 ${text}`]);
  });
});

describe('an interruption', () => {
  it('ends the reading without an error, and drops the incomplete entry', async () => {
    const interruption = new AbortController();
    const entries = [];
    const open = () => failing('{"a":1}\n{"a"', new Error('aborted'), () => interruption.abort());
    for await (const batch of readEntries({ name: 'x', open }, interruption.signal)) entries.push(...batch);
    expect(entries.map(shown)).toEqual(['1 {"a":1}']);
  });
});

describe('an error while reading', () => {
  it('becomes a broken entry with its line, after the earlier entries', async () => {
    const fault = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    const open = () => failing('{"a":1}\n{"a":2}\n{"a', fault);
    expect((await entriesOf({ name: 'x', open })).map(shown)).toEqual([
      '1 {"a":1}',
      '2 {"a":2}',
      '3 ! the input cannot be read further: EIO: i/o error, read',
    ]);
  });

  it('is thrown if it is a bug of the program', async () => {
    const reading = entriesOf({ name: 'x', open: () => failing('{"a":1}', new TypeError('bug')) });
    await expect(reading).rejects.toThrow('bug');
  });
});

async function* failing(text: string, fault: Error, before?: () => void): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
  before?.();
  throw fault;
}
