import type { Command } from 'commander';
import { layerOf, type Layer } from '../../../config/layer.ts';
import { fieldOf, type Key } from '../../../config/table/fields.ts';
import type { WebhookOptions } from '../../../engine/options.ts';
import type { Io } from '../../io.ts';
import type { StdinIo } from '../../stdin.ts';
import { namedCaFile } from './ca-file.ts';
import { addSecretFlags, readSecretFlags, type SecretFlag } from '../signature/secret-flags.ts';
import { flagError, collect } from '../flag-values.ts';
import { headersOf } from '../header-lines.ts';
import { flagOf, settingOption } from '../setting-flags.ts';

export const WAYS = ['webhooks', 'loopback', 'tracking-api', 'queue'] as const;

/** The kind of target that a command delivers to. */
export type Way = (typeof WAYS)[number];

/** Types of the values that commander returns for flags. `value` of a `WhereToRow` names one of these types. */
interface FlagValues {
  readonly text: string;
  readonly texts: readonly string[];
  readonly secrets: readonly SecretFlag[];
  readonly switch: true;
}

/**
 * One "where to" flag of `send`, `replay` and the syncs. The rows define the options, the type of the flags, the rejections
 * and the table in docs/configuration.md.
 */
export interface WhereToRow {
  readonly flag: `--${string}`;
  readonly value: keyof FlagValues;
  /** The setting that the flag sets. */
  readonly setting?: Key;
  /** Adds the flag to a command. @default adds the option of `setting`; without `setting`, another row or command adds it */
  readonly define?: (command: Command) => unknown;
  /** The kinds of target that use the flag. Any other kind rejects the flag, because the flag would have no effect. */
  readonly appliesTo: readonly Way[];
  /** The kind of target that the flag chooses: `--queue` chooses `queue`. */
  readonly selects?: Way;
  /** The flag without which this one has no effect. */
  readonly needs?: `--${string}`;
}

const TO_WEBHOOKS = ['webhooks', 'loopback'] as const;
const OVER_HTTP = ['webhooks', 'loopback', 'tracking-api'] as const;

/** The "where to" flags by commander's attribute name, in the order of the help. */
export const WHERE_TO_ROWS = {
  url: { ...settingRow('webhooks', ['webhooks']), value: 'texts', selects: 'webhooks' },
  header: {
    flag: '--header',
    value: 'texts',
    define: (command) =>
      command.option('-H, --header <header>', "send 'Name: value' to every --url (repeat)", collect),
    appliesTo: ['webhooks'],
    needs: '--url',
  },
  ca: settingRow('delivery.ca', OVER_HTTP),
  // Also defines --secret-file, because both flags fill one list.
  secret: { ...settingRow('sharedSecret', TO_WEBHOOKS), value: 'secrets', define: addSecretFlags },
  secretFile: { flag: '--secret-file', value: 'secrets', appliesTo: TO_WEBHOOKS },
  scheme: settingRow('scheme', TO_WEBHOOKS),
  strategy: settingRow('delivery.strategy', TO_WEBHOOKS),
  timeout: settingRow('delivery.timeout', OVER_HTTP),
  retryFor: settingRow('delivery.retryFor', OVER_HTTP),
  concurrency: settingRow('delivery.concurrency', OVER_HTTP),
  source: {
    flag: '--source',
    value: 'text',
    define: (command) => command.option('--source <name>', 'send as this source of the config'),
    appliesTo: [...OVER_HTTP, 'queue'],
  },
  endpoint: { ...settingRow('endpoint', ['tracking-api']), selects: 'tracking-api' },
  writeKey: { ...settingRow('writeKey', ['tracking-api']), selects: 'tracking-api' },
  loopback: {
    flag: '--loopback',
    value: 'switch',
    define: (command) =>
      command.option('--loopback', 'deliver to a built-in receiver that verifies and shows'),
    appliesTo: ['loopback'],
    selects: 'loopback',
  },
  queue: {
    flag: '--queue',
    value: 'switch',
    define: (command) => command.option('--queue', 'only queue it; hooks worker delivers'),
    appliesTo: ['queue'],
    selects: 'queue',
  },
  store: { ...settingRow('store', ['queue']), needs: '--queue' },
  // Defined by `send` and `replay`, with different help lines. A tracking API accepts no bodies but messages.
  exact: { flag: '--exact', value: 'switch', appliesTo: [...TO_WEBHOOKS, 'queue'] },
} as const satisfies Readonly<Record<string, WhereToRow>>;

/** The "where to" flags, as typed. */
export type WhereToFlags = {
  readonly [Name in keyof typeof WHERE_TO_ROWS]?: FlagValues[(typeof WHERE_TO_ROWS)[Name]['value']];
};

/** The flags that a kind of target uses. */
export type FlagOfWay<W extends Way> = {
  [Name in keyof typeof WHERE_TO_ROWS]: W extends (typeof WHERE_TO_ROWS)[Name]['appliesTo'][number]
    ? Name
    : never;
}[keyof typeof WHERE_TO_ROWS];

/** Creates the "where to" row of a flag whose name and option the table of settings defines. */
function settingRow<const Ways extends readonly Way[]>(setting: Key, appliesTo: Ways) {
  return { flag: flagOf(setting).name, value: 'text', setting, appliesTo } as const;
}

export function addWhereToFlags(command: Command): void {
  command.optionsGroup('Where to send:');
  for (const { define, setting } of Object.values<WhereToRow>(WHERE_TO_ROWS)) {
    if (define !== undefined) define(command);
    else if (setting !== undefined) command.addOption(settingOption(setting));
  }
}

/** The kinds of target in the order in which one is chosen if flags choose several. */
const PRECEDENCE: readonly Way[] = ['queue', 'loopback', 'tracking-api', 'webhooks'];

/** Returns the kind of target that the flags choose. Undefined if they choose none, so that the settings decide. */
export function selectedWay(flags: WhereToFlags): Way | undefined {
  const given = givenRows(flags);
  return PRECEDENCE.find((way) => given.some(({ selects }) => selects === way));
}

/** Throws ConfigError for a flag that the kind of target does not use, or that has no effect without another flag. */
export function rejectUnusedFlags(flags: WhereToFlags, way: Way): void {
  const given = givenRows(flags);
  const lacks = ({ needs }: WhereToRow): boolean =>
    needs !== undefined && !given.some(({ flag }) => flag === needs);
  const stray = given.find((row) => !row.appliesTo.includes(way) || lacks(row));
  if (stray === undefined) return;
  const selector = given.find(({ selects }) => selects === way);
  throw strayError(stray, { way, selector });
}

function strayError(
  { flag, needs, selects, appliesTo: [use = 'webhooks'] }: WhereToRow,
  { way, selector }: { readonly way: Way; readonly selector: WhereToRow | undefined },
): Error {
  if (selector !== undefined && (way === 'queue' || selects !== undefined)) {
    const sentence = `\`${selector.flag}\` and \`${flag}\` cannot be given together`;
    const inConfig = `leave ${flag} out, and put it into the config: the queue is delivered as the config says`;
    return flagError(flag, sentence, way === 'queue' ? inConfig : 'leave one of them out');
  }
  if (needs !== undefined) {
    return flagError(flag, `\`${flag}\` is for \`${needs}\`, which is not given`, `add ${needs}`);
  }
  const sentence = `\`${flag}\` is for ${WAY_NAMES[use]}; ${WAY_NAMES[way]} has no use for it`;
  return flagError(flag, sentence, way === 'tracking-api' ? 'leave it out, or give --url' : 'leave it out');
}

const WAY_NAMES: Readonly<Record<Way, string>> = {
  webhooks: 'webhooks',
  'tracking-api': 'a tracking API',
  loopback: '`--loopback`',
  queue: '`--queue`',
};

function givenRows(flags: WhereToFlags): readonly WhereToRow[] {
  const values: Readonly<Record<string, unknown>> = { ...flags };
  const rows = Object.entries<WhereToRow>(WHERE_TO_ROWS);
  return rows.flatMap(([name, row]) => (values[name] === undefined ? [] : [row]));
}

/** Returns the flags as the first layer of a destination's settings, so that they are validated like any other layer. */
export async function flagLayer(flags: WhereToFlags, io: StdinIo & Pick<Io, 'cwd'>): Promise<Layer> {
  const headers = headersOf(flags.header ?? []);
  const secret = await readSecretFlags(flags, io);
  const url = flags.url?.map((each): WebhookOptions => ({ url: each, headers }));
  const ca = await namedCaFile(flags, io);
  const values: Readonly<Record<string, unknown>> = { ...flags, url, secret, ca };
  const settings = Object.entries<WhereToRow>(WHERE_TO_ROWS).flatMap(([name, { flag, setting }]) => {
    if (setting === undefined || fieldOf(setting).belongsTo !== 'destination') return [];
    return [[setting, { name: flag, value: values[name] ?? flagOf(setting).atPrompt }]];
  });
  return layerOf(Object.fromEntries(settings), io.cwd);
}
