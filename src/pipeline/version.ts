import { readFileSync } from 'node:fs';

/** Read at run time from the package itself; the sources and every chunk of the build lie two folders below it. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
