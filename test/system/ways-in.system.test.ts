// Needs the registry: installs the packed package outside the clone.
import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../free-port.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { HAS_CLIENTS } from './clients.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPTS = fileURLToPath(new URL('ways-in', import.meta.url));
const run = promisify(execFile);

/** Timeout for a slow registry and a busy machine. */
const PATIENT = 240_000;

describe.skipIf(!HAS_CLIENTS).concurrent('with the package installed like users install it', () => {
  let bin: string;
  beforeAll(async () => {
    const folder = temporaryFolder({ 'package.json': '{"private":true}' });
    // Does not build again, which would disturb the tests that run the build.
    const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
    const { stdout: name } = await run('npm', pack, { cwd: ROOT });
    const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
    // The package of SQLite is what README has users of Node 20 install.
    const packages = [join(folder, name.trim()), '@photostructure/sqlite@1'];
    await run('npm', [...install, ...packages], { cwd: folder });
    bin = join(folder, 'node_modules/.bin');
  }, PATIENT);

  it.each(['receiver', 'ci', 'company'])(
    'the commands of a new user succeed: %s',
    async (script) => {
      const { HOME = '', PATH = '' } = process.env;
      const env = {
        HOME,
        PATH: bin + delimiter + PATH,
        NO_COLOR: '1',
        XDG_CONFIG_HOME: temporaryFolder(),
        HOOKS_DATA_DIR: temporaryFolder(),
        PORT_A: String(await freePort()),
        PORT_B: String(await freePort()),
      };
      const { stderr } = await run('sh', [join(SCRIPTS, `${script}.sh`)], {
        cwd: temporaryFolder(),
        env,
        timeout: PATIENT,
      });
      expect(stderr).not.toContain('FAILED');
    },
    PATIENT,
  );
});
