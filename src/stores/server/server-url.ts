import { ConfigError } from '../../errors.ts';

const SCHEMES = ['redis:', 'rediss:', 'postgres:', 'postgresql:'] as const;

export type Scheme = (typeof SCHEMES)[number];

/** The scheme of a server's URL in lower case; undefined for other URLs. */
export function schemeOf(url: string): Scheme | undefined {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase();
  return SCHEMES.find((known) => known === scheme);
}

/** Throws ConfigError for a URL that the driver rejects, or reads as another server or database. */
export function assertServerUrl(url: string, { scheme, place }: { scheme: Scheme; place: string }): void {
  const [isRight, example] = scheme.startsWith('redis') ? [isOfRedis, REDIS] : [isOfPostgres, POSTGRES];
  if (isRight(url)) return;
  throw new ConfigError(`Expected \`store\` to be a URL like ${example}, got ${place}`, {
    key: 'store',
    hint: 'a port is at most 65535; in a password / ? # @ and % are written as %2F %3F %23 %40 and %25',
  });
}

const REDIS = 'redis://host:6379/0 (a number: the database)';
const POSTGRES = 'postgres://host:5432/database';

/**
 * Whether a URL names a Redis server and at most a numbered database. The driver would read `1x` as database 1, and a
 * database without leading digits would end the process.
 */
function isOfRedis(url: string): boolean {
  try {
    const { username, password, pathname, searchParams } = new URL(url);
    decodeURIComponent(username + password);
    const databases = [pathname.slice(1) || '0', ...searchParams.getAll('db')];
    return /^rediss?:\/\//i.test(url) && databases.every((each) => /^\d+$/.test(each));
  } catch {
    return false;
  }
}

/** Whether a URL names a PostgreSQL server. A URL without a host names a local socket. */
function isOfPostgres(url: string): boolean {
  return URL.canParse(url) || URL.canParse(url.replace('@/', '@host/'));
}
