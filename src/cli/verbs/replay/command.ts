import { InvalidArgumentError, Option, type Command } from 'commander';
import { EXACT_FORMATS } from '../../../replay/reading/replay-entry.ts';
import type { Define } from '../../command.ts';
import type { ExitCode } from '../../exit-code.ts';
import { addPreviewFlags } from '../../flags/delivery/preview-flags.ts';
import type { ReplayOptions } from './options.ts';
import { addWhereToFlags } from '../../flags/delivery/where-to.ts';
import { withReports, type Reports } from '../../print/reports.ts';
import { collect, collectGiven, given, timeFrom } from '../../flags/flag-values.ts';
import { expandUrl } from '../../flags/short-url.ts';

const EXAMPLES = `Examples:
  $ hooks replay fixtures/*.json --loopback
  $ hooks replay events.ndjson.gz --url http://localhost:3000/webhook
  $ hooks replay captures/*.json --url http://localhost:3000/webhook --exact
  $ hooks replay day.ndjson --rate 100/s --filter type=track,event=Signup
  $ hooks replay day.ndjson --resume --failed failed.ndjson --report replay.xml
  $ hooks replay day.ndjson --url http://localhost:8787/webhook \\
      --compare http://localhost:3000/webhook
  $ zcat day.gz | hooks replay - --endpoint http://localhost:3000 --write-key K
  $ hooks replay day.ndjson --load 50/s --for 2s --loop --slo 'p99<2s,errors<1%'
`;

const DETAILS = `
Reads one message, an array of them, {"batch":[…]}, NDJSON or captures, gzipped
or not, recognized by content. A file named - is standard input. A malformed
message is reported with its file and line, and does not stop the rest. With
--exact a file is one request with exactly its bytes; .ndjson and .jsonl files
hold one request per line. Captures are sent with their recorded headers:
without a secret also with their signature, with one they are signed again.
With --plan, a message that violates the plan is not sent: it counts as invalid.

With --compare, each message goes once to two receivers, and the differences in
their responses are printed by kind. The first 20 messages go twice to the old
one, to learn what is noise. Effects happen in both places; both get the same
Idempotency-Key. Exits with 1 if there is a difference.

The examples above without a destination send to HOOKS_URL or to the webhooks of
the config. Exits with 0 if every message was delivered, with 1 if one was not,
and with 2 if the replay could not run or found no message. After Ctrl-C (130)
it prints a summary; the same command with --resume sends the rest, and reports
on all messages. Unsent messages are at the end of the file of --failed until
the replay is resumed. --resume does not repeat a finished replay.

--load sends without waiting for responses, in a shape: 200/s, 50..500/s,
30s:50/s,1m:200/s, '50..500/s:step 50 each 10s', 'burst 1000 each 30s',
'sine 50..200/s period 60s', or max to find the highest rate that holds --slo.
Latency counts from the time at which a message was due. See hooks help load.
`;

const TIMESTAMPS = ['keep', 'now', 'shift'] as const;

/** Makes an option that accepts only these choices. The first one is the default. */
function choice(flags: string, summary: string, choices: readonly [string, ...string[]]): Option {
  return new Option(flags, summary).choices(choices).default(choices[0]);
}

export const defineReplay: Define = (command, { io, exit }) => {
  command
    .argument('<files...>', 'read these files, globs or - (standard input)', collectGiven)
    .optionsGroup('What to send, and when:')
    .option('--rate <n/s>', 'limit messages per second (100/s, 30/m)')
    .addOption(choice('--order <order>', 'keep the order of each user, or none', ['user', 'none']))
    .option('--speed <factor>', 'keep the recorded gaps: 1x as recorded, 10x faster')
    .addOption(choice('--timestamps <how>', 'keep, set to now, or shift the first to now', TIMESTAMPS))
    .addOption(choice('--message-ids <how>', 'keep them, or make new ones', ['keep', 'new']))
    .option('--filter <path=value,…>', 'select messages with these values, or others with !=', collect)
    .option('--offset <n>', 'skip the first n messages')
    .option('--limit <n>', 'send at most n messages')
    .option('--exact', "send the file's bytes unchanged")
    .addOption(
      new Option('--format <format>', 'with --exact: a file is one body, or one per line').choices(
        EXACT_FORMATS,
      ),
    )
    .option('--strict', 'reject fields that the type does not have')
    .option('--plan <path>', 'send only messages that follow this plan (see hooks plan)', given)
    .option('--fail-fast', 'stop at the first message that is not delivered')
    .option('--give-up-after <time>', 'stop after this long without a response (CI=true: 30s)', timeFrom(1))
    .option('--resume', 'continue an interrupted replay of the same files')
    .option('--again', 'continue like --resume, but repeat a finished replay')
    .option('-y, --yes', 'send to a public host without asking (--load, --compare)')
    .optionsGroup('Reports:')
    .option('--report <file>', 'write a JUnit (.xml) or JSON (.json) report')
    .option('--failed <file>', 'write undelivered messages there, to replay again', given)
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS);
  addLoadFlags(command);
  addCompareFlags(command);
  addWhereToFlags(command);
  addPreviewFlags(command);
  const loadOf = async (files: readonly string[], options: ReplayOptions): Promise<ExitCode> => {
    const { runLoad } = await import('./load/run-load.ts');
    return runLoad(files, options, { io, isGiven: (name) => command.getOptionValueSource(name) === 'cli' });
  };
  command.action(async (files: readonly string[]) => {
    const options = command.optsWithGlobals<ReplayOptions>();
    if (options.dryRun || options.curl) removeResultFiles(options);
    if (options.load !== undefined) return exit(await loadOf(files, options));
    const { report, failed, compare } = options;
    const reported = { report, suite: 'hooks replay', inputs: [...files, failed] };
    const run = async (reports: Reports): Promise<ExitCode> => {
      if (compare !== undefined) {
        const { compareReceivers } = await import('./compare/run.ts');
        return compareReceivers(files, { ...options, compare }, { io, reports });
      }
      const { replay } = await import('./replay.ts');
      return replay(files, options, { io, github: reports.github });
    };
    exit(await withReports(reported, io, run));
  });
};

/** Removes the result files from the options of a preview, which must not replace those of an earlier replay. */
function removeResultFiles(options: Partial<Record<'report' | 'failed', string>>): void {
  delete options.report;
  delete options.failed;
}

/** Maximum of `--workers`: more threads than a machine has processors do not send faster. */
const MAX_WORKERS = 64;

function workersOf(text: string): number {
  const workers = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (workers >= 1 && workers <= MAX_WORKERS) return workers;
  throw new InvalidArgumentError(`1 to ${MAX_WORKERS}`);
}

function addLoadFlags(command: Command): void {
  command
    .optionsGroup('Load:')
    .option('--load <shape>', 'send at this rate, and measure the receiver (200/s, max)', given)
    .option('--for <time>', 'send the load for this long (30s, 10m)', timeFrom(1))
    .option('--duration <time>', 'same as --for', timeFrom(1))
    .option('--warmup <time>', 'send this long before counting', timeFrom(0))
    .option('--loop', 'repeat the files, as new messages without --exact')
    .option('--slo <objectives>', "exit with 1 unless these hold ('p99<250ms,errors<0.1%')", given)
    .option('--received <from>', 'read how many messages arrived from a URL or command', given)
    .option('--workers <n>', 'send from this many threads, for higher rates', workersOf);
}

function addCompareFlags(command: Command): void {
  command
    .optionsGroup('Compare with another receiver:')
    .option('--compare <url>', 'send to this old receiver too, and compare responses', expandUrl)
    .option('--ignore <path>', "ignore '$.items[*].id' or 'header etag' (repeat)", collectGiven)
    .option('--state <command>', 'compare what this shell command prints at the end', given)
    .option('--old-state <command>', 'print the state of the old receiver', given);
}
