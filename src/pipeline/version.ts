import { readFileSync } from 'node:fs';

/** From the package itself: the sources lie two folders below it. The build has the text in place of this file (test/build/lean.js). */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
