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
