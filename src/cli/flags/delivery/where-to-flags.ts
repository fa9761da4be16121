import type { Command } from 'commander';
import { layerOf, type Layer } from '../../../config/layer.ts';
import { MAX_WEBHOOKS, type WebhookOptions } from '../../../engine/options.ts';
import { ConfigError } from '../../../errors.ts';
import { printable } from '../../../redact.ts';
import type { Io } from '../../io.ts';
import type { StdinIo } from '../../stdin.ts';
import { namedCaFile } from './ca-file.ts';
import { addSecretFlags, readSecretFlags, type SecretFlags } from '../signature/secret-flags.ts';
import { collect, given } from '../flag-values.ts';
import { addSettingFlags, givenByFlags, settingOption } from '../setting-flags.ts';
import { collectUrl } from '../short-url.ts';

/** The "where to" flags of `send` and `replay`, as typed. */
export interface WhereToFlags extends SecretFlags {
  readonly url?: readonly string[];
  readonly header?: readonly string[];
  /** A PEM file. */
  readonly ca?: string;
  readonly strategy?: string;
  readonly timeout?: string;
  readonly retryFor?: string;
  readonly concurrency?: string;
  readonly source?: string;
  readonly endpoint?: string;
  readonly writeKey?: string;
  readonly loopback?: true;
  readonly queue?: true;
  readonly store?: string;
}

export function addWhereToFlags(command: Command): void {
  command
    .optionsGroup('Where to send:')
    .addOption(settingOption('webhooks').argParser(collectUrl))
    .option('-H, --header <header>', "send 'Name: value' to every --url (repeat)", collect)
    .addOption(settingOption('delivery.ca').argParser(given));
  addSecretFlags(command);
  addSettingFlags(
    command,
    'delivery.strategy',
    'delivery.timeout',
    'delivery.retryFor',
    'delivery.concurrency',
  );
  command.option('--source <name>', 'send as this source of the config');
  addSettingFlags(command, 'endpoint', 'writeKey')
    .option('--loopback', 'deliver to a built-in receiver that verifies and shows')
    .option('--queue', 'only queue it; hooks worker delivers');
  addSettingFlags(command, 'store');
}

/** Throws ConfigError for flags that contradict each other or have no effect together. */
export function refuseConflicts(flags: WhereToFlags): void {
  const count = flags.url?.length ?? 0;
  if (count > MAX_WEBHOOKS) {
    throw conflict(
      '--url',
      `\`--url\` may be given ${MAX_WEBHOOKS} times, got ${count}`,
      'send in several runs',
    );
  }
  refuseForQueue(flags);
  const exclusive = [
    ['--loopback', flags.loopback, '--url', flags.url],
    ['--loopback', flags.loopback, '--endpoint', flags.endpoint],
    ['--loopback', flags.loopback, '--write-key', flags.writeKey],
    ['--endpoint', flags.endpoint, '--url', flags.url],
    ['--write-key', flags.writeKey, '--url', flags.url],
  ] as const;
  for (const [one, isOne, other, isOther] of exclusive) {
    if (isOne !== undefined && isOther !== undefined) {
      throw conflict(one, `\`${one}\` and \`${other}\` cannot be given together`, 'leave one of them out');
    }
  }
  if (flags.header !== undefined && count === 0) {
    throw conflict(
      '--header',
      '`--header` is for `--url`, which is not given',
      'add --url, or put headers in the config',
    );
  }
}

/** Throws ConfigError for flags given with --queue: the worker goes by the config, so what only this command knows would be lost silently. */
function refuseForQueue(flags: WhereToFlags): void {
  if (!flags.queue && flags.store !== undefined) {
    throw conflict('--store', '`--store` is for `--queue`, which is not given', 'add --queue');
  }
  const strays = [
    ['--url', flags.url],
    ['--header', flags.header],
    ['--ca', flags.ca],
    ['--secret', flags.secret ?? flags.secretFile],
    ['--strategy', flags.strategy],
    ['--timeout', flags.timeout],
    ['--retry-for', flags.retryFor],
    ['--concurrency', flags.concurrency],
    ['--endpoint', flags.endpoint],
    ['--write-key', flags.writeKey],
    ['--loopback', flags.loopback],
  ] as const;
  const [stray] = strays.find(([, value]) => value !== undefined) ?? [];
  if (!flags.queue || stray === undefined) return;
  throw conflict(
    stray,
    `\`--queue\` and \`${stray}\` cannot be given together`,
    `leave ${stray} out, and put it into the config: the queue is delivered as the config says`,
  );
}

/** The flags as the first layer of settings, so that they are read and rejected like every other. */
export async function flagLayer(flags: WhereToFlags, io: StdinIo & Pick<Io, 'cwd'>): Promise<Layer> {
  const headers = headersOf(flags.header ?? []);
  const secrets = await readSecretFlags(flags, io);
  const url = flags.url?.map((each): WebhookOptions => ({ url: each, headers }));
  const ca = await namedCaFile(flags, io);
  return layerOf(givenByFlags({ ...flags, url, secret: secrets, ca }), io.cwd);
}

/** Reads the headers of --header. Their values stay out of errors: `Authorization` is one of them. */
export function headersOf(lines: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, [string, string]>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim();
    const shown = printable(name, 80);
    if (name === '') {
      throw conflict(
        '--header',
        "Expected `--header` to be 'Name: value', got no name and colon",
        "give for example --header 'X-Env: staging'",
      );
    }
    if (/[\r\n]/.test(line)) {
      throw conflict(
        '--header',
        `\`--header\` ${shown} holds a line break`,
        'give one --header for each header; a value read from a file often ends with a line break',
      );
    }
    const key = name.toLowerCase();
    if (headers.has(key)) {
      throw conflict('--header', `\`--header\` ${shown} is given twice`, 'leave one of them out');
    }
    headers.set(key, [name, line.slice(colon + 1).trim()]);
  }
  return Object.fromEntries(headers.values());
}

/** An error about the flags themselves. */
export function conflict(flag: string, sentence: string, hint?: string): ConfigError {
  return new ConfigError(sentence, { key: flag, origin: flag, hint });
}
