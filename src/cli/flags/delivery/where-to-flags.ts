import type { Command } from 'commander';
import { layerOf, type Layer } from '../../../config/layer.ts';
import { MAX_WEBHOOKS, type WebhookOptions } from '../../../engine/options.ts';
import type { Io } from '../../io.ts';
import type { StdinIo } from '../../stdin.ts';
import { namedCaFile } from './ca-file.ts';
import { addSecretFlags, readSecretFlags, type SecretFlags } from '../signature/secret-flags.ts';
import { collect, given } from '../flag-values.ts';
import { addSettingFlags, givenByFlags, settingOption } from '../setting-flags.ts';
import { conflict, headersOf } from '../header-lines.ts';
import { collectUrl } from '../short-url.ts';

/** The "where to" flags of `send` and `replay`, as typed. */
export interface WhereToFlags extends SecretFlags {
  readonly url?: readonly string[];
  readonly header?: readonly string[];
  /** A PEM file. */
  readonly ca?: string;
  /** Names with commas between. */
  readonly scheme?: string;
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
    'scheme',
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
    ['--scheme', flags.scheme],
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
