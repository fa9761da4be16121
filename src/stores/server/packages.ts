import { ConfigError } from '../../errors.ts';

/** The packages of a store on a server, which only its users install. */
const VERSIONS: Readonly<Record<string, string>> = { bullmq: '6', ioredis: '6', pg: '8' };

/** Throws ConfigError with the command that installs what is missing. */
export async function loadPackages<T>(
  place: string,
  names: readonly string[],
  load: () => Promise<T>,
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error; // import() throws errors of Node
    const packages = names.map((name) => `${name}@${VERSIONS[name] ?? 'latest'}`).join(' ');
    throw new ConfigError(`The store ${place} needs packages that are not installed: ${names.join(', ')}`, {
      key: 'store',
      hint: `install them next to hooks-cli: npm install ${packages} (with --global where hooks-cli is global)`,
      cause: error,
    });
  }
}
