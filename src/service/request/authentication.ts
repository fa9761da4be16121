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

/** Throws ConfigError when two sources have the same write key. */
export function validateWriteKeys(sources: KeyedSources): void {
  assertNoTwins(keyedSources(sources));
}

/** Which write key belongs to which source. */
export class WriteKeys {
  readonly #sources: readonly KeyedSource[];

  /** Throws ConfigError when no source has one, or two have the same. */
  constructor(sources: KeyedSources) {
    this.#sources = keyedSources(sources);
    if (this.#sources.length === 0) throw noWriteKey();
    assertNoTwins(this.#sources);
  }

  /** Takes the same time for every key: compares all, by digests of one length. */
  sourceOf(writeKey: string): string | undefined {
    const digest = digestOf(writeKey);
    let found: string | undefined;
    for (const source of this.#sources) {
      if (timingSafeEqual(source.digest, digest)) found = source.name;
    }
    return found;
  }
}

/** The user of Basic auth (RFC 7617); undefined without it. The password is not looked at: some clients send one. */
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

function assertNoTwins(sources: readonly KeyedSource[]): void {
  const names = new Map<string, string>();
  for (const { name, digest } of sources) {
    const twin = names.get(digest.toString('hex'));
    if (twin !== undefined) {
      throw new ConfigError(`The sources \`${twin}\` and \`${name}\` have the same write key`, {
        key: `sources.${name}.writeKey`,
        hint: 'a write key says which source a call is from: give each its own',
      });
    }
    names.set(digest.toString('hex'), name);
  }
}
