import { describe, expect, it } from 'vitest';
import { expectRejected } from './expect-rejected.ts';
import { hooks } from './run-in-process.ts';

describe('a slip of someone who does not know the command line yet', () => {
  it.each([
    ['track --event Signup', 'Unknown command `track`', 'hooks send track'],
    ['identify', 'Unknown command `identify`', 'hooks send identify'],
    ['receive', 'Unknown command `receive`', 'hooks listen'],
    ['send track --prop plan=pro', 'Unknown option `--prop`', '--property'],
    ['send track --user u1', 'Unknown option `--user`', '--user-id'],
    ['send track -e Signup', 'Unknown option `-e`', '--event'],
    ['send -d {}', 'Unknown option `-d`', '--json or --properties'],
    ['test 3000 -k', 'Unknown option `-k`', '--ca'],
    ['replay x --secert=s3cret', 'Unknown option `--secert=…`', '--secret'],
    ['send track --evnt Signup', 'Unknown option `--evnt`', '--event'],
    ['sned', 'Unknown command `sned`', 'send'],
    ['sned --help', 'Unknown command `sned`', 'send'],
  ])('%s gets a suggestion', async (line, sentence, meant) => {
    await expectRejected(line.split(' '), `error: ${sentence}\nhint:  did you mean ${meant}?\n`);
  });

  it.each([
    ['nonesuch-at-all', 'hooks --help to see its commands'],
    ['queue nonesuch-at-all', 'hooks queue --help to see its commands'],
    ['queue list --nonesuch-at-all', 'hooks queue list --help to see its flags'],
  ])('%s gets the help that lists what there is', async (line, help) => {
    await expectRejected(line.split(' '), `hint:  run ${help}`);
  });

  it.each([
    ['-V', '--version'],
    ['version', '--version'],
    ['--help send', 'send --help'],
    ['-h queue list', 'queue list --help'],
    ['audience', 'audience --help'],
    ['queue', 'queue --help'],
  ])('%s does what %s does', async (line, meant) => {
    const { code, stdout } = await hooks(line.split(' '));
    expect({ code, stdout }).toEqual({ code: 0, stdout: (await hooks(meant.split(' '))).stdout });
  });

  it.each([
    ['replay', 'files: read these files, globs or - (standard input); or run hooks replay --help'],
    ['completion', 'shell: print the script of this shell; or run hooks completion --help'],
    [
      'sign a b',
      'run hooks sign once for each file, and put quotes around a name with spaces; or run hooks sign --help',
    ],
    ['doctor foo', 'leave it out, or put quotes around a value with spaces; or run hooks doctor --help'],
  ])('%s gets a hint about its argument', async (line, hint) => {
    await expectRejected(line.split(' '), `hint:  ${hint}`);
  });

  it('expect without -- before COMMAND gets a hint about it', async () => {
    await expectRejected(
      'expect --count 1 hooks send track --event Signup'.split(' '),
      'hint:  write -- before the command: hooks expect … -- hooks …',
    );
    await expectRejected('expect --cuont 1 -- hooks send'.split(' '), 'did you mean --count?');
  });

  it('help for an unknown topic lists the topics', async () => {
    await expectRejected(
      ['help', 'nonesuch'],
      /^error: Unknown command `nonesuch`\nhint: {2}run hooks --help to see the commands; the topics are audiences, [^]*troubleshooting\n$/,
    );
    expect((await hooks(['nonesuch'])).stderr).not.toContain('topics');
  });

  it('constructor, a property of every object, is an unknown command', async () => {
    await expectRejected(['constructor'], '--help');
  });
});
