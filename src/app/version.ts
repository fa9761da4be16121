import manifest from '../../package.json' with { type: 'json' };

/** The package's own version. The build writes `package.json` into the file: to look for it would take a tenth of a start. */
export const PACKAGE_VERSION = manifest.version;

/** How the program names itself to webhooks. */
export const USER_AGENT = `hooks-cli/${PACKAGE_VERSION}`;
