import { createRequire } from 'node:module';

/** The package's own version, from the `package.json` that it exports: found from the sources and from any file of the build. */
export function packageVersion(): string {
  const own = createRequire(import.meta.url)('hooks-cli/package.json') as { version: string }; // npm refuses a package without
  return own.version;
}

/** How the program names itself to webhooks. */
export function userAgent(): string {
  return `hooks-cli/${packageVersion()}`;
}
