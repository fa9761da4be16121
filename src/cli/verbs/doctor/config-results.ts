import { dirname, resolve } from 'node:path';
import { cutValues } from '../../../config/files/cut-values.ts';
import type { UnreadConfig } from '../../../config/files/find-files.ts';
import type { ListedSetting } from '../../../config/list-settings.ts';
import type { Settings } from '../../../config/settings.ts';
import { prepareDestinations } from '../../../engine/destination.ts';
import type { DestinationOptions, Sources } from '../../../engine/options.ts';
import { HooksError } from '../../../errors.ts';
import { validateWriteKeys } from '../../../service/request/authentication.ts';
import { oddSecret } from '../../flags/signature/odd-secret.ts';
import type { SchemeChoice } from '../../../signature/schemes/find-schemes.ts';
import type { Io } from '../../io.ts';
import { fail, ok, warn, type DoctorResult } from './doctor-result.ts';

/** Reports the config files, variables that they need and that are not set, and variables that override them. */
export function settingsResults(settings: Settings, { cwd }: Pick<Io, 'cwd'>): DoctorResult[] {
  const { files, unreadConfig: unread, unreadHint } = settings;
  const rows = settings.list();
  const found =
    files.length === 0
      ? warn(
          'config',
          'no config file was found',
          unreadHint ?? 'run hooks init to write one, or name one with -c FILE',
        )
      : ok('config', files.join(', '));
  return [
    found,
    // A config of its own in a folder of a larger project is usual; two in one folder are not.
    ...(unread && files.some((file) => dirname(file) === dirname(unread.path)) ? [unreadResult(unread)] : []),
    ...files.flatMap((file) => cutResults(file, cwd)),
    ...rows.flatMap(unsetResults),
    ...rows.flatMap(hidingResults),
  ];
}

function unreadResult({ path, why }: UnreadConfig): DoctorResult {
  return warn(
    'config',
    `${path} is not read, because ${why}`,
    `keep one of them, or name it with -c ${path}`,
  );
}

/** Reports secrets that YAML cuts off at a `#`. Does not show them. */
function cutResults(file: string, cwd: string): DoctorResult[] {
  return cutValues(resolve(cwd, file)).map(({ line, key }) => {
    const said = `${file}:${line}: \`${key}\` ends before a space and #, where YAML begins a comment`;
    return warn('config', said, 'put quotes around the value if # is part of it, else a space after #');
  });
}

function hidingResults({ key, origin, hides = [] }: ListedSetting): DoctorResult[] {
  if (hides.length === 0) return [];
  const said = `${origin} hides \`${key}\` of ${hides.join(', ')}`;
  return [warn('variable', said, `unset ${origin} to use the value of the file, or remove it there`)];
}

function unsetResults({ key, origin, unset = [] }: ListedSetting): DoctorResult[] {
  return unset.map((name) => {
    const hint = `export ${name}=…; for a service, put it into its environment file`;
    return fail('variable', `${key} (${origin}) needs ${name}, which is not set`, hint);
  });
}

/** Reads the sources as `serve` and `worker` do. Returns results instead of sources if the sources are invalid. */
export function readSources(settings: Settings): {
  readonly sources?: Sources;
  readonly results: DoctorResult[];
} {
  try {
    const { sources } = settings;
    prepareDestinations(sources, 'hooks-cli');
    validateWriteKeys(sources);
    return { sources, results: [] };
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    // `settingsResults` already reports a variable that is not set.
    const isReported = settings
      .list()
      .some(({ unset = [] }) => unset.some((name) => error.message.includes(name)));
    return { results: isReported ? [] : [fail('config', error.message, error.hint)] };
  }
}

export function sourceResults(sources: Sources): DoctorResult[] {
  return Object.entries(sources).flatMap(([name, { writeKey, destinations }]) => {
    const label = `source ${name}`;
    const entries = Object.entries(destinations);
    return [
      ...(writeKey === undefined ? [noWriteKey(label)] : secretResults(`${label}: its write key`, writeKey)),
      ...(entries.length === 0 ? [noDestination(label)] : []),
      ...entries.flatMap(([key, destination]) => destinationResults(`${name} → ${key}`, destination)),
    ];
  });
}

/** Reports a missing write key as ok: only `hooks serve` needs one. */
function noWriteKey(label: string): DoctorResult {
  const hint = 'set `writeKey` in the config, or HOOKS_WRITE_KEY, before you run hooks serve';
  return { ...ok('write-key', `${label}: it has no write key, so hooks serve accepts no messages`), hint };
}

function noDestination(label: string): DoctorResult {
  const hint = 'put `webhooks` into the config (hooks init writes one), set HOOKS_URL, or give --url';
  return fail('destination', `${label}: no webhook is configured, so nothing is sent anywhere`, hint);
}

function destinationResults(label: string, destination: DestinationOptions): DoctorResult[] {
  const { enabled, webhooks, sharedSecrets, scheme } = destination;
  if (!enabled) {
    return [warn('destination', `${label}: it is disabled and gets nothing`, 'remove `enabled: false`')];
  }
  if (webhooks.length === 0) return [noDestination(label)];
  const count = `${webhooks.length} webhook${webhooks.length === 1 ? '' : 's'}`;
  const unsigned = warn(
    'secret',
    `${label}: there is no secret, so requests are unsigned`,
    'set `sharedSecret`, such as ${HOOKS_SECRET}: without it a receiver cannot tell who sends',
  );
  return [
    ok('destination', `${label}: ${count}, ${destination.delivery.strategy}`),
    ...(sharedSecrets.length === 0 ? [unsigned] : []),
    ...sharedSecrets.flatMap((secret, index) =>
      secretResults(`${label}: secret ${index + 1} of ${sharedSecrets.length}`, secret, scheme),
    ),
  ];
}

function secretResults(what: string, secret: string, scheme?: SchemeChoice): DoctorResult[] {
  const odd = oddSecret(secret, [scheme]);
  return odd === undefined ? [] : [warn('secret', `${what} ${odd.what}`, odd.fix)];
}
