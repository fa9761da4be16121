import { createRequire } from 'node:module';
import { ConfigError, isPackageMissing } from '../../errors.ts';

/** The versions of BullMQ that the tests run on. Hooks uses internals of BullMQ, which other versions may lack or change. */
const BULLMQ = { major: 6, oldest: 3, newest: 7 };
const BULLMQ_RANGE = `>=${BULLMQ.major}.${BULLMQ.oldest} <${BULLMQ.major}.${BULLMQ.newest + 1}`;

/** The packages that a store on a server needs, as npm installs them. Only users of such a store install these packages. */
const PACKAGES: Readonly<Record<string, string>> = {
  bullmq: `"bullmq@${BULLMQ_RANGE}"`,
  ioredis: 'ioredis@6',
  pg: 'pg@8',
};

/** Loads optional packages. Throws ConfigError with the command that installs them if one is missing. */
export async function loadPackages<T>(
  place: string,
  names: readonly string[],
  load: () => Promise<T>,
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!isPackageMissing(error)) throw error;
    const packages = names.map((name) => PACKAGES[name] ?? name).join(' ');
    throw new ConfigError(`The store ${place} needs packages that are not installed: ${names.join(', ')}`, {
      key: 'store',
      hint: `install them next to hooks-cli: npm install ${packages} (with --global if hooks-cli is global)`,
      cause: error,
    });
  }
}

/** Throws ConfigError for an unsupported version of BullMQ. */
export function assertBullmqVersion(version = installedBullmq()): void {
  const [major, minor = 0] = version.split('.').map(Number);
  if (major === BULLMQ.major && minor >= BULLMQ.oldest && minor <= BULLMQ.newest) return;
  throw bullmqError(`Expected bullmq ${BULLMQ_RANGE}, got ${version}`);
}

/** The error for an installed BullMQ that stores something in another way than hooks reads. */
export function layoutError(difference: string, cause?: unknown): ConfigError {
  const version = installedBullmq();
  return bullmqError(
    `bullmq ${version} does not store entries as bullmq ${BULLMQ_RANGE} does: ${difference}`,
    cause,
  );
}

function bullmqError(sentence: string, cause?: unknown): ConfigError {
  const hint = `install an unchanged, supported version next to hooks-cli: npm install ${PACKAGES['bullmq']}`;
  return new ConfigError(sentence, { key: 'store', hint, cause });
}

function installedBullmq(): string {
  const { version } = createRequire(import.meta.url)('bullmq/package.json') as { readonly version: string }; // npm's
  return version;
}
