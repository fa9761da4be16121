import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { answer } from '../end-to-end/failing-receiver.ts';
import { hooks, startHooks, type HooksOptions } from '../end-to-end/hooks.ts';
import { jsonLines, tracks } from '../end-to-end/receiving.ts';
import { receiver } from '../raw-receiver.ts';
import { sign } from '../sign.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

/** Modules of Node that take a millisecond or more to load. A command should load only those that it uses. */
const HEAVY = 'assert crypto fs/promises http http2 readline tty worker_threads zlib'.split(' ');

const folder = temporaryFolder();
const [preload, list] = [join(folder, 'preload.cjs'), join(folder, 'list.json')];

beforeAll(() => {
  const loaded = '{ files: Object.keys(require.cache), builtins: process.moduleLoadList }';
  const write = `require('node:fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify(${loaded}))`;
  writeFileSync(preload, `process.on('exit', () => ${write});`);
});

interface LoadingOptions extends HooksOptions {
  readonly exitCode?: number;
  /** Waits before the command is stopped. @default the command ends by itself */
  readonly until?: () => Promise<void>;
}

async function loadedBy(args: readonly string[], options: LoadingOptions = {}) {
  const { exitCode = 0, until: ready, ...given } = options;
  const running = startHooks(args, { ...given, env: { ...given.env, NODE_OPTIONS: `--require=${preload}` } });
  await ready?.();
  const { code, stderr } = await (ready === undefined ? running.exited : running.stop('SIGTERM'));
  expect({ code, stderr: exitCode === 0 ? stderr : '' }).toEqual({ code: exitCode, stderr: '' });
  const { files, builtins } = JSON.parse(readFileSync(list, 'utf8')) as Record<string, readonly string[]>;
  const names = (files ?? []).filter((path) => path !== preload);
  const packages = names.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return {
    /** The files of the program, named without their hashes. */
    files: names
      .filter((path) => !path.includes('node_modules'))
      .map((path) => basename(path).replace(/-[\w-]{8}\.cjs$/, '')),
    packages: [...new Set(packages)],
    /** The source files of the diagnosis that are in them, according to the source maps. */
    diagnosis: names.flatMap(sourcesOf).filter((path) => path.includes('src/diagnosis/')),
    builtins: HEAVY.filter((name) => builtins?.includes(`NativeModule ${name}`)),
  };
}

function sourcesOf(script: string): readonly string[] {
  const map = `${script}.map`;
  if (!existsSync(map)) return [];
  return (JSON.parse(readFileSync(map, 'utf8')) as { readonly sources: readonly string[] }).sources;
}

describe('the modules that a command loads', () => {
  it('are only the program for its help', async () => {
    const { files, packages, builtins } = await loadedBy(['--help']);
    expect(files.toSorted()).toEqual(['hooks.js', 'main.cjs', 'rolldown-runtime']);
    expect({ packages, builtins }).toEqual({ packages: [], builtins: [] });
  });

  it('exclude diagnosis, settings and transport for a matching signature', async () => {
    const body = '{"a":1}';
    const flags = ['--secret', 's', '--signature', sign(body, 's')];
    const { files, packages, builtins, diagnosis } = await loadedBy(['verify', ...flags], { stdin: body });
    expect(files.toSorted()).toEqual(['hooks.js', 'main.cjs', 'rolldown-runtime', 'sign', 'verify']);
    expect({ packages, builtins, diagnosis }).toEqual({ packages: [], builtins: ['crypto'], diagnosis: [] });
  });

  it('include the HTTP/1 client of undici, and no other package, for a message', async () => {
    const { url } = await receiver((socket) => socket.end(answer(200)));
    const to = ['--url', url, '--secret', 's', '--no-config'];
    const message = ['track', '--event', 'A', '--user-id', 'u'];
    const { files, packages, builtins, diagnosis } = await loadedBy(['send', ...message, ...to]);
    const own = ['hooks.js', 'http-client', 'main.cjs', 'rolldown-runtime', 'send', 'settings', 'sign'];
    expect(files.toSorted()).toEqual(own);
    expect({ packages, builtins, diagnosis }).toEqual({
      packages: ['undici'],
      builtins: ['assert', 'crypto', 'http', 'http2'],
      diagnosis: [],
    });
  });

  it('include the diagnosis only after a failure', async () => {
    const { url } = await receiver((socket) => socket.end(answer(400)));
    const args = ['track', '--event', 'A', '--user-id', 'u', '--url', url, '--secret', 's', '--no-config'];
    const sent = await loadedBy(['send', ...args], { exitCode: 1 });
    expect(sent.diagnosis.filter((path) => path.endsWith('/explain.ts'))).toHaveLength(1);
    const verified = await loadedBy(['verify', '--secret', 's', '--signature', 'a'.repeat(40)], {
      stdin: '{"a":1}',
      exitCode: 1,
    });
    expect(verified.files).toContain('explain');
    expect(verified.files.filter((name) => ['http-client', 'examine-port'].includes(name))).toEqual([]);
  });

  it.each([
    [200, 0],
    [400, 1],
  ])(
    'include the diagnosis of replay, audience, worker and queue after a %i only if it failed',
    async (status, exitCode) => {
      const { url, requests } = await receiver((socket) => socket.end(answer(status)));
      const config = JSON.stringify({ webhooks: [url], sharedSecret: 's' });
      const cwd = temporaryFolder({
        '.hooksrc.json': config,
        'day.ndjson': tracks(1),
        'members.txt': 'u1\n',
      });
      const place = { cwd, env: { HOOKS_DATA_DIR: cwd } };
      const isExplained = async (args: readonly string[], options: LoadingOptions = {}): Promise<boolean> =>
        (await loadedBy(args, { ...place, ...options })).diagnosis.some((path) =>
          path.endsWith('/explain.ts'),
        );
      const isFailure = exitCode !== 0;
      expect(await isExplained(['replay', 'day.ndjson', '-q'], { exitCode })).toBe(isFailure);
      expect(await isExplained(['audience', 'sync', 'VIP', 'members.txt'], { exitCode })).toBe(isFailure);
      await hooks(['replay', 'day.ndjson', '--queue', '-q'], place);
      const [delivery] = jsonLines((await hooks(['queue', 'list', '-o', 'json'], place)).stdout);
      const show = ['queue', 'show', String(delivery?.['id'])];
      expect(await isExplained(show)).toBe(false);
      const arrives = (): Promise<void> => until(() => requests.length === 3, 'the request of the worker');
      expect(await isExplained(['worker', '--allow-private', '-q'], { until: arrives })).toBe(isFailure);
      if (isFailure) expect(await isExplained(show)).toBe(true);
    },
  );

  it('include chalk only if there are colors', async () => {
    for (const [NO_COLOR, FORCE_COLOR, isLoaded] of [
      ['', '1', true],
      ['1', '1', false],
      ['', '0', false],
    ] as const) {
      const { files } = await loadedBy(['config', '--no-config'], { env: { NO_COLOR, FORCE_COLOR } });
      expect(files.includes('chalk')).toBe(isLoaded);
    }
  });
});
