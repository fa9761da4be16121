import { ConfigError } from '../../errors.ts';
import { redactUrl } from '../../redact.ts';
import { userinfoHint } from '../../url.ts';

interface ServerUrl {
  readonly kind: keyof typeof KINDS;
  /** The URL with its scheme in lower case, because the Redis driver does not use TLS for `REDISS:`. */
  readonly url: string;
  /** The URL without userinfo and parameters, of which only some are known to be harmless. */
  readonly place: string;
}

/** Throws ConfigError for a URL that the driver rejects, or reads as another server or database. */
export function readServerUrl(given: string): ServerUrl {
  const url = given.replace(/^[a-z]+:/i, (scheme) => scheme.toLowerCase());
  const kind = url.startsWith('redis') ? 'redis' : 'postgres';
  const place = redactUrl(url).replace(/[?#].*$/s, '');
  const { isRight, example } = KINDS[kind];
  if (isRight(url)) return { kind, url, place };
  throw new ConfigError(`Expected \`store\` to be a URL like ${example}, got ${place}`, {
    key: 'store',
    hint: userinfoHint(url) ?? 'a port is at most 65535',
  });
}

const KINDS = {
  redis: { isRight: isOfRedis, example: 'redis://host:6379/0 (a number: the database)' },
  postgres: { isRight: isOfPostgres, example: 'postgres://host:5432/database' },
};

/** Whether a URL names Redis and at most a numbered database: the driver reads `1x` as 1, and ends the process for `x`. */
function isOfRedis(url: string): boolean {
  try {
    const { username, password, pathname, searchParams } = new URL(url);
    decodeURIComponent(username + password);
    const databases = [pathname.slice(1) || '0', ...searchParams.getAll('db')];
    return /^rediss?:\/\//.test(url) && databases.every((each) => /^\d+$/.test(each));
  } catch {
    return false;
  }
}

/** Whether a URL names a PostgreSQL server. A URL without a host names a local socket. */
function isOfPostgres(url: string): boolean {
  if (!/^postgres(?:ql)?:/.test(url)) return false;
  const local = url.replace('@/', '@host/');
  return URL.canParse(local) && !new URL(local).pathname.includes('@');
}
