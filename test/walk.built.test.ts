import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapping } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { startHooks } from './end-to-end/hooks.ts';
import { receiving, ROOT } from './end-to-end/receiving.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Files of `src` with a called function, and called functions: how much code one message walks through. */
interface Walk {
  readonly files: number;
  readonly functions: number;
}

/** Limits of each walk. Lower a number when the code allows it; raise it only with a reason in the commit. */
const BUDGETS = {
  send: { files: 97, functions: 644 },
  batch: { files: 77, functions: 390 },
  replay: { files: 150, functions: 960 },
  // 35 and 186, because a capture must be a request that HTTP allows.
  verify: { files: 35, functions: 186 },
} as const satisfies Record<string, Walk>;

const SRC = join(ROOT, 'src/');
const CONFIG = ['--no-config'];
const walks: Record<string, Walk> = {};
// Prints the walks, by which a budget can be lowered.
afterAll(() => void process.stdout.write(`${JSON.stringify(walks)}\n`));

describe('the walk of one message, by the functions that V8 counts', () => {
  it('is within its budget for one send', async () => {
    const { url } = await receiving();
    const args = ['send', 'track', '--event', 'Signup', '--user-id', 'u1', '--url', url, ...CONFIG];
    expectWithin('send', await calls(args));
  });

  it('is within its budget for one batch through serve, without start and stop', async () => {
    const { url, requests } = await receiving();
    const folder = temporaryFolder({ '.hooksrc.json': JSON.stringify({ writeKey: 'key', webhooks: [url] }) });
    const args = ['serve', '--port', '0', '--allow-private', '-o', 'json'];
    const place = { cwd: folder, env: { HOOKS_DATA_DIR: folder } };
    const idle = await calls(args, { ...place, until: async () => {} });
    const until = async (ready: string): Promise<void> => {
      const batch = [{ type: 'track', userId: 'u1', event: 'Signup', messageId: 'm1' }];
      const response = await fetch(`${(JSON.parse(ready) as { readonly url: string }).url}/v1/batch`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa('key:')}` },
        body: JSON.stringify({ batch }),
      });
      expect(response.status).toBe(200);
      await expect.poll(() => requests.length, { timeout: 20_000 }).toBe(1);
    };
    const busy = await calls(args, { ...place, until });
    expectWithin('batch', new Map([...busy].filter(([name, count]) => count > (idle.get(name) ?? 0))));
  });

  it('is within its budget for one replay', async () => {
    const { url } = await receiving();
    const messages = readdirSync(join(ROOT, 'fixtures')).filter((name) => name.endsWith('.json'));
    const paths = messages.map((name) => join(ROOT, 'fixtures', name));
    expectWithin('replay', await calls(['replay', ...paths, '--url', url, ...CONFIG]));
  });

  it('is within its budget for one verify', async () => {
    const stdin = readFileSync(join(ROOT, 'fixtures/captures/track.json'));
    const args = ['verify', '--secret', 'hooks-fixture-secret'];
    expectWithin('verify', await calls(args, { stdin }));
  });
});

/** How often each function of `src` was called, by `file:line:column`. */
type Calls = ReadonlyMap<string, number>;

function expectWithin(job: keyof typeof BUDGETS, called: Calls): void {
  const files = new Set(Array.from(called.keys(), (place) => place.split(':', 1)[0])).size;
  walks[job] = { files, functions: called.size };
  expect(files, `files of ${job}`).toBeLessThanOrEqual(BUDGETS[job].files);
  expect(called.size, `functions of ${job}`).toBeLessThanOrEqual(BUDGETS[job].functions);
  // Fails if nothing was counted.
  expect(called.size).toBeGreaterThan(files);
}

interface RunOptions {
  readonly stdin?: Uint8Array;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Work for a command that runs until it is stopped; gets the first line of its stdout. */
  readonly until?: (firstLine: string) => Promise<void>;
}

/** Runs the built command and counts the calls of each function, by V8's coverage and the source maps of the build. */
async function calls(args: readonly string[], { until, env, ...options }: RunOptions = {}): Promise<Calls> {
  const coverage = temporaryFolder();
  const running = startHooks(args, { ...options, env: { ...env, NODE_V8_COVERAGE: coverage } });
  if (until !== undefined) await until((await running.lines.next()).value ?? '');
  const { code, stderr } = await (until === undefined ? running.exited : running.stop('SIGTERM'));
  expect(code, stderr).toBe(0);
  return new Map(readdirSync(coverage).flatMap((name) => calledFunctions(join(coverage, name))));
}

/** A script as V8 reports it. The first range of a function is the function itself. */
interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
}

/** Each called function that comes from `src`, with its calls. The function at offset 0 is a script's top level. */
function calledFunctions(report: string): [place: string, count: number][] {
  const { result } = JSON.parse(readFileSync(report, 'utf8')) as { readonly result: ScriptCoverage[] };
  const dist = pathToFileURL(join(ROOT, 'dist/')).href;
  return (
    result
      // A script without a map is the bundler's own.
      .filter(({ url }) => url.startsWith(dist) && existsSync(new URL(`${url}.map`)))
      .flatMap(({ url, functions }) => {
        const placeOf = placesIn(fileURLToPath(url));
        return functions
          .flatMap(({ ranges: [range] }) => range ?? [])
          .filter(({ startOffset, count }) => startOffset > 0 && count > 0)
          .flatMap(({ startOffset, count }): [string, number][] => {
            const place = placeOf(startOffset);
            return place === undefined ? [] : [[place, count]];
          });
      })
  );
}

/** Finds the place in `src` of an offset in a built script. */
function placesIn(script: string): (offset: number) => string | undefined {
  const map = new SourceMap(JSON.parse(readFileSync(`${script}.map`, 'utf8')));
  const lineStarts = [0, ...[...readFileSync(script, 'utf8').matchAll(/\n/g)].map(({ index }) => index + 1)];
  const last: Partial<SourceMapping> = map.findEntry(lineStarts.length, 0);
  return (offset) => {
    const line = lineStarts.findLastIndex((start) => start <= offset);
    // An entry without a source is glue of the bundler; the types of Node leave that out.
    const column = offset - (lineStarts[line] ?? 0);
    const origin: Partial<SourceMapping> = map.findEntry(line, column);
    if (origin.originalSource === undefined) return undefined;
    // The getters of a chunk's exports stand behind its last entry, and are glue too.
    if (origin.generatedLine === last.generatedLine && origin.generatedColumn === last.generatedColumn) {
      return undefined;
    }
    const path = join(dirname(script), origin.originalSource);
    if (!path.startsWith(SRC)) return undefined;
    return `${relative(SRC, path)}:${origin.originalLine}:${origin.originalColumn}`;
  };
}
