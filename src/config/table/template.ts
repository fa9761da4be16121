import { defaultText, describedSetting, fieldOf, KEYS, type Key } from './fields.ts';

/** Settings that are in force in a new config file. All others are comments. */
export interface TemplateOptions {
  /** URLs, at least one. `${NAME}` is not replaced. */
  readonly urls: readonly string[];
  /** Settings in force besides `webhooks`, as YAML. References such as `${HOOKS_SECRET}` are not replaced. */
  readonly inForce: Readonly<Partial<Record<Key, string>>>;
}

/** Examples for settings whose default does not show the form of a value. */
const EXAMPLES: Readonly<Partial<Record<Key, string>>> = {
  sharedSecret: '${HOOKS_SECRET}',
  writeKey: '${HOOKS_WRITE_KEY}',
  endpoint: 'https://tracking.example/v1/batch',
  scheme: 'segment,standard-webhooks',
  schemes: '{}',
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
#       Webhooks:
#         sharedSecret: \${HOOKS_SECRET}
#         webhooks: [https://a.example/hook]
`;

/** Makes a config file in the short form, as YAML with every setting. Settings that are not in force are comments with their default. */
export function configTemplate({ urls, inForce }: TemplateOptions): string {
  const keys = KEYS.filter((key) => fieldOf(key).longFormOnly !== true);
  const sections = namesBelow('', keys).map((name) =>
    name === 'webhooks' ? webhooks(urls) : `${section(name, { keys, inForce }).join('\n')}\n`,
  );
  return [HEAD, ...sections].join('\n') + LONG_FORM;
}

/** Names of the settings and groups directly in a group. `group` is its path with a final dot, or empty for the file. */
function namesBelow(group: string, keys: readonly Key[]): readonly string[] {
  const inside = keys.filter((key) => key.startsWith(group));
  return [...new Set(inside.map((key) => key.slice(group.length).split('.', 1)[0] ?? key))];
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

interface SectionOptions {
  readonly keys: readonly Key[];
  readonly inForce: TemplateOptions['inForce'];
  /** Whether the enclosing group is entirely a comment. */
  readonly isComment?: true;
}

/** The lines of a setting or a group. A group without a setting in force is entirely a comment. */
function section(path: string, options: SectionOptions): readonly string[] {
  const { keys, inForce, isComment } = options;
  const name = path.split('.').at(-1) ?? path;
  const own = keys.find((key) => key === path);
  if (own !== undefined) {
    const value = inForce[own];
    const line = `${name}: ${value ?? EXAMPLES[own] ?? defaultText(own) ?? ''}`;
    return [`# ${describe(own)}`, value === undefined && !isComment ? `# ${line}` : line];
  }
  const group = `${path}.`;
  const isPlain = isComment || keys.some((key) => key.startsWith(group) && inForce[key] !== undefined);
  const inner: SectionOptions = isPlain ? options : { ...options, isComment: true };
  const lines = namesBelow(group, keys).flatMap((each) => section(group + each, inner));
  const all = [`${name}:`, ...lines.map((line) => `  ${line}`)];
  return isPlain ? all : all.map((line) => `# ${line}`);
}

function describe(key: Key): string {
  return key === 'webhooks' ? fieldOf(key).describe : describedSetting(key);
}
