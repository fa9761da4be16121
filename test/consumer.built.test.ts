import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { BLOCKS, blocksIn, isProgram } from './documentation/blocks.ts';
import { ROOT } from './end-to-end/receiving.ts';
import { temporaryFolder } from './temporary-folder.ts';

const [VITEST = '', , , WITH_MATCHERS = '', NODE = '', PLAIN = ''] = blocksIn('js', 'docs/testing.md').map(
  ({ text }) => text,
);

/** The programs of the docs, each in a file. */
const PROGRAMS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    BLOCKS.filter(isProgram).map(({ page, line, text }) => [
      `${page.replaceAll(/\W/g, '-')}-${line}.mts`,
      text,
    ]),
  ),
  'vitest.test.mts': VITEST + WITH_MATCHERS,
  'node.test.mts': NODE + PLAIN,
};

/** Calls of the library in CommonJS. */
const CALLS = `
import { createDeliveryPipeline, createTrackingApiPipeline, encodeBody, type JsonObject, type Message } from 'hooks-cli';

interface Plan { readonly plan: string; readonly length?: number }
declare const plan: Plan;
declare const maybe: string | undefined;

const hooks = createDeliveryPipeline({ webhooks: [{ url: 'https://a.example/', headers: undefined }], delivery: { caFile: maybe } });
createTrackingApiPipeline({ endpoint: 'https://a.example/', writeKey: 'k', client: { flushAt: undefined }, clock: undefined });
void hooks.client.track({ userId: 'u1', anonymousId: maybe, event: 'Signup', properties: plan, context: undefined });
// @ts-expect-error a list is no properties
void hooks.client.track({ userId: 'u1', event: 'Signup', properties: [plan] });
// @ts-expect-error nor is a Map
void hooks.client.identify({ userId: 'u1', traits: new Map([['plan', 'pro']]) });
// @ts-expect-error nor a Date
void hooks.client.identify({ userId: 'u1', traits: new Date() });
// @ts-expect-error nor a function
void hooks.client.identify({ userId: 'u1', traits: () => plan });

const message: Message = { type: 'track', timestamp: '2026-11-20T21:10:05.123Z', userId: 'u1', event: 'Signup', own: [1] };
export const [body, userId, json]: [string, string | undefined, JsonObject] = [encodeBody(message), message.userId, message];
`;

/** Creates a project with the package that also checks the declarations of its libraries. */
function consumer(): string {
  const cwd = temporaryFolder({ ...PROGRAMS, 'calls.cts': CALLS });
  mkdirSync(join(cwd, 'node_modules/@types'), { recursive: true });
  for (const name of ['@segment', 'vitest']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(cwd, 'node_modules', name));
  }
  symlinkSync(ROOT, join(cwd, 'node_modules/hooks-cli'));
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(cwd, 'node_modules/@types/node'));
  return cwd;
}

// The timeout in ms is long, because the compiler reads every library twice.
it.each(['nodenext', 'preserve'])(
  'compiles in a strict project of module %s',
  { timeout: 120_000 },
  async (module) => {
    const cwd = consumer();
    const settings = ['--noEmit', '--strict', '--target', 'es2023', '--types', 'node', '--module', module];
    for (const exact of ['false', 'true']) {
      const flags = [...settings, '--skipLibCheck', 'false', '--exactOptionalPropertyTypes', exact];
      const tsc = promisify(execFile)(
        join(ROOT, 'node_modules/.bin/tsc'),
        [...flags, ...Object.keys(PROGRAMS), 'calls.cts'],
        { cwd },
      );
      const said = await tsc.then(
        ({ stdout }) => stdout,
        ({ stdout }: { stdout: string }) => stdout,
      );
      expect(said, `exactOptionalPropertyTypes ${exact}`).toBe('');
    }
  },
);
