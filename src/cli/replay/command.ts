import { Option } from 'commander';
import type { Define } from '../command.ts';
import { addPreviewFlags } from '../flags/delivery/preview-flags.ts';
import type { ReplayOptions } from './options.ts';
import { addWhereToFlags } from '../flags/delivery/where-to.ts';
import { withFailureReport } from '../print/failure-report.ts';
import { collect, collectGiven, given } from '../flags/flag-values.ts';

const EXAMPLES = `Examples:
  $ hooks replay fixtures/*.json --loopback
  $ hooks replay events.ndjson.gz --url http://localhost:3000/webhook
  $ hooks replay captures/*.json --url http://localhost:3000/webhook --exact
  $ hooks replay day.ndjson --rate 100/s --filter type=track,event=Signup
  $ hooks replay day.ndjson --resume --failed failed.ndjson --report replay.xml
  $ zcat day.gz | hooks replay - --endpoint http://localhost:3000 --write-key K
`;

const DETAILS = `
Reads one message, an array of them, {"batch":[…]}, NDJSON or captures, told by
content, gzipped or not. A file named - is standard input. A malformed entry is
reported with its file and line, and does not stop the rest.

The examples above without a destination send to where HOOKS_URL or the config
says. Ends with 0 when all was delivered, 1 when something was not, 2 when it
could not be tried or there was nothing to read. After Ctrl-C (130) it says what
was delivered and what was not; --resume carries on from there, and says of the
whole what failed. What was unsent stands at the end of the file of --failed
until the replay is resumed. A finished replay is not sent again by --resume.
`;

export const defineReplay: Define = (command, { io, exit }) => {
  command
    .argument('<files...>', 'files, globs or - (standard input)', collectGiven)
    .optionsGroup('Which, when and how:')
    .option('--rate <n/s>', 'at most so many messages a second (100/s, 30/m)')
    .addOption(
      new Option('--order <order>', 'user: what one user did arrives in order; none: as it comes')
        .choices(['user', 'none'])
        .default('user'),
    )
    .option('--speed <factor>', 'keep the recorded gaps: 1x as recorded, 10x ten times as fast')
    .addOption(
      new Option('--timestamps <how>', 'keep them, set them to now, or shift them so that the first is now')
        .choices(['keep', 'now', 'shift'])
        .default('keep'),
    )
    .addOption(
      new Option('--message-ids <how>', 'keep them, or make new ones')
        .choices(['keep', 'new'])
        .default('keep'),
    )
    .option(
      '--filter <path=value,…>',
      'only messages that have these values; != for all others (repeat)',
      collect,
    )
    .option('--offset <n>', 'pass over the first n messages')
    .option('--limit <n>', 'take n messages at most')
    .option('--exact', "send the file's bytes as they are, whatever they say")
    .option('--strict', 'refuse fields that the type does not have')
    .option('--fail-fast', 'stop at the first that is not delivered')
    .option('--resume', 'carry on where an interrupted replay of the same files to the same place stopped')
    .option('--again', 'like --resume, but send a finished replay again')
    .optionsGroup('What is kept:')
    .option('--report <file>', 'write JUnit (.xml) or JSON (.json)')
    .option('--failed <file>', 'write what was not delivered there, as NDJSON to replay again', given)
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS);
  addWhereToFlags(command);
  addPreviewFlags(command);
  command.action(async (files: readonly string[]) => {
    const { replay } = await import('./replay.ts');
    const options = command.optsWithGlobals<ReplayOptions>();
    const { failed, dryRun, curl } = options;
    // What is only looked at leaves every report as it is.
    const report = dryRun || curl ? undefined : options.report;
    const inputs = failed === undefined ? files : [...files, failed];
    const reported = { report, suite: 'hooks replay', inputs };
    exit(await withFailureReport(reported, io, () => replay(files, options, io)));
  });
};
