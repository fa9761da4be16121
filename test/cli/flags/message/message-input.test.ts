import { Readable } from 'node:stream';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { Io } from '../../../../src/cli/io.ts';
import {
  addMessageFlags,
  stdinFlags,
  type MessageFlags,
} from '../../../../src/cli/flags/message/message-flags.ts';
import { messageInput } from '../../../../src/cli/flags/message/message-input.ts';
import { HooksError } from '../../../../src/errors.ts';
import type { MessageType } from '../../../../src/message/types.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

function flagsOf(words: readonly string[], type?: MessageType): MessageFlags {
  const command = new Command('send').exitOverride().configureOutput({ writeErr: () => {} });
  addMessageFlags(command, type);
  command.parse([...words], { from: 'user' });
  return command.opts<MessageFlags>();
}

interface Given {
  readonly type?: MessageType;
  readonly stdin?: string;
  readonly files?: Readonly<Record<string, string>>;
}

async function inputOf(
  words: readonly string[],
  { type, stdin = '', files = {} }: Given = {},
): Promise<unknown> {
  const io = {
    stdin: Readable.from([Buffer.from(stdin)]),
    signal: new AbortController().signal,
    cwd: temporaryFolder(files),
  } as unknown as Io; // reading flags touches nothing else
  return JSON.parse(JSON.stringify(await messageInput(flagsOf(words, type), type, io)));
}

async function failureOf(words: readonly string[], given?: Given) {
  try {
    await inputOf(words, given);
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    const { message, hint } = error;
    return { message, hint, file: 'file' in error ? error.file : undefined };
  }
  throw new Error('Expected an error');
}

describe('the message of flags', () => {
  it('has the type of the subcommand, its fields and its maps', async () => {
    const words = '--user-id u --event E -p a.b=1 --property c==2 --integration All=false';
    expect(await inputOf(words.split(' '), { type: 'track' })).toEqual({
      type: 'track',
      userId: 'u',
      event: 'E',
      properties: { a: { b: 1 }, c: '2' },
      integrations: { All: false },
    });
  });

  it('is that of --json, with the type of either, and flags override its fields', async () => {
    const json = '{"type":"track","event":"E","properties":{"a":1},"context":{"ip":"x"},"own":true}';
    expect(await inputOf(['--json', json])).toEqual(JSON.parse(json));
    const track = { type: 'track' } as const;
    expect(await inputOf(['--json', '{"event":"E"}'], track)).toEqual({ type: 'track', event: 'E' });
    expect(await inputOf(['--json', json, '--event', 'F', '-p', 'b=2', '--context', 'ip=y'], track)).toEqual({
      type: 'track',
      event: 'F',
      properties: { a: 1, b: 2 },
      context: { ip: 'y' },
      own: true,
    });
  });

  it('gets a whole map instead of that of --json, and words in it', async () => {
    const words = ['--json', '{"traits":{"a":1}}', '--traits', '{"b":2}', '-t', 'c=3'];
    expect(await inputOf(words, { type: 'identify' })).toEqual({ type: 'identify', traits: { b: 2, c: 3 } });
  });

  it('gets one map from a file and another from standard input', async () => {
    const words = ['--properties', '@props.json', '--context-json', '@-'];
    const given = { type: 'track', stdin: '{"ip":"x"}', files: { 'props.json': '\ufeff{"a":1}' } } as const;
    expect(await inputOf(words, given)).toMatchObject({ properties: { a: 1 }, context: { ip: 'x' } });
  });

  it.each([
    [['a=1', '{"a":2}'], { a: 2 }],
    [['{"a":2}', 'a=1'], { a: 1 }],
    [['a.x=1', ' {"a":{"y":2}}'], { a: { x: 1, y: 2 } }],
    [['{"a":{"y":2}}', 'a.x=1'], { a: { x: 1, y: 2 } }],
    [['{"a":1}', '{"b":2}', 'c=3', '{"a":[4]}'], { a: [4], b: 2, c: 3 }],
  ])('gets words and whole contexts in any order, and the last one wins: %j', async (given, context) => {
    const words = given.flatMap((word) => ['--context', word]);
    const json = ['--json', '{"type":"page","context":{"ip":"x"}}'];
    expect(await inputOf([...json, ...words], { type: 'page' })).toHaveProperty('context', context);
    const whole = await inputOf([...words, '--context-json', '{"ip":"y"}'], { type: 'page' });
    expect(whole).toHaveProperty('context', { ip: 'y', ...context });
  });

  it('gets an overridden id in the spelling of the wire format', async () => {
    const json = '{"type":"alias","Previous ID":"old","User ID":"new"}';
    expect(await inputOf(['--json', json, '--user-id', 'u', '--previous-id', 'p'])).toEqual({
      type: 'alias',
      'Previous ID': 'p',
      'User ID': 'u',
      userId: 'u',
      previousId: 'p',
    });
  });
});

describe('an invalid message', () => {
  it.each([
    [['--properties', 'null'], 'Expected `--properties` to be a JSON object, got null', undefined],
    [['--context', '{"a":'], 'The text ends inside the object', '--context'],
    [['--context-json', '{"a":'], 'The text ends inside the object', '--context-json'],
    [
      ['--json', '{"a":1e999}'],
      'Expected a number that JavaScript can hold at `a`, got 1e999, which would become Infinity',
      '--json',
    ],
    [['--properties', '@twice.json'], 'Expected each key once, got `a` twice', 'twice.json'],
    [
      ['--json', '@-', '--properties', '@-'],
      'Standard input can be read only once, but is needed for both `--json` and `--properties`',
      undefined,
    ],
  ])('of %j is reported with the problem and its file', async (words, message, file) => {
    const given = { type: 'track', stdin: '{}', files: { 'twice.json': '{"a":1,"a":2}' } } as const;
    const failure = await failureOf(words, given);
    expect(failure.message).toContain(message);
    expect(failure.file).toBe(file);
    expect(failure.hint).toEqual(expect.any(String));
  });
});

describe('the flags of a type', () => {
  it('are those of its fields', () => {
    expect(() => flagsOf(['--group-id', 'g'], 'track')).toThrow("unknown option '--group-id'");
    expect(flagsOf(['--group-id', 'g', '-t', 'a=1'], 'group')).toEqual({ groupId: 'g', trait: ['a=1'] });
  });
});

it('stdinFlags lists the flags that read standard input', () => {
  const flags = { json: '@-', properties: '@file', traits: '@-', userId: '@-' };
  expect(stdinFlags(flags)).toEqual(['--json', '--traits']);
});
