import manifest from '../../package.json' with { type: 'json' };

/**
 * The version of this package. The build inlines `package.json`, because reading it would take a tenth of the start-up time.
 */
export const PACKAGE_VERSION = manifest.version;

/** The `User-Agent` of deliveries. */
export const USER_AGENT = `hooks-cli/${PACKAGE_VERSION}`;
