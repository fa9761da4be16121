import { defaultText, describedSetting, fieldOf, type Key } from './fields.ts';
import { shortFormShapes, type FileShape } from './file-shape.ts';

/** Settings that are in force in a new config file. All others are comments. */
export interface TemplateOptions {
  /** URLs of the webhooks in the new file, at least one. `${NAME}` is not replaced. */
  readonly urls: readonly string[];
  /** YAML values of the settings in force besides `webhooks`. References such as `${HOOKS_SECRET}` are not replaced. */
  readonly inForce: Readonly<Partial<Record<Key, string>>>;
}

/** Examples for settings whose default does not show the form of a value. */
const EXAMPLES: Readonly<Partial<Record<Key, string>>> = {
  sharedSecret: '${HOOKS_SECRET}',
  writeKey: '${HOOKS_WRITE_KEY}',
  endpoint: 'https://tracking.example/v1/batch',
  scheme: 'segment,standard-webhooks',
  schemes: '{}',
  'plan.file': './plan.json',
  'delivery.ca': './ca.pem',
  store: 'sqlite:./hooks.db',
};

const HEAD = `# Settings of hooks. Flags and environment variables override this file;
# \`hooks config\` shows what is in force, \`hooks doctor\` whether it works.
# \${NAME} is taken from the environment when the setting is used: keep secrets there.
`;

const LONG_FORM = `
# Every destination gets each message; of the webhooks of one destination, one that takes the message is enough.
# Several sources, each with its destinations, instead of \`webhooks\`, \`sharedSecret\`, \`writeKey\` and \`delivery\`:
# sources:
#   web:
#     writeKey: \${WEB_WRITE_KEY}
#     destinations:
#       Billing:
#         sharedSecret: \${HOOKS_SECRET}
#         webhooks: [https://a.example/hook]
#       Mail:
#         sharedSecret: \${MAIL_SECRET}
#         webhooks: [https://b.example/hook]
`;

/**
 * Makes a config file in the short form, as YAML with every setting. Settings that are not in force are comments with their
 * default.
 */
export function configTemplate({ urls, inForce }: TemplateOptions): string {
  const sections = Object.entries(shortFormShapes()).map(([name, shape]) =>
    name === 'webhooks' ? webhooks(urls) : `${section(name, shape, inForce).join('\n')}\n`,
  );
  return [HEAD, ...sections].join('\n') + LONG_FORM;
}

function webhooks(urls: readonly string[]): string {
  const lines = [
    `# ${describe('webhooks')}`,
    'webhooks:',
    ...urls.map((url) => `  - ${JSON.stringify(url)}`),
    '  # - url: https://b.example/hook',
    '  #   headers: { X-Env: staging }',
  ];
  return `${lines.join('\n')}\n`;
}

type InForce = TemplateOptions['inForce'];

/**
 * Makes the lines of a config file for the setting or group at `path`. If no setting of a group is in force, all lines of
 * the group are comments.
 */
function section(path: string, shape: FileShape, inForce: InForce, isComment = false): readonly string[] {
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (shape.kind === 'setting') {
    const { key } = shape;
    const value = inForce[key];
    const line = `${name}: ${value ?? EXAMPLES[key] ?? defaultText(key) ?? ''}`;
    return [`# ${describe(key)}`, value === undefined && !isComment ? `# ${line}` : line];
  }
  if (shape.kind !== 'keys') return []; // the short form has only settings and groups of settings
  const hasSetting = Object.keys(inForce).some((key) => key.startsWith(`${path}.`));
  const lines = Object.entries(shape.keys).flatMap(([each, inner]) =>
    section(`${path}.${each}`, inner, inForce, isComment || !hasSetting),
  );
  const all = [`${name}:`, ...lines.map((line) => `  ${line}`)];
  return isComment || hasSetting ? all : all.map((line) => `# ${line}`);
}

function describe(key: Key): string {
  return key === 'webhooks' ? fieldOf(key).describe : describedSetting(key);
}
