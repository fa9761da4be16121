import { basename, resolve } from 'node:path';
import { cutValues } from '../../../config/files/cut-values.ts';
import { configsBeside } from '../../../config/files/find-files.ts';
import type { ListedSetting } from '../../../config/list-settings.ts';
import type { Settings } from '../../../config/settings.ts';
import { prepareDestinations } from '../../../engine/destination.ts';
import type { DestinationOptions, Sources } from '../../../engine/options.ts';
import { HooksError } from '../../../errors.ts';
import { validateWriteKeys } from '../../../service/request/authentication.ts';
import { oddSecret } from '../../flags/signature/odd-secret.ts';
import type { Io } from '../../io.ts';
import { fail, ok, warn, type DoctorFinding } from './finding.ts';

/** Reports the config files, and the variables that they need and that are not set, or that hide them. */
export function settingsFindings(settings: Settings, { cwd }: Pick<Io, 'cwd'>): DoctorFinding[] {
  const { files } = settings;
  const rows = settings.list();
  const found =
    files.length === 0
      ? warn('config', 'no config file was found', 'run hooks init to write one, or name one with -c FILE')
      : ok('config', files.join(', '));
  return [
    found,
    ...files.flatMap((file) => [...besideFindings(file, cwd), ...cutFindings(file, cwd)]),
    ...rows.flatMap(unsetFindings),
    ...rows.flatMap(hidingFindings),
  ];
}

/** Reports files that look like the config and are not read. */
function besideFindings(file: string, cwd: string): DoctorFinding[] {
  const others = configsBeside(resolve(cwd, file)).map((path) => basename(path));
  if (others.length === 0) return [];
  const said = `${file} is read; ${others.join(', ')} beside it ${others.length === 1 ? 'is' : 'are'} not`;
  return [warn('config', said, 'keep one of them, or name the one that is meant with -c FILE')];
}

/** Reports what YAML drops of a secret. Shows none of it. */
function cutFindings(file: string, cwd: string): DoctorFinding[] {
  return cutValues(resolve(cwd, file)).map(({ line, key }) =>
    warn(
      'config',
      `${file}:${line}: \`${key}\` ends before a space and #, where YAML begins a comment`,
      'put quotes around the value if # is a part of it, and a space behind # if it is not',
    ),
  );
}

function hidingFindings({ key, origin, hides = [] }: ListedSetting): DoctorFinding[] {
  if (hides.length === 0) return [];
  const said = `${origin} hides \`${key}\` of ${hides.join(', ')}`;
  return [warn('variable', said, `unset ${origin} to use the value of the file, or remove it there`)];
}

function unsetFindings({ key, origin, unset = [] }: ListedSetting): DoctorFinding[] {
  return unset.map((name) => {
    const hint = `export ${name}=…; for a service, put it into its environment file`;
    return fail('variable', `${key} (${origin}) needs ${name}, which is not set`, hint);
  });
}

/** Reads the sources as `serve` and `worker` do; undefined when they are not valid. */
export function readSources(settings: Settings): {
  readonly sources?: Sources;
  readonly findings: DoctorFinding[];
} {
  try {
    const { sources } = settings;
    prepareDestinations(sources, 'hooks-cli');
    validateWriteKeys(sources);
    return { sources, findings: [] };
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    // A variable that is not set is reported already.
    const isReported = settings
      .list()
      .some(({ unset = [] }) => unset.some((name) => error.message.includes(name)));
    return { findings: isReported ? [] : [fail('config', error.message, error.hint)] };
  }
}

export function sourceFindings(sources: Sources): DoctorFinding[] {
  return Object.entries(sources).flatMap(([name, { writeKey, destinations }]) => {
    const label = `source ${name}`;
    const entries = Object.entries(destinations);
    return [
      ...(writeKey === undefined ? [noWriteKey(label)] : secretFindings(`${label}: its write key`, writeKey)),
      ...(entries.length === 0 ? [noDestination(label)] : []),
      ...entries.flatMap(([key, destination]) => destinationFindings(`${name} → ${key}`, destination)),
    ];
  });
}

/** A source whose messages are only sent from here needs none. */
function noWriteKey(label: string): DoctorFinding {
  const hint = 'set `writeKey` in the config, or HOOKS_WRITE_KEY, before you run hooks serve';
  return { ...ok('write-key', `${label}: it has no write key, so hooks serve takes no call for it`), hint };
}

function noDestination(label: string): DoctorFinding {
  const hint = 'put `webhooks` into the config (hooks init writes one), set HOOKS_URL, or give --url';
  return fail('destination', `${label}: no webhook is configured, so nothing is sent anywhere`, hint);
}

function destinationFindings(label: string, destination: DestinationOptions): DoctorFinding[] {
  const { enabled, webhooks, sharedSecrets } = destination;
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
      secretFindings(`${label}: secret ${index + 1} of ${sharedSecrets.length}`, secret),
    ),
  ];
}

function secretFindings(what: string, secret: string): DoctorFinding[] {
  const odd = oddSecret(secret);
  return odd === undefined ? [] : [warn('secret', `${what} ${odd.what}`, odd.fix)];
}
