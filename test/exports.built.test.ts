import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from './temporary-folder.ts';

const ROOT = new URL('..', import.meta.url);

describe('the built package', () => {
  it('exports exactly the public library', async () => {
    // Of the build, because programs that depend on the package get that. The set-up of the test run builds it.
    const built = new URL('dist/index.js', ROOT).href;
    const library = (await import(/* @vite-ignore */ built)) as Record<string, unknown>;
    expect(Object.keys(library).toSorted()).toEqual(
      [
        ['createDeliveryPipeline', 'createTrackingApiPipeline', 'DELIVERY_DEFAULTS'],
        ['syncAudience', 'syncTrait'],
        ['buildMessage', 'encodeBody', 'toBody', 'readJson', 'MESSAGE_TYPES'],
        [
          'sign',
          'signRequest',
          'verify',
          'Verifier',
          'captureBody',
          'isCapture',
          'loadPlan',
          'readCapture',
          'toCapture',
          'startReceiver',
        ],
        ['ClosedError', 'ConfigError', 'HooksError', 'InputError'],
        ['QueueError', 'SignatureError', 'TransportError', 'ValidationError'],
      ]
        .flat()
        .toSorted(),
    );
  });

  it('exports the test library as a module and for require, which Jest uses', async () => {
    const names = ['loadPlan', 'matchers', 'sample', 'signedRequest', 'startTestReceiver'];
    const module = (await import(/* @vite-ignore */ new URL('dist/testing.js', ROOT).href)) as object;
    const required = createRequire(import.meta.url)(
      'hooks-cli/testing',
    ) as typeof import('../src/testing/testing.ts');
    expect([Object.keys(module).toSorted(), Object.keys(required).toSorted()]).toEqual([names, names]);
    const receiver = await required.startTestReceiver();
    await fetch(receiver.url, { method: 'POST', body: '{"type":"track","event":"A"}' });
    const { matchers } = module as typeof required;
    expect(matchers.toHaveReceived(receiver, 'event=A').pass).toBe(true);
    expect(required.matchers.toMatchSchema(receiver, { A: { required: ['userId'] } }).pass).toBe(false);
    // A plan of the one copy of the library serves the matchers of the other, and YAML loads another file of the package.
    const path = join(temporaryFolder({ 'plan.yaml': 'A: { required: [userId] }' }), 'plan.yaml');
    const plan = await required.loadPlan(path);
    expect(matchers.toFollowPlan(receiver, plan).pass).toBe(false);
    expect(matchers.toFollowPlan({ type: 'track', event: 'A', userId: 'u1' }, plan).pass).toBe(true);
    await receiver.close();
  });

  it('creates a pipeline, which loads other files of the package', async () => {
    const built = new URL('dist/index.js', ROOT).href;
    // The build has the types of the source.
    const library = (await import(/* @vite-ignore */ built)) as typeof import('../src/index.ts');
    const pipeline = library.createDeliveryPipeline({ webhooks: ['http://127.0.0.1:9/hook'] });
    await pipeline.close();
  });

  it.each(['message', 'config'])('has a JSON Schema for a %s', (name) => {
    const schema: unknown = JSON.parse(readFileSync(new URL(`dist/schemas/${name}.json`, ROOT), 'utf8'));
    expect(schema).toMatchObject({ $schema: 'http://json-schema.org/draft-07/schema#' });
  });

  // The timeout in ms is long, because npm packs the package.
  it('passes publint, without source maps or unneeded declarations', { timeout: 120_000 }, async () => {
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
    const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT });
    const [packed] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['bin/hooks.js', 'dist/index.js', 'dist/types/index.d.ts']));
    expect(paths.filter((path) => path.endsWith('.map'))).toEqual([]);
    // The consumer test fails if a declaration is missing.
    expect(paths.filter((path) => path.startsWith('dist/types/cli/'))).toEqual([]);
    const files = paths.map((path) => ({ name: `package/${path}`, data: readFileSync(new URL(path, ROOT)) }));
    const { messages } = await publint({ pkgDir: 'package', strict: true, pack: { files } });
    expect(messages).toEqual([]);
  });

  it('has no script that npm runs or reports where the package is installed', () => {
    // `npm ci` in a clone runs `postprepare` even without `prepare`, and `npm pack` runs `prepack`.
    const { scripts } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
      scripts: object;
    };
    const reported = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare'];
    expect(Object.keys(scripts).filter((name) => reported.includes(name))).toEqual([]);
    expect(scripts).toHaveProperty('postprepare', 'npm run --silent prepack');
  });

  it('has a man page for each command, made from its help', async () => {
    // Each build removes dist/, so existing pages are of this build.
    if (!existsSync(new URL('dist/man/', ROOT))) {
      await promisify(execFile)(process.execPath, ['test/build/man.js'], { cwd: ROOT });
    }
    const { man } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { man: string[] };
    const made = readdirSync(new URL('dist/man/', ROOT)).map((name) => `./dist/man/${name}`);
    expect(man.toSorted()).toEqual(made.toSorted());
    const sign = readFileSync(new URL('dist/man/hooks-sign.1', ROOT), 'utf8');
    expect(sign).toMatch(/^\.SH NAME\nhooks\\-sign \\- Print the signature of a body\n\.SH SYNOPSIS\n/m);
    expect(sign).toMatch(/^ {2}\\-\\-as\\-header /m);
  });

  it('depends on no package with an install script, which npm 12 does not run', () => {
    const lock = JSON.parse(readFileSync(new URL('package-lock.json', ROOT), 'utf8')) as {
      packages: Record<string, { dev?: boolean; hasInstallScript?: boolean }>;
    };
    const scripted = Object.entries(lock.packages).filter(
      ([path, { dev, hasInstallScript }]) => path !== '' && !dev && hasInstallScript,
    );
    expect(scripted).toEqual([]);
  });
});
