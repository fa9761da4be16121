import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectRejected } from '../cli/expect-rejected.ts';
import { hooks, type HooksOptions } from '../cli/run-in-process.ts';
import { receiving, track } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** The word `URL` stands for a receiver that must not get a request. */
interface Case {
  readonly args: readonly string[];
  readonly options?: HooksOptions;
  readonly files?: Readonly<Record<string, string>>;
  readonly sentence: string;
  readonly hint: string;
}

const GOOD = ['send', '--json', track(1)];
const TO = ['--url', 'URL'];
const NESTED = `{"type":"track","userId":"u","event":"e","properties":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
const LARGE = ' '.repeat(1024 * 1024 + 1);
const TOO_LARGE_HINT = 'send less: a message may have 32 KiB at most';
const JSON_HINT = 'give --json JSON, @file or @- for standard input';
const EMPTY_SECRET_HINT = 'give the secret of the other side, or leave it out to send unsigned';
const REPLAY = ['replay', 'day.ndjson', ...TO];
const DAY = { 'day.ndjson': `${track(1)}\n` };

const WHERE_TO: Readonly<Record<string, Case>> = {
  'no URL at all': {
    args: ['send', 'track', '--event', 'Signup'],
    sentence: 'There is no destination to send to',
    hint: 'give --url URL, set HOOKS_URL, put `webhooks` in the config (.hooksrc.yaml; hooks init writes one), or try --loopback',
  },
  'six URLs': {
    args: [...GOOD, ...TO, ...TO, ...TO, ...TO, ...TO, ...TO],
    sentence: 'Expected `--url` to have at most 5 webhooks, got 6',
    hint: 'spread them over several destinations, or send in several runs',
  },
  'six URLs in a variable': {
    args: GOOD,
    options: { env: { HOOKS_URL: 'http://a http://b http://c http://d http://e http://f' } },
    sentence: 'Expected `HOOKS_URL` to have at most 5 webhooks, got 6',
    hint: 'spread them over several destinations, or send in several runs',
  },
  'a URL with another scheme': {
    args: [...GOOD, '--url', 'ftp://a.example/hook'],
    sentence: 'Expected `--url` to be a URL with http or https, got ftp://a.example/hook',
    hint: 'write it in full: https://host/path',
  },
  'a header with a line break': {
    args: [...GOOD, ...TO, '--header', 'X-Env: a\r\nX-Other: b'],
    sentence: '`--header` X-Env holds a line break',
    hint: 'give one --header for each header; a value read from a file often ends with a line break',
  },
  'a header that only hooks sets': {
    args: [...GOOD, ...TO, '--header', 'X-Signature: 00'],
    sentence:
      'Header `X-Signature` cannot be set: it is computed from the body; set a shared secret to send it',
    hint: 'remove `X-Signature`',
  },
  'an empty secret': {
    args: [...GOOD, ...TO, '--secret', ''],
    sentence: 'The secret is empty (from --secret)',
    hint: EMPTY_SECRET_HINT,
  },
  'an empty secret in the environment': {
    args: [...GOOD, ...TO],
    options: { env: { HOOKS_SECRET: '' } },
    sentence: '`HOOKS_SECRET` is an empty secret',
    hint: 'give a secret, or leave it out to send unsigned',
  },
  'a secret file that is a folder': {
    args: [...GOOD, ...TO, '--secret-file', '.'],
    sentence: '.: the secret cannot be read: it is a folder (--secret-file)',
    hint: 'name a file that you may read, or - for standard input',
  },
  'an empty secret file': {
    args: [...GOOD, ...TO, '--secret-file', 'empty'],
    files: { empty: '\n' },
    sentence: 'The secret is empty (from --secret-file empty)',
    hint: EMPTY_SECRET_HINT,
  },
  'a secret file that is too large': {
    args: [...GOOD, ...TO, '--secret-file', 'large'],
    files: { large: LARGE },
    sentence: 'large: the secret is larger than 64 KiB (--secret-file)',
    hint: 'name a file that contains only the secret',
  },
  'a secret without end': {
    args: [...GOOD, ...TO, '--secret-file', '-'],
    options: { stdin: LARGE, keepsStdinOpen: true },
    sentence: '<stdin>: the secret is larger than 64 KiB (--secret-file)',
    hint: 'name a file that contains only the secret',
  },
  'standard input for the message and the secret': {
    args: ['send', '--json', '@-', ...TO, '--secret-file', '-'],
    options: { stdin: track(1) },
    sentence: 'Standard input can be read only once, but is needed for both `--json` and `--secret-file`',
    hint: 'put one of them in a file',
  },
  'standard input for the messages and the secret': {
    args: ['replay', '-', ...TO, '--secret-file', '-'],
    options: { stdin: track(1) },
    sentence:
      'Standard input can be read only once, but is needed for both `the input -` and `--secret-file`',
    hint: 'put one of them in a file',
  },
  'a variable of the config that is not set': {
    args: [...GOOD, ...TO],
    files: { '.hooksrc.yaml': 'sharedSecret: ${NO_SUCH_NAME}' },
    sentence:
      '`sharedSecret` needs the environment variable NO_SUCH_NAME, which is not set (from .hooksrc.yaml)',
    hint: 'set it: export NO_SUCH_NAME=…',
  },
  'both --loopback and --url': {
    args: [...GOOD, ...TO, '--loopback'],
    sentence: '`--loopback` and `--url` cannot be given together',
    hint: 'leave one of them out',
  },
};

const CONFIG_HINT = 'leave it out to get its default';

const CONFIG: Readonly<Record<string, Case>> = {
  'a config file that is not there': {
    args: ['config', '-c', 'none.yaml'],
    sentence: 'The config file none.yaml does not exist',
    hint: 'check its path; hooks init FILE writes one, --no-config runs without one',
  },
  'JSON with a comma too many': {
    args: ['config', '-c', 'a.json'],
    files: { 'a.json': '{\n"webhooks": [],\n}' },
    sentence: 'a.json:2: not valid JSON: Expected double-quoted property name',
    hint: 'remove the comma before the closing bracket: the file is valid then',
  },
  'YAML with a list that does not end': {
    args: ['config'],
    files: { '.hooksrc': 'webhooks: [https://a.example' },
    sentence: '.hooksrc:1: not valid YAML: unexpected end of the stream within a flow collection',
    hint: 'put the missing ] at the end of the line: the file is valid then',
  },
  'code that throws': {
    args: ['config', '-c', 'a.mjs'],
    files: { 'a.mjs': '\nthrow new Error("boom")' },
    sentence: 'a.mjs:2: the config cannot be used: boom',
    hint: 'fix it there, or pass --no-config to run without it',
  },
  'code without a default export': {
    args: ['config', '-c', 'a.mjs'],
    files: { 'a.mjs': 'export const webhooks = []' },
    sentence: 'a.mjs: the config cannot be used: it has no default export: write export default { … }',
    hint: 'fix it there, or pass --no-config to run without it',
  },
  'a list': {
    args: ['config', '-c', 'a.json'],
    files: { 'a.json': '[]' },
    sentence: 'Expected a.json to hold an object, got a list',
    hint: 'write settings by name: webhooks: [https://host/path]',
  },
  'a duration out of its range': {
    args: [...GOOD, ...TO, '--timeout', '31s'],
    sentence: 'Expected `--timeout` to be from 1ms to 30s, got 31s',
    hint: CONFIG_HINT,
  },
  'a webhook without a URL': {
    args: ['config', '-c', 'a.yaml'],
    files: { 'a.yaml': 'webhooks: [{}]' },
    sentence: 'Expected `webhooks[0].url` to be a URL, got nothing (from a.yaml)',
    hint: 'write it in full: https://host/path',
  },
  'an unknown choice': {
    args: ['config', '-c', 'a.yaml'],
    files: { 'a.yaml': 'delivery: { strategy: all }' },
    sentence: 'Expected `delivery.strategy` to be fallback or broadcast, got all (from a.yaml)',
    hint: CONFIG_HINT,
  },
};

const COMMAND_LINE: Readonly<Record<string, Case>> = {
  'a global flag with a value that is not one of the choices': {
    args: ['config', '-o', 'xml'],
    sentence: 'Expected `--output` to be text or json, got xml',
    hint: 'run hooks --help to see its flags',
  },
  'a value without quotes': {
    args: ['send', 'track', '--event', 'Order', 'Completed', ...TO],
    sentence: 'Expected no arguments, got 1',
    hint: 'put quotes around a value with spaces; or run hooks send track --help to see its flags',
  },
  'flags that npm took for itself': {
    args: ['send', 'track', 'Signup', 'u1'],
    options: {
      env: { npm_lifecycle_event: 'webhook', npm_config_event: 'true', npm_config_user_id: 'true' },
    },
    sentence: 'Expected no arguments, got 2',
    hint: 'npm took --event, --user-id for itself: put -- after the name of the script: npm run webhook -- …',
  },
  'an id that looks like a flag': {
    args: ['queue', 'show', '-sMINwqTb3Lo-000000'],
    sentence: 'Unknown option `-s…`',
    hint: 'put an id that starts with - after --: hooks queue show -- ID; or run hooks queue show --help to see its flags',
  },
  'an unknown flag': {
    args: ['replay', 'x', '--frobnicate'],
    sentence: 'Unknown option `--frobnicate`',
    hint: 'run hooks replay --help to see its flags',
  },
  'a flag of another type': {
    args: ['send', 'identify', '--user-id', 'u1', '--event', 'Signup', ...TO],
    sentence: '`--event` is for track and group, not for identify',
    hint: 'leave it out; hooks send identify --help shows the flags of identify',
  },
  'a mistyped type': {
    args: ['send', 'trak', '--event', 'Signup', ...TO],
    sentence: 'Expected a message type after `hooks send`, got "trak"',
    hint: 'did you mean track?',
  },
  'no type': {
    args: ['send', ...TO],
    sentence: 'Expected a message type after `hooks send`, got nothing',
    hint: 'give one of page, screen, identify, track, alias, group, delete; or --json with a message that has a type',
  },
  'a number that is not one': {
    args: [...REPLAY, '--limit', 'x'],
    files: DAY,
    sentence: 'Expected `--limit` to be a whole number from 1, got x',
    hint: 'give for example --limit 100',
  },
  'a rate without its unit': {
    args: [...REPLAY, '--rate', '100'],
    files: DAY,
    sentence: 'Expected `--rate` to be messages per second, minute or hour, got 100',
    hint: 'write 100/s, 30/m or 500/h',
  },
  'a value that is not one of the choices': {
    args: [...REPLAY, '--order', 'usr'],
    files: DAY,
    sentence: 'Expected `--order` to be user or none, got usr',
    hint: 'did you mean user?',
  },
};

const MESSAGES: Readonly<Record<string, Case>> = {
  'a file that is not there': {
    args: ['send', '--json', '@missing.json', ...TO],
    sentence: 'missing.json: cannot be read: there is no such file (--json)',
    hint: JSON_HINT,
  },
  'a folder': {
    args: ['send', '--json', '@.', ...TO],
    sentence: '.: cannot be read: it is a folder (--json)',
    hint: JSON_HINT,
  },
  'an empty file': {
    args: ['send', '--json', '@empty', ...TO],
    files: { empty: '' },
    sentence: 'empty:1:1: expected JSON, got an empty text',
    hint: 'is it the right file, or did the program that wrote it fail?',
  },
  'a file that is far too large': {
    args: ['send', '--json', '@large', ...TO],
    files: { large: LARGE },
    sentence: 'large: is larger than 1024 KiB (--json)',
    hint: TOO_LARGE_HINT,
  },
  'input without end': {
    args: [...GOOD, '--properties', '@-', ...TO],
    options: { stdin: LARGE, keepsStdinOpen: true },
    sentence: '<stdin>: is larger than 1024 KiB (--properties)',
    hint: TOO_LARGE_HINT,
  },
  'JSON that is cut off': {
    args: ['send', '--json', '@cut.json', ...TO],
    files: { 'cut.json': '{"type":"track",\n "properties":{"a":[1' },
    sentence: 'cut.json:2:22: the text ends inside the array `properties.a`',
    hint: 'is it cut off? `]}}` is missing',
  },
  'a number that JavaScript cannot hold': {
    args: ['send', '--json', '{"type":"track","event":"e","properties":{"id":12345678901234567890}}', ...TO],
    sentence:
      '--json: expected a number that JavaScript can hold at `properties.id`, got 12345678901234567890, which would become 12345678901234567000',
    hint: 'send it as a string: "12345678901234567890"',
  },
  '100,000 levels of nesting': {
    args: ['send', '--json', '@-', ...TO],
    options: { stdin: NESTED },
    sentence: '<stdin>:1:566: expected at most 512 levels of nesting, got more',
    hint: 'flatten it',
  },
  'a track without an event': {
    args: ['send', 'track', '--user-id', 'u1', ...TO],
    sentence: 'Expected `event` to be a non-empty string, got nothing (track)',
    hint: "give it with --event 'Order Completed'",
  },
  'an alias without a previous id': {
    args: ['send', 'alias', '--user-id', 'u1', ...TO],
    sentence: 'Expected `previousId` (or `Previous ID`) to be a non-empty string, got nothing (alias)',
    hint: 'give it with --previous-id ID',
  },
  'a timestamp without a zone': {
    args: [...GOOD, '--timestamp', '2026-11-20T21:10:05', ...TO],
    sentence: 'Expected `timestamp` to be RFC 3339 with a zone, got "2026-11-20T21:10:05" (track "Signup")',
    hint: 'add its zone or offset: 2026-11-20T21:10:05.123Z, or +02:00 in place of the Z',
  },
  'a message of another type than the command line names': {
    args: ['send', 'page', '--json', track(1), ...TO],
    sentence: 'Expected `--json` to be a page message, got type "track"',
    hint: 'run hooks send --json, which takes the type from the message',
  },
  'a list of messages': {
    args: ['send', '--json', `[${track(1)}]`, ...TO],
    sentence: 'Expected `--json` to be a JSON object, got a list',
    hint: 'use hooks replay for a list: send takes one message',
  },
  'an @ without a file': {
    args: [...GOOD, '--properties', '@', ...TO],
    sentence: 'Expected `--properties` to name a file after the @, got nothing',
    hint: 'give --properties JSON, @file or @- for standard input',
  },
  'an empty user id': {
    args: [...GOOD, '--user-id', '', ...TO],
    sentence: 'Expected `--user-id` to be a non-empty text, got an empty text',
    hint: 'run hooks send --help to see its flags',
  },
  'properties that are a list': {
    args: ['send', '--json', '{"type":"track","event":"e","properties":[]}', ...TO],
    sentence: 'Expected `properties` to be an object, got an array (track "e")',
    hint: 'write it as {"key":"value"}, or leave it out',
  },
  'an integration without a value': {
    args: [...GOOD, '--integration', 'All', ...TO],
    sentence: 'Expected `--integration` to be key=value, got "All"',
    hint: 'give for example --integration All=false --integration Webhooks=true',
  },
  'a property without a value': {
    args: [...GOOD, '-p', 'plan', ...TO],
    sentence: 'Expected `--property` to be key=value, got "plan"',
    hint: `give for example --property plan=pro, --property cart.total=12.5, --property zip==01234 (text), --property tags:='["a"]' (JSON)`,
  },
};

const EMPTY_PATHS: Readonly<Record<string, Case>> = Object.fromEntries(
  (
    [
      [['replay', '', ...TO], 'files'],
      [['sign', '--secret', 's', ''], 'file'],
      [['verify', '--secret', 's', ''], 'files'],
      [['sign', '--secret-file', ''], '--secret-file'],
      [['replay', '-', '--failed', '', ...TO], '--failed'],
      [['test', 'URL', '--capture', ''], '--capture'],
    ] as const
  ).map(([args, name]): [string, Case] => [
    args.join(' '),
    {
      args,
      sentence: `Expected \`${name}\` to be a non-empty text, got an empty text`,
      hint: `run hooks ${args[0]} --help to see its flags`,
    },
  ]),
);

const FILES: Readonly<Record<string, Case>> = {
  'a body that is not there': {
    args: ['sign', '--secret', 's', 'missing.json'],
    sentence: 'Cannot read missing.json: there is no such file',
    hint: 'give the path of a file, or the bytes on standard input: < body.json',
  },
  'a pattern that matches nothing': {
    args: ['replay', 'none-*.json', ...TO],
    sentence: 'No file matches none-*.json',
    hint: 'check the pattern and the current folder',
  },
  'a file that is not there, after one that is': {
    args: ['replay', 'day.ndjson', 'missing.ndjson', ...TO],
    files: DAY,
    sentence: 'missing.ndjson: no such file',
    hint: 'check the name and the current folder',
  },
  'an empty file': {
    args: ['replay', 'empty', ...TO],
    files: { empty: '\n' },
    sentence: 'empty: nothing to read: there is no message in it',
    hint: 'expected a message, an array of them, {"batch":[…]}, NDJSON or a capture',
  },
  'a folder': {
    args: ['replay', '.', ...TO],
    sentence: '.: expected a file, got a folder',
    hint: "name its files: './*.json'",
  },
  'a report in a folder that is not there': {
    args: [...REPLAY, '--report', 'none/report.xml'],
    files: DAY,
    sentence: 'none/report.xml: cannot be written: there is no such folder',
    hint: 'make the folder first, or name a file elsewhere',
  },
  'a report of an unknown format': {
    args: [...REPLAY, '--report', 'report.txt'],
    files: DAY,
    sentence: 'Expected `--report` to end in .xml or .json, got report.txt',
    hint: 'name it FILE.xml for JUnit, FILE.json for JSON',
  },
  'a --failed file that is a folder': {
    args: [...REPLAY, '--failed', '.', '--report', 'report.xml'],
    files: { ...DAY, 'report.xml': '' },
    sentence: '.: cannot be written: it is a folder',
    hint: 'name a file in it, or name a file elsewhere',
  },
  'a --failed file that is the input': {
    args: [...REPLAY, '--failed', './day.ndjson'],
    files: DAY,
    sentence: './day.ndjson: cannot be written: it is also an input or another output of this command',
    hint: 'name another file in --failed',
  },
  'a report that is the input': {
    args: ['replay', 'day.json', ...TO, '--report', 'day.json'],
    files: { 'day.json': track(1) },
    sentence: 'day.json: cannot be written: it is also an input or another output of this command',
    hint: 'name another file in --report',
  },
  'a report that is the plan of the command': {
    args: ['plan', 'lint', 'plan.json', 'day.ndjson', '--report', './plan.json'],
    files: { ...DAY, 'plan.json': '{"Signup":{"type":"object"}}' },
    sentence: './plan.json: cannot be written: it is also an input or another output of this command',
    hint: 'name another file in --report',
  },
  'rules that are neither a list nor those of the Config API': {
    args: ['plan', 'lint', 'plan.json', 'day.ndjson'],
    files: { ...DAY, 'plan.json': '{"rules":{"Signup":{"type":"object"}}}' },
    sentence: 'plan.json: expected a tracking plan, got one without a rule',
    hint: 'name a file with rules, as GET /tracking-plans/ID/rules returns them, or a folder with a JSON Schema for each event',
  },
  'a plan without its rules': {
    args: ['plan', 'lint', 'plan.json', 'day.ndjson'],
    files: { ...DAY, 'plan.json': '{"data":{"trackingPlan":{"id":"x"}}}' },
    sentence: 'plan.json: expected a tracking plan, got one without a rule',
    hint: 'name a file with rules, as GET /tracking-plans/ID/rules returns them, or a folder with a JSON Schema for each event',
  },
  'a folder of a plan that is a file': {
    args: ['plan', 'convert', 'plan.json', '--out', 'day.ndjson'],
    files: { ...DAY, 'plan.json': '{"Signup":{"type":"object"}}' },
    sentence: 'day.ndjson: cannot be written: it exists and is not a folder',
    hint: 'check its path, or name a file elsewhere',
  },
  'one file for the report and for what failed': {
    args: [...REPLAY, '--failed', 'out.json', '--report', './out.json'],
    files: DAY,
    sentence: './out.json: cannot be written: it is also an input or another output of this command',
    hint: 'name another file in --report',
  },
};

describe.each(Object.entries({ WHERE_TO, CONFIG, COMMAND_LINE, MESSAGES, EMPTY_PATHS, FILES }))(
  'hooks rejects before it sends anything: %s',
  (_name, cases) => {
    it.concurrent.each(Object.entries(cases))(
      '%s',
      async (_what, { args, options, files = {}, sentence, hint }) => {
        const to = await receiving();
        const cwd = temporaryFolder(files);
        const words = args.map((word) => (word === 'URL' ? to.url : word));
        const { code, stdout, stderr } = await hooks(words, { cwd, ...options });
        expect(stderr).toBe(`error: ${sentence}\nhint:  ${hint}\n`);
        expect([code, stdout]).toEqual([2, '']);
        expect(to.requests).toEqual([]);
        // No incomplete file is left behind.
        expect((await readdir(cwd)).toSorted()).toEqual(Object.keys(files).toSorted());
      },
    );
  },
);

it('finds the config of a parent folder and says which file is wrong', async () => {
  const cwd = temporaryFolder({ 'package.json': '{}', '.hooksrc.json': '{"delivery":{"timout":"5s"}}' });
  await mkdir(join(cwd, 'below'));
  await expectRejected(
    [...GOOD, '--loopback'],
    'error: Unknown setting `delivery.timout` (from ../.hooksrc.json)\nhint:  did you mean `delivery.timeout`?\n',
    { cwd: join(cwd, 'below') },
  );
});
