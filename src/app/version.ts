import manifest from '../../package.json' with { type: 'json' };

/** The package's own version. The build writes `package.json` into the file: to look for it would take a tenth of a start. */
export function packageVersion(): string {
  return manifest.version;
}

/** How the program names itself to webhooks. */
export function userAgent(): string {
  return `hooks-cli/${packageVersion()}`;
}
