import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));
const TEST = fileURLToPath(new URL('.', import.meta.url));
const ROOT_HELPERS = [
  'attempt-record.ts',
  'clock.ts',
  'confidence.ts',
  'duration.ts',
  'errors.ts',
  'file-problem.ts',
  'files.ts',
  'redact.ts',
  'suggest.ts',
  'url.ts',
  'validate-options.ts',
  'weighted-semaphore.ts',
];
/** Files that programs or the build load. */
const ENTRIES = ['index.ts', 'schemas.ts'];
const MOST_ROOT_HELPERS = 12;
const MOST_FILES_OF_A_FOLDER = 15;

/** Rooms of the core. They import no wing: `app` passes functions of wings to the core. */
const CORE = [
  'message',
  'signature',
  'capture',
  'client',
  'engine',
  'queue',
  'transport',
  'replay',
  'service',
  'receiver',
  'check',
  'deletion',
  'report',
];

/** Wings: products of their own. The door is the only file that others import. */
const DOORS: Readonly<Record<string, string>> = {
  diagnosis: 'diagnosis/explain.ts',
  expectation: 'expectation/expectation.ts',
  idempotence: 'idempotence/prove.ts',
  audience: 'audience/sync.ts',
  inbox: 'inbox/inbox.ts',
  plan: 'plan/plan.ts',
};

/** Who may import whom, by the room of the path (roomOf). Every file may import the root helpers. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.keys(DOORS).map((wing) => [wing, CORE])),
  message: [],
  signature: ['message'],
  transport: [],
  capture: ['message', 'signature'],
  report: [],
  queue: [],
  'stores/memory': ['queue'],
  'stores/sqlite': ['queue', 'service', 'deletion', 'audience'],
  'stores/server': ['queue', 'service', 'deletion'],
  stores: ['queue', 'service', 'deletion', 'audience', 'stores/memory', 'stores/sqlite', 'stores/server'],
  client: ['message', 'transport'],
  engine: ['message', 'queue', 'signature', 'transport'],
  replay: ['message', 'capture'],
  receiver: ['signature', 'message', 'capture', 'service'],
  testing: ['receiver', 'message', 'signature', 'check', 'config', 'app', ...Object.keys(DOORS)],
  check: ['message', 'signature', 'transport', 'capture'],
  service: ['message', 'client', 'deletion'],
  deletion: ['message'],
  config: ['client', 'engine', 'signature'],
  'file-problem.ts': ['files.ts'],
  'suggest.ts': ['files.ts', 'redact.ts'],
  'validate-options.ts': ['errors.ts', 'suggest.ts'],
};

/** The rooms of `cli` that its verbs share. Each folder of `cli/verbs` is a verb, which only `cli/program.ts` names. */
const SHARED_BY_VERBS = ['cli/flags', 'cli/print', 'cli/child'];

/** Imports narrower than their folder: only these files, or only from this file. */
const ONLY_THESE: readonly {
  readonly from: string;
  readonly to: string;
  readonly files: readonly string[];
}[] = [
  // A body that loses something is verified by the same rule by which it is rejected as a message.
  { from: 'signature', to: 'message', files: ['message/json/read-json.ts'] },
  { from: 'client', to: 'transport', files: ['transport/transport.ts', 'transport/retry-after.ts'] },
  {
    from: 'engine',
    to: 'transport',
    files: ['transport/transport.ts', 'transport/retry-after.ts', 'transport/cause.ts'],
  },
  { from: 'engine', to: 'queue', files: ['queue/queue.ts', 'queue/delivery.ts'] },
  // Both are servers that read calls of a tracking API. They share nothing else.
  {
    from: 'receiver',
    to: 'service',
    files: [
      'service/start-listening.ts',
      'service/ingest/read-messages.ts',
      'service/ingest/sort-messages.ts',
      'service/request/authentication.ts',
      'service/request/buffer-body.ts',
      'service/request/byte-share.ts',
      'service/request/cross-origin.ts',
      'service/request/encoding.ts',
      'service/request/message-paths.ts',
      'service/request/rejection.ts',
    ],
  },
  // A matcher compiles a schema at once, and the door loads the validator only when the program has one to compile.
  {
    from: 'testing',
    to: 'plan',
    files: ['plan/plan.ts', 'plan/checking/plan-check.ts'],
  },
  { from: 'testing', to: 'app', files: ['app/load-plan.ts'] },
  // The interface that a store implements for audiences, as a type.
  { from: 'stores', to: 'audience', files: ['audience/store.ts'] },
  { from: 'stores/sqlite', to: 'audience', files: ['audience/store.ts'] },
  { from: 'config', to: 'client', files: ['client/options.ts'] },
  { from: 'config', to: 'engine', files: ['engine/options.ts'] },
  {
    from: 'config',
    to: 'signature',
    files: [
      'signature/secret.ts',
      'signature/schemes/scheme.ts',
      'signature/schemes/find-schemes.ts',
      'signature/schemes/validate-scheme.ts',
    ],
  },
];

/** Third parties stop at one folder or file. */
const PACKAGES: Readonly<Record<string, string>> = {
  undici: 'transport/',
  commander: 'cli/',
  chalk: 'cli/palette.ts',
  '@clack/prompts': 'cli/',
  'fast-string-width': 'cli/',
  'fast-wrap-ansi': 'cli/fit-text.ts',
  cosmiconfig: 'config/files/yaml.ts',
  jiti: 'config/files/load-file.ts',
  'node:sqlite': 'stores/sqlite/',
  '@photostructure/sqlite': 'stores/sqlite/',
  hono: 'service/',
  '@hono/node-server': 'service/',
  pino: 'service/log.ts',
  'prom-client': 'service/metrics.ts',
  bullmq: 'stores/server/',
  ioredis: 'stores/server/',
  pg: 'stores/server/',
  'ipaddr.js': 'transport/',
  preact: 'inbox/page/',
  ajv: 'plan/checking/',
  'ajv/dist/2020.js': 'plan/checking/',
  'ajv-formats': 'plan/checking/',
  'ajv-formats/dist/formats.js': 'plan/checking/',
  'json-schema-to-typescript': 'plan/types/',
  'csv-parse/sync': 'audience/',
  'csv-parse': 'audience/',
};

interface Import {
  readonly from: string;
  readonly to: string;
}

describe('architecture', () => {
  const imports = sourceFiles().flatMap(importsOf);

  it('has imports to check', () => {
    expect(imports.length).toBeGreaterThan(20);
  });

  it('lets each folder import only the folders that the design allows', () => {
    expect(imports.filter((each) => !isAllowed(each))).toEqual([]);
  });

  it.each(['memory', 'sqlite', 'server'])('names the folder stores/%s in one line outside it', (backend) => {
    const room = `stores/${backend}/`;
    const outside = imports.filter(({ from, to }) => to.startsWith(room) && !from.startsWith(room));
    expect(outside).toHaveLength(1);
    expect(outside[0]?.from).toBe('stores/open.ts');
  });

  it.each(verbs())('names the folder cli/verbs/%s only in one line of cli/program.ts', (verb) => {
    const room = `cli/verbs/${verb}/`;
    const outside = imports.filter(({ from, to }) => to.startsWith(room) && !from.startsWith(room));
    expect(outside).toEqual([{ from: 'cli/program.ts', to: `${room}command.ts` }]);
    expect(readdirSync(join(SRC, room))).toContain('run.ts');
  });

  it('names BullMQ only in its backend, and SQLite elsewhere only in names of stores and versions', () => {
    expect(naming(/bullmq/i).filter((path) => !path.startsWith('stores/server/'))).toEqual([]);
    // The scheme `sqlite:` of a store, and the version that doctor shows.
    const word = /(?<!hooks-)sqlite(?!:|Version|\d| \$)/i;
    // `diagnosis` names what a receiver may run on.
    const outside = naming(word).filter((path) => !/^(?:stores\/sqlite|diagnosis)\//.test(path));
    expect(outside).toEqual(['stores/open.ts']);
  });

  it('gives each wing one door, which is not a barrel', () => {
    expect(Object.values(DOORS).filter((door) => isBarrel(readFileSync(join(SRC, door), 'utf8')))).toEqual(
      [],
    );
  });

  it('imports the interface of the stores from a wing as a type only', () => {
    expect(valuesTakenByStores()).toEqual([]);
  });

  it('imports each third party in one folder or file only', () => {
    const strays = imports.filter(
      ({ from, to }) => PACKAGES[to] !== undefined && !from.startsWith(PACKAGES[to]),
    );
    expect(strays).toEqual([]);
  });

  it('has at the root only entries, errors.ts and at most ten helpers that at least three folders use', () => {
    const atRoot = sourceFiles().filter((path) => !path.includes('/'));
    expect(atRoot.toSorted()).toEqual([...ENTRIES, ...ROOT_HELPERS].toSorted());
    expect(ROOT_HELPERS.length).toBeLessThanOrEqual(MOST_ROOT_HELPERS);
    expect(ROOT_HELPERS.filter((helper) => foldersUsing(helper, imports).size < 3)).toEqual([]);
  });

  it('has at most 15 files in a folder', () => {
    const counts = new Map<string, number>();
    for (const path of sourceFiles()) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > MOST_FILES_OF_A_FOLDER)).toEqual([]);
  });

  it('has no import cycle, including type imports', () => {
    expect(cycles(imports)).toEqual([]);
  });

  it('exports no name twice', () => {
    expect(declaredTwice(exportedNames)).toEqual([]);
  });

  it('declares no type name in two files, exported or not', () => {
    expect(declaredTwice(typeNames)).toEqual([]);
  });

  it('exports only functions, constants and classes that another file names', () => {
    expect(exportedForNothing()).toEqual([]);
  });

  it('imports packages before files of its own, and of each values before types', () => {
    const unordered = sourceFiles().filter((path) => !isOrdered(readFileSync(join(SRC, path), 'utf8')));
    expect(unordered).toEqual([]);
  });

  it('notices a broken rule of each kind', () => {
    expect(isAllowed({ from: 'queue/queue.ts', to: 'message/types.ts' })).toBe(false);
    expect(isAllowed({ from: 'client/client.ts', to: 'transport/undici-transport.ts' })).toBe(false);
    expect(isAllowed({ from: 'engine/engine.ts', to: 'cli/main.ts' })).toBe(false);
    expect(isAllowed({ from: 'redact.ts', to: 'errors.ts' })).toBe(false);
    expect(isAllowed({ from: 'receiver/receiver.ts', to: 'service/server.ts' })).toBe(false);
    expect(isAllowed({ from: 'cli/verbs/send/command.ts', to: 'transport/transport.ts' })).toBe(false);
    expect(isAllowed({ from: 'cli/verbs/send/run.ts', to: 'cli/verbs/replay/output.ts' })).toBe(false);
    expect(isAllowed({ from: 'cli/flags/flag-values.ts', to: 'cli/verbs/send/run.ts' })).toBe(false);
    expect(isAllowed({ from: 'cli/print/result-line.ts', to: 'cli/verbs/send/run.ts' })).toBe(false);
    expect(isAllowed({ from: 'cli/flags/flag-values.ts', to: 'cli/print/result-line.ts' })).toBe(false);
    expect(isAllowed({ from: 'cli/print/result-line.ts', to: 'cli/flags/delivery/loopback.ts' })).toBe(false);
    expect(isAllowed({ from: 'cli/io.ts', to: 'cli/verbs/send/run.ts' })).toBe(false);
    expect(isAllowed({ from: 'cli/verbs/send/run.ts', to: 'cli/print/result-line.ts' })).toBe(true);
    expect(isAllowed({ from: 'inbox/inbox.ts', to: 'receiver/receiver.ts' })).toBe(true);
    expect(isAllowed({ from: 'inbox/details.ts', to: 'expectation/expectation-result.ts' })).toBe(false);
    expect(isAllowed({ from: 'cli/verbs/listen/open-inbox.ts', to: 'inbox/page-html.ts' })).toBe(false);
    expect(isAllowed({ from: 'app/prove-receiver.ts', to: 'idempotence/subject.ts' })).toBe(false);
    expect(isAllowed({ from: 'testing/matchers.ts', to: 'expectation/expectation-result.ts' })).toBe(false);
    expect(isAllowed({ from: 'engine/engine.ts', to: 'diagnosis/explain.ts' })).toBe(false);
    expect(isAllowed({ from: 'app/service.ts', to: 'diagnosis/causes/taken-rules.ts' })).toBe(false);
    expect(isAllowed({ from: 'expectation/nearest.ts', to: 'diagnosis/explain.ts' })).toBe(false);
    expect(isAllowed({ from: 'engine/engine.ts', to: 'audience/sync.ts' })).toBe(false);
    expect(isAllowed({ from: 'app/sync-audience.ts', to: 'audience/spill.ts' })).toBe(false);
    expect(isAllowed({ from: 'cli/verbs/audience/output.ts', to: 'audience/difference.ts' })).toBe(false);
    expect(isAllowed({ from: 'stores/open.ts', to: 'audience/sync.ts' })).toBe(false);
    expect(isAllowed({ from: 'audience/sync.ts', to: 'stores/open.ts' })).toBe(false);
    expect(isAllowed({ from: 'audience/sync.ts', to: 'cli/io.ts' })).toBe(false);
    expect(isAllowed({ from: 'cli/verbs/audience/output.ts', to: 'audience/sync.ts' })).toBe(true);
    expect(isAllowed({ from: 'stores/open.ts', to: 'audience/store.ts' })).toBe(true);
    expect(isBarrel("export { sync } from './run.ts';")).toBe(true);
    expect(isBarrel("export * from './run.ts';")).toBe(true);
    expect(isBarrel("export type { Change } from './run.ts';")).toBe(false);
    const loop = [
      { from: 'a.ts', to: 'b.ts' },
      { from: 'b.ts', to: 'a.ts' },
    ];
    expect(cycles(loop)).toHaveLength(1);
    expect(isOrdered("import { x } from './x.ts';\nimport ms from 'ms';")).toBe(false);
    expect(isOrdered("import { type Clock, sleep } from './clock.ts';")).toBe(false);
    expect([...typeNames('interface Place {}\nconst other = 2;')]).toEqual(['Place']);
    expect([...exportedNames('export type Place = 1;\nexport const place = 2;')]).toEqual(['Place', 'place']);
  });
});

function verbs(): string[] {
  return readdirSync(join(SRC, 'cli/verbs'));
}

function foldersUsing(helper: string, imports: readonly Import[]): ReadonlySet<string> {
  const users = imports.filter(({ from, to }) => to === helper && from.includes('/'));
  return new Set(users.map(({ from }) => from.split('/', 1)[0] ?? ''));
}

function naming(word: RegExp): string[] {
  return sourceFiles().filter((path) => word.test(withoutComments(readFileSync(join(SRC, path), 'utf8'))));
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
}

/** Returns names that two files declare, with both files. A reader who looks up a name must find one declaration. */
function declaredTwice(namesIn: (text: string) => Iterable<string>): string[] {
  const files = new Map<string, string>();
  const twice: string[] = [];
  for (const path of sourceFiles()) {
    for (const name of namesIn(readFileSync(join(SRC, path), 'utf8'))) {
      const other = files.get(name);
      if (other !== undefined) twice.push(`${name}: ${other}, ${path}`);
      files.set(name, path);
    }
  }
  return twice;
}

/** Exports that neither a file of src nor a test names. Types are left out: signatures of other exports need them. */
function exportedForNothing(): string[] {
  const texts = new Map([SRC, TEST].flatMap((root) => textsBelow(root)));
  return [...texts].flatMap(([path, text]) => {
    if (!path.startsWith(SRC)) return [];
    const values = text.matchAll(/^export (?:abstract )?(?:async )?(?:function\*?|const|class) (\w+)/gm);
    return [...values]
      .map(([, name = '']) => name)
      .filter((name) => ![...texts].some(([other, uses]) => other !== path && uses.includes(name)))
      .map((name) => `${name}: ${relative(SRC, path)}`);
  });
}

function textsBelow(root: string): [path: string, text: string][] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => [join(root, path), readFileSync(join(root, path), 'utf8')]);
}

function exportedNames(text: string): Set<string> {
  const declarations = text.matchAll(
    /^export (?:abstract )?(?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm,
  );
  return new Set([...declarations].map(([, name = '']) => name));
}

function typeNames(text: string): Set<string> {
  const types = text.matchAll(/^(?:export )?(?:abstract )?(?:class|interface|type) (\w+)/gm);
  return new Set([...types].map(([, name = '']) => name));
}

function isOrdered(text: string): boolean {
  const imports = [...text.matchAll(/^import\s([^'";]*?)from '([^']+)';/gm)];
  const own = imports.map(([, , specifier = '']) => specifier.startsWith('.'));
  const isTypeFirst = imports.some(([, names = '']) => /\{[^}]*\btype \w+,\s*(?!type )\w/.test(names));
  return !isTypeFirst && !own.some((isOwn, index) => !isOwn && own[index - 1] === true);
}

function sourceFiles(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path));
}

/** Every import of a file: `to` is a path below src, or a package's name. */
function importsOf(from: string): Import[] {
  const text = readFileSync(join(SRC, from), 'utf8');
  const specifiers = text.matchAll(
    /(?:^|\s)(?:import|export)\s[^'";]*?from\s*'([^']+)'|import\(\s*'([^']+)'\s*\)|^import\s*'([^']+)'/gm,
  );
  return [...specifiers].map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? '';
    if (!specifier.startsWith('.')) return { from, to: packageName(specifier) };
    return { from, to: relative(SRC, normalize(join(SRC, dirname(from), specifier))) };
  });
}

function packageName(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier;
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function isAllowed({ from, to }: Import): boolean {
  if (!/\.tsx?$/.test(to)) return true;
  if (ROOT_HELPERS.includes(to)) {
    return !ROOT_HELPERS.includes(from) || MAY_IMPORT[from]?.includes(to) === true;
  }
  const [room, target] = [roomOf(from), roomOf(to)];
  if (room === target && room !== from) return true;
  const door = DOORS[target];
  if (door !== undefined && to !== door && !isNarrow(room, to)) return false;
  if (isCli(room) && isCli(target)) return isAllowedInCli(from, to);
  if (isCli(target) || to === 'index.ts') return false;
  if (isCli(room)) return target !== 'transport';
  if (['index.ts', 'app', 'schemas.ts'].includes(room)) return true;
  const narrow = ONLY_THESE.find((rule) => rule.from === room && rule.to === target);
  return (MAY_IMPORT[room] ?? []).includes(target) && (narrow === undefined || narrow.files.includes(to));
}

function isNarrow(room: string, to: string): boolean {
  return ONLY_THESE.some(({ from, files }) => from === room && files.includes(to));
}

/** Whether a door exports a value of another file. */
function isBarrel(text: string): boolean {
  return /^export (?:\*|\{(?!\s*type\b))[^;]*from '/m.test(text);
}

function valuesTakenByStores(): string[] {
  const wing = new RegExp(`^import (?!type )[^;]*/(?:${Object.keys(DOORS).join('|')})/`, 'm');
  return sourceFiles()
    .filter((path) => path.startsWith('stores/'))
    .filter((path) => wing.test(readFileSync(join(SRC, path), 'utf8')));
}

function isCli(room: string): boolean {
  return room === 'cli' || room.startsWith('cli/');
}

/** Every room may import the files at the root of `cli` and the help; a verb also what verbs share, and never another verb. */
function isAllowedInCli(from: string, to: string): boolean {
  const [room, target] = [roomOf(from), roomOf(to)];
  if (['cli', 'cli/help'].includes(target) || from === 'cli/program.ts') return true;
  return room !== 'cli' && !SHARED_BY_VERBS.includes(room) && SHARED_BY_VERBS.includes(target);
}

/** The first folder, or with it the second where that is a room too; the file itself when it lies at the root. */
function roomOf(path: string): string {
  const [first = path, second = '', ...deeper] = path.split('/');
  if (first === 'cli' && second === 'verbs') return `cli/verbs/${deeper[0] ?? ''}`;
  const isRoom = `${first}/${second}` in MAY_IMPORT || (first === 'cli' && deeper.length > 0);
  return isRoom ? `${first}/${second}` : first;
}

function cycles(imports: readonly Import[]): string[][] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to]);
  const found: string[][] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      found.push([...path.slice(path.indexOf(file)), file]);
      return;
    }
    if (done.has(file)) return;
    for (const next of targets.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return found;
}
