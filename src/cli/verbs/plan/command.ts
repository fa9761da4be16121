import type { Command } from 'commander';
import { HELP, type Define } from '../../command.ts';
import { countFrom, given } from '../../flags/flag-values.ts';
import { withReports } from '../../print/reports.ts';
import type { LintFlags } from './options.ts';

const EXAMPLES = `Examples:
  $ hooks plan lint plan.json events.ndjson
  $ hooks plan lint schemas/ 'captures/*.json' --report plan.sarif
`;

const DETAILS = `
PLAN is a file or a folder, recognized by its content: the rules of a Segment
tracking plan as its Public API or its older Config API returns them, a plan
that Typewriter saved, a folder with one JSON Schema for each event
(order_completed.v2.json), or an object of event name to JSON Schema. Schemas
are draft 07 or 2020-12; a remote $ref is never fetched.

FILES are read as hooks replay reads them: a message, an array, {"batch":[…]},
NDJSON or captures, gzipped or not; - is standard input.
`;

const LINT_DETAILS = `
A rule is chosen by type and event, and by the version that a message names in
context.protocols.event_version (default: the oldest). A property that the rule
does not list is a violation, unless the rule allows additionalProperties. A
message that a tracking API would discard is one too.

Exits with 0 if every message follows the plan, with 1 if not, and with 2 if the
plan or a file cannot be read.
`;

export const definePlan: Define = (command, { io, exit }) => {
  command.enablePositionalOptions().addHelpText('before', EXAMPLES).addHelpText('after', DETAILS);
  const lint = subcommand(command, 'lint <plan> <files...>', 'check messages against a tracking plan')
    .addHelpText('after', LINT_DETAILS)
    .option('--allow-unplanned', 'accept events and properties that the plan does not have')
    .option('--max-violations <n>', 'exit with 0 for at most n violations (default: 0)', countFrom(0))
    .option('--report <file>', 'write a SARIF (.sarif), JUnit (.xml) or JSON (.json) report', given);
  lint.action(async (plan: string, files: readonly string[]) => {
    const options = lint.optsWithGlobals<LintFlags>();
    const { lintFiles } = await import('./run.ts');
    const reported = { report: options.report, suite: 'hooks plan lint', inputs: files };
    exit(await withReports(reported, io, ({ github }) => lintFiles(plan, files, { options, io, github })));
  });
};

function subcommand(command: Command, usage: string, summary: string): Command {
  return command.command(usage).summary(summary).configureHelp(HELP).addHelpText('before', EXAMPLES);
}
