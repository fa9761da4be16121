import { Option, type Command } from 'commander';
import { HELP, type Define } from '../../command.ts';
import { countFrom, given } from '../../flags/flag-values.ts';
import { withReports } from '../../print/reports.ts';
import type { ConvertFlags, DiffFlags, InferFlags, LintFlags } from './options.ts';

/** Examples in the help of each subcommand. The help of `hooks plan` prints all of them. */
const EXAMPLES = {
  infer: ["infer 'captures/*.json' > plan.json"],
  lint: ['lint plan.json events.ndjson', "lint schemas/ 'captures/*.json' --report plan.sarif"],
  diff: ['diff old.json new.json', 'diff old/ new/ --markdown >> "$GITHUB_STEP_SUMMARY"'],
  convert: ['convert plan.json --to folder --out plan', 'convert schemas/ --to segment > plan.json'],
  types: ['types plan.json > events.ts'],
  sample: [
    'sample plan.json > samples.ndjson',
    'sample plan.json | hooks replay - --url http://localhost:3000',
  ],
} as const;

const DETAILS = `
PLAN is a file or a folder, recognized by its content: the rules of a Segment
tracking plan as its Public API or its older Config API returns them, a plan
that Typewriter saved, a folder with one JSON Schema for each event
(order_completed.v2.json), a project of RudderStack's CLI, or an object of event
name to JSON Schema. Schemas are draft 07 or 2020-12; a remote $ref is never
fetched.
`;

const FILES = `
FILES are read as hooks replay reads them: a message, an array, {"batch":[…]},
NDJSON or captures, gzipped or not; - is standard input.
`;

const INFER_DETAILS = `
Writes the form of Segment's Public API. A property is required if each of at
least 20 messages has it. A text becomes a list of allowed values if few values
repeat, but never if it looks like a person's data. Review the plan: it says
what was sent, not what is right. Notes on stderr name events and properties
that differ only in their spelling, properties of several types, and properties
that look like a person's data. -v prints the number of messages of each rule.
`;

const LINT_DETAILS = `
A rule is chosen by type and event, and by the version that a message names in
context.protocols.event_version (default: the oldest). A property that the rule
does not list is a violation, unless the rule allows additionalProperties. A
message that a tracking API would discard is one too. --max-violations does not
accept lines that are no message.

Exits with 0 if every message follows the plan, with 1 if not, and with 2 if the
plan or a file cannot be read.
`;

const DIFF_DETAILS = `
A change is breaking if messages that follow the old plan may violate the new
one: an event or a property is gone, newly required, or allows fewer types or
values. Exits with 1 if a change is breaking.
`;

const CONVERT_DETAILS = `
--to segment writes the form of Segment's Public API. Its limit is 200 rules in
a request, so --out writes files with at most 200 rules each.
`;

const TYPES_DETAILS = `
Writes a type for each rule, the interface TrackEvents from events to their
properties, and two functions that type the track call of a client: plannedTrack
for @segment/analytics-node and hooks-cli, plannedBrowserTrack for
@segment/analytics-next. Names that a rule does not list are compile errors.
Needs the package json-schema-to-typescript next to hooks-cli.
`;

const SAMPLE_DETAILS = `
Prints one message a line (NDJSON) for each rule, with every property that the
rule lists. The same plan gives the same messages. Exits with 1 if no message
was found for a rule, which stderr names.
`;

export const definePlan: Define = (command, context) => {
  const { io, exit } = context;
  const all = Object.values(EXAMPLES).flat();
  command.enablePositionalOptions().addHelpText('before', examplesText(all)).addHelpText('after', DETAILS);
  const infer = subcommand(command, 'infer <files...>', 'write a first plan from messages').addHelpText(
    'after',
    FILES + INFER_DETAILS,
  );
  infer.action(async (files: readonly string[]) => {
    const { inferFromFiles } = await import('./infer.ts');
    exit(await inferFromFiles(files, infer.optsWithGlobals<InferFlags>(), io));
  });
  const lint = subcommand(command, 'lint <plan> <files...>', 'check messages against a tracking plan')
    .addHelpText('after', DETAILS + FILES + LINT_DETAILS)
    .option('--allow-unplanned', 'accept events and properties that the plan does not have')
    .option('--max-violations <n>', 'exit with 0 for at most n violations (default: 0)', countFrom(0))
    .option('--report <file>', 'write a SARIF (.sarif), JUnit (.xml) or JSON (.json) report', given);
  lint.action(async (plan: string, files: readonly string[]) => {
    const options = lint.optsWithGlobals<LintFlags>();
    const { lintFiles } = await import('./run.ts');
    const reported = { report: options.report, suite: 'hooks plan lint', inputs: [plan, ...files] };
    exit(await withReports(reported, io, ({ github }) => lintFiles(plan, files, { options, io, github })));
  });
  const diff = subcommand(command, 'diff <old> <new>', 'compare two plans')
    .addHelpText('after', DETAILS + DIFF_DETAILS)
    .option('--markdown', 'print a table for a pull request');
  diff.action(async (before: string, after: string) => {
    const { diffPlans } = await import('./diff.ts');
    exit(await diffPlans(before, after, diff.optsWithGlobals<DiffFlags>(), io));
  });
  const convert = subcommand(command, 'convert <plan>', 'write a plan in another form')
    .addHelpText('after', DETAILS + CONVERT_DETAILS)
    .addOption(new Option('--to <form>', 'the form').choices(['segment', 'folder']).default('segment'))
    .option('--out <folder>', 'write files to this new folder (default: standard output)', given);
  convert.action(async (plan: string) => {
    const { convertPlan } = await import('./convert.ts');
    exit(await convertPlan(plan, convert.optsWithGlobals<ConvertFlags>(), io));
  });
  defineWriters(command, context);
};

/** Defines the subcommands that write something else from a plan: programs and messages. */
const defineWriters: Define = (command, { io, exit }) => {
  const types = subcommand(command, 'types <plan>', 'write TypeScript types of the events');
  types.addHelpText('after', DETAILS + TYPES_DETAILS).action(async (plan: string) => {
    const { writePlanTypes } = await import('./types.ts');
    exit(await writePlanTypes(plan, io));
  });
  const sample = subcommand(command, 'sample <plan>', 'print a valid message for each rule');
  sample.addHelpText('after', DETAILS + SAMPLE_DETAILS).action(async (plan: string) => {
    const { printSamples } = await import('./sample.ts');
    exit(await printSamples(plan, io));
  });
};

function subcommand(command: Command, usage: `${keyof typeof EXAMPLES} ${string}`, summary: string): Command {
  const [verb = 'lint'] = usage.split(' ');
  const examples = EXAMPLES[verb as keyof typeof EXAMPLES]; // by the type of `usage`
  return command
    .command(usage)
    .summary(summary)
    .configureHelp(HELP)
    .addHelpText('before', examplesText(examples));
}

function examplesText(lines: readonly string[]): string {
  return `Examples:\n${lines.map((line) => `  $ hooks plan ${line}\n`).join('')}`;
}
