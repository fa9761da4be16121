import { createHash, timingSafeEqual } from 'node:crypto';
import { ConfigError } from '../../errors.ts';
import type { IngestRejection } from './rejection.ts';

export const UNAUTHORIZED: IngestRejection = {
  status: 401,
  code: 'unauthorized',
  message: 'the write key is missing or belongs to no source',
  hint: 'send it as the user of Basic auth with an empty password, or as `writeKey` in the body',
};

type KeyedSources = Readonly<Record<string, { readonly writeKey?: string | undefined }>>;

interface KeyedSource {
  readonly name: string;
  readonly digest: Buffer;
}

/** Throws ConfigError if two sources have the same write key. */
export function validateWriteKeys(sources: KeyedSources): void {
  assertUniqueKeys(keyedSources(sources));
}

/** Finds the source of a write key. */
export class WriteKeys {
  readonly #sources: readonly KeyedSource[];

  /** Throws ConfigError if no source has a write key, or two sources have the same. */
  constructor(sources: KeyedSources) {
    this.#sources = keyedSources(sources);
    if (this.#sources.length === 0) throw noWriteKey();
    assertUniqueKeys(this.#sources);
  }

  /** Finds the source in constant time: compares the key with all sources, by digests of the same length. */
  sourceOf(writeKey: string): string | undefined {
    const digest = digestOf(writeKey);
    let found: string | undefined;
    for (const source of this.#sources) {
      if (timingSafeEqual(source.digest, digest)) found = source.name;
    }
    return found;
  }
}

/** The user of Basic auth (RFC 7617). Undefined without Basic auth. Ignores the password, which some clients send. */
export function basicUser(authorization: string | undefined): string | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/_=-]*) *$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const credentials = Buffer.from(encoded, 'base64').toString();
  const colon = credentials.indexOf(':');
  return colon === -1 ? credentials : credentials.slice(0, colon);
}

function keyedSources(sources: KeyedSources): readonly KeyedSource[] {
  return Object.entries(sources).flatMap(([name, { writeKey }]) =>
    writeKey === undefined ? [] : { name, digest: digestOf(writeKey) },
  );
}

function digestOf(writeKey: string): Buffer {
  return createHash('sha256').update(writeKey).digest();
}

function noWriteKey(): ConfigError {
  return new ConfigError('No source has a write key, so no client could call the service', {
    key: 'writeKey',
    hint: 'set `writeKey` in the config (of each source), or HOOKS_WRITE_KEY',
  });
}

function assertUniqueKeys(sources: readonly KeyedSource[]): void {
  const names = new Map<string, string>();
  for (const { name, digest } of sources) {
    const twin = names.get(digest.toString('hex'));
    if (twin !== undefined) {
      throw new ConfigError(`The sources \`${twin}\` and \`${name}\` have the same write key`, {
        key: `sources.${name}.writeKey`,
        hint: 'give each source its own key: the write key identifies the source of a call',
      });
    }
    names.set(digest.toString('hex'), name);
  }
}
