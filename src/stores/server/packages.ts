import { createRequire } from 'node:module';
import { ConfigError } from '../../errors.ts';

/** Major versions of the packages that a store on a server needs. Only users of such a store install these packages. */
const VERSIONS: Readonly<Record<string, string>> = { bullmq: '6', ioredis: '6', pg: '8' };

/** Loads optional packages. Throws ConfigError with the command that installs them if one is missing. */
export async function loadPackages<T>(
  place: string,
  names: readonly string[],
  load: () => Promise<T>,
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // import() and require() throw errors of Node
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    const packages = names.map((name) => `${name}@${VERSIONS[name] ?? 'latest'}`).join(' ');
    throw new ConfigError(`The store ${place} needs packages that are not installed: ${names.join(', ')}`, {
      key: 'store',
      hint: `install them next to hooks-cli: npm install ${packages} (with --global if hooks-cli is global)`,
      cause: error,
    });
  }
}

/**
 * Supported version: hooks uses internals of BullMQ, which a later major version may change and an earlier
 * minor version lacks.
 */
const BULLMQ = { major: 6, minor: 7 };

/** Throws ConfigError for an unsupported version of BullMQ. */
export function assertBullmqVersion(version = installedBullmq()): void {
  const [major, minor = 0] = version.split('.').map(Number);
  if (major === BULLMQ.major && minor >= BULLMQ.minor) return;
  throw new ConfigError(
    `Expected bullmq ${BULLMQ.major}.${BULLMQ.minor} or a later ${BULLMQ.major}, got ${version}`,
    {
      key: 'store',
      hint: `install it next to hooks-cli: npm install bullmq@${BULLMQ.major}`,
    },
  );
}

function installedBullmq(): string {
  const { version } = createRequire(import.meta.url)('bullmq/package.json') as { readonly version: string }; // npm's
  return version;
}
