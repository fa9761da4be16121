import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A word that this project does not use, and the word that it uses instead. */
interface WordRule {
  /** Searched in lower case, with the words of an identifier apart: `hasAnswered` is `has answered`. */
  readonly not: RegExp;
  readonly say: string;
  /** Places where the word is allowed, by the start of the path, with the reason. */
  readonly except?: Readonly<Record<string, string>>;
}

const FIELD_OF_OUTPUT = 'a field of the output, which programs read';

const RULES: readonly WordRule[] = [
  {
    not: /(?<!test\/)\b(?:un)?answer(?!-lost)\w*/,
    say: 'response, respond',
    except: {
      'src/cli/flags/prompt.ts': 'the answer to a question at a prompt',
      'src/cli/verbs/init/': 'the answer to a question at a prompt',
      'src/cli/verbs/queue/confirm.ts': 'the answer to a question at a prompt',
      'src/cli/print/received/': FIELD_OF_OUTPUT,
      'src/receiver/received-request.ts': FIELD_OF_OUTPUT,
      'src/receiver/response/responder.ts': FIELD_OF_OUTPUT,
      'src/inbox/': FIELD_OF_OUTPUT,
    },
  },
  {
    not: /\brepl(?:y|ies|ied)\b/,
    say: 'response, respond',
    except: {
      'src/app/forwarding.ts': FIELD_OF_OUTPUT,
      'src/app/prove-receiver.ts': FIELD_OF_OUTPUT,
      'src/check/': FIELD_OF_OUTPUT,
      'src/cli/print/received/received-line.ts': FIELD_OF_OUTPUT,
      'src/cli/verbs/test-receiver/': FIELD_OF_OUTPUT,
      'src/idempotence/subject.ts': FIELD_OF_OUTPUT,
      'src/receiver/response/forwarding.ts': FIELD_OF_OUTPUT,
      'src/inbox/page/request/replay-form.tsx': FIELD_OF_OUTPUT,
      'src/stores/server/redis/redis-connection.ts': 'the name of an error of the Redis driver',
    },
  },
  {
    not: /\b(?:const|let) said\b|\bsaid(?:[,:?]| \})/,
    say: 'detail, text, response',
    except: {
      'src/cli/verbs/doctor/': FIELD_OF_OUTPUT,
      'src/cli/verbs/expect/': FIELD_OF_OUTPUT,
      'src/expectation/': FIELD_OF_OUTPUT,
    },
  },
  {
    // A port refuses connections: that is the word of TCP.
    not: /\brefus(?:es?|ing|als?)\b(?!-| connections| new ones)/,
    say: 'reject, rejection',
    except: {
      'src/app/pipeline/outcomes.ts': "a field of the library's Outcome",
      'src/cli/print/failure-cause.ts': "a field of the library's Outcome",
      'src/cli/print/result-': "a field of the library's Outcome",
      'src/cli/verbs/replay/reported-result.ts': "a field of the library's Outcome",
      'src/cli/verbs/queue/change-deliveries.ts': FIELD_OF_OUTPUT,
      'src/cli/verbs/audience/output.ts': FIELD_OF_OUTPUT,
    },
  },
  {
    not: /\bjobs?\b/,
    say: 'delivery',
    except: {
      'src/stores/server/': "BullMQ's record, in its own words",
      'src/cli/verbs/init/': 'a job of continuous integration',
      'docs/': 'a job of continuous integration, and the tools that show the jobs of BullMQ',
      'README.md': 'a job of continuous integration',
      'test/documentation/': 'a job of continuous integration',
    },
  },
  {
    not: /\bmisread(?:s|ings?)?\b(?!-secret)/,
    say: 'common mistake',
  },
  {
    not: /\b(?:faults?|findings)\b/,
    say: 'problem, cause, mistake',
    except: { 'src/service/request/rejection.ts': 'the code of a response, which programs read' },
  },
  { not: /\berrands?\b/, say: 'repair intent, pending repair' },
  { not: /\bunder ?way\b/, say: 'in flight' },
  { not: /\bsurroundings\b/, say: 'context, environment' },
  { not: /\bmend(?:s|ed|ing)?\b/, say: 'fix' },
  { not: /\bsurpris(?:e|es|ing)\b/, say: 'change, difference' },
  { not: /\bbur(?:y|ies|ied|ial)\b/, say: 'mark dead' },
  { not: /\bupkeep\b|\btend(?:s|ed|ing)?\b/, say: 'maintenance' },
  { not: /\bchurn\b/, say: 'ReusableMap' },
  { not: /\bpresence\b/, say: 'uninterruptedSince' },
  { not: /\b(?:gates?|byte budget)\b/, say: 'semaphore' },
  { not: /\b(?:intake|outlets?)\b/, say: 'IngestTarget' },
  { not: /\bin play\b/, say: 'remaining' },
  { not: /\blet(?:s|ting)? go\b/, say: 'evict' },
  { not: /\bway out\b/, say: 'hint' },
  { not: /\b(?:taken|queued|encoded|built) message\b/, say: 'OutgoingMessage, Delivery' },
  { not: /\b(?:outcome|batch|told) attempt\b/, say: 'AttemptResult, AttemptRecord' },
  { not: /\bwhoever\b|\bsomebody\b|\bnobody\b/, say: 'the process that, the person who' },
  { not: /\banew\b|\bonce more\b/, say: 'again' },
  { not: /\bfor ever\b/, say: 'forever' },
  { not: /\blest\b|\bhenceforth\b|\bmidst\b/, say: 'so that … not, from now on, middle' },
  { not: /\bso (?:long|many|much)\b(?! (?:as|that))/, say: 'this long, at most N' },
  { not: /\ball the same\b/, say: 'still, too' },
];

interface Line {
  readonly path: string;
  readonly number: number;
  readonly text: string;
}

it('the README has at most 10 KB, so that it can be read in one go', () => {
  expect(statSync(join(ROOT, 'README.md')).size).toBeLessThanOrEqual(10 * 1_024);
});

it('no page says `npx hooks` except for a clone and for a project that has the package, because elsewhere that name is another package', () => {
  const lines = [...filesBelow('docs', /\.md$/), 'README.md'].flatMap(linesOf);
  const named = lines.filter(({ text }) => text.includes('npx hooks'));
  const inProject = 'In this project the command is `npx hooks`.';
  expect(named.map(({ text }) => text)).toEqual([
    inProject,
    inProject,
    'npm ci && npx hooks replay fixtures/*.json --loopback',
    'Without `--global`, and in a clone, the command is `npx hooks`; help, hints and suggestions then say so.',
  ]);
});

describe('the words', () => {
  const lines = [
    ...filesBelow('src', /\.tsx?$/).flatMap(linesOf),
    ...filesBelow('docs', /\.md$/).flatMap(linesOf),
    ...['README.md', '.github/CONTRIBUTING.md'].flatMap(linesOf),
    ...filesBelow('test', /\.tsx?$/).flatMap(titlesOf),
  ];

  it.each(RULES)('have $say, not $not', (rule) => {
    expect(lines.filter((line) => breaks(line, rule)).map(placeOf)).toEqual([]);
  });

  it('have only exceptions that a file needs', () => {
    const unused = RULES.flatMap(({ not, except = {} }) =>
      Object.keys(except)
        .filter((start) => !lines.some(({ path, text }) => path.startsWith(start) && not.test(wordsOf(text))))
        .map((start) => `${start}: ${String(not)}`),
    );
    expect(unused).toEqual([]);
  });

  it('are found in identifiers, constants and sentences', () => {
    const rule = { not: /\banswer\w*/, say: 'response', except: { 'src/cli/verbs/init/': 'a prompt' } };
    const found = (text: string, path = 'src/a.ts') => breaks({ path, number: 1, text }, rule);
    expect(['hasAnswered', 'ANSWER_MS', "'it answers 200'", '#answer'].map((text) => found(text))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(found('response')).toBe(false);
    expect(found('answer', 'src/cli/verbs/init/run.ts')).toBe(false);
    const titles = titlesIn("it('answers 200', () => {\n  // answers\n});\ndescribe.each([1])('of %s', f);");
    expect(titles.map(({ text }) => text)).toEqual(['answers 200', 'of %s']);
  });
});

function breaks({ path, text }: Line, { not, except = {} }: WordRule): boolean {
  return not.test(wordsOf(text)) && !Object.keys(except).some((start) => path.startsWith(start));
}

/** The text in lower case, with the words of its identifiers apart. */
function wordsOf(text: string): string {
  return text
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

function placeOf({ path, number, text }: Line): string {
  return `${path}:${number} ${text.trim().slice(0, 120)}`;
}

function filesBelow(folder: string, name: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => name.test(path))
    .map((path) => join(folder, path));
}

function linesOf(path: string): Line[] {
  return readFileSync(join(ROOT, path), 'utf8')
    .split('\n')
    .map((text, index) => ({ path, number: index + 1, text }));
}

/** Returns the names of a file's tests. */
function titlesOf(path: string): Line[] {
  return titlesIn(readFileSync(join(ROOT, path), 'utf8')).map((line) => ({ ...line, path }));
}

function titlesIn(text: string): Omit<Line, 'path'>[] {
  const titles = text.matchAll(
    /^\s*(?:it|test|describe|\]\))(?:\.\w+)*(?:\([^'\n]*\))?\(\s*(['`])(.*?)\1,/gm,
  );
  return [...titles].map((match) => ({
    number: text.slice(0, match.index).split('\n').length,
    text: match[2] ?? '',
  }));
}
