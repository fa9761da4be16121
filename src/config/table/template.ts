import { defaultText, describedSetting, fieldOf, KEYS, type Key } from './fields.ts';

/** What a new config file is to say; everything else stands in it as a comment. */
export interface TemplateOptions {
  /** At least one; `${NAME}` is kept as it is. */
  readonly urls: readonly string[];
  /** Whether the secret is taken from HOOKS_SECRET; else the line is a comment. */
  readonly isSigned: boolean;
  /** Whether `delivery.allowPrivate` is true; else the line is a comment. A webhook on this machine gets nothing of `serve` without it. */
  readonly allowsPrivate: boolean;
}

/** For those whose default does not show how a value is written. */
const EXAMPLES: Readonly<Partial<Record<Key, string>>> = {
  sharedSecret: '${HOOKS_SECRET}',
  writeKey: '${HOOKS_WRITE_KEY}',
  endpoint: 'https://tracking.example/v1/batch',
  'delivery.ca': './ca.pem',
  store: 'sqlite:./hooks.db',
};

const HEAD = `# Settings of hooks. Flags and environment variables win over this file;
# \`hooks config\` shows what is in force, \`hooks doctor\` whether it works.
# \${NAME} is taken from the environment when the setting is used: keep secrets there.
`;

const LONG_FORM = `
# Several sources, each with its destinations, instead of \`webhooks\`, \`sharedSecret\`, \`writeKey\` and \`delivery\`:
# sources:
#   web:
#     writeKey: \${WEB_WRITE_KEY}
#     destinations:
#       Webhooks:
#         sharedSecret: \${HOOKS_SECRET}
#         webhooks: [https://a.example/hook]
`;

/** A config file in the short form, as YAML with every setting in it: what is not said is a comment with its default. */
export function configTemplate({ urls, isSigned, allowsPrivate }: TemplateOptions): string {
  const keys = KEYS.filter((key) => fieldOf(key).longFormOnly !== true);
  const sections = [...new Set(keys.map((key) => key.split('.', 1)[0] ?? key))].map((name) => {
    if (name === 'webhooks') return webhooks(urls);
    const lines = section(
      name,
      keys.filter((key) => key === name || key.startsWith(`${name}.`)),
      '',
    );
    if (name === 'delivery' && allowsPrivate) return `${lines.map(deliveryLine).join('\n')}\n`;
    return commented(lines, { isInForce: name === 'sharedSecret' && isSigned });
  });
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

/** The lines of a setting, or of a group of them, in force: comments begin with `#`. */
function section(name: string, keys: readonly Key[], above: string): string[] {
  const path = above + name;
  const own = keys.find((key) => key === path);
  if (own !== undefined) return [`# ${describe(own)}`, `${name}: ${EXAMPLES[own] ?? defaultText(own) ?? ''}`];
  const inner = [...new Set(keys.map((key) => key.slice(path.length + 1).split('.', 1)[0] ?? key))];
  const lines = inner.flatMap((each) =>
    section(
      each,
      keys.filter((key) => key === `${path}.${each}` || key.startsWith(`${path}.${each}.`)),
      `${path}.`,
    ),
  );
  return [`${name}:`, ...lines.map((line) => `  ${line}`)];
}

/** All of it, but for what is a comment already at its beginning. */
function commented(lines: readonly string[], { isInForce }: { readonly isInForce: boolean }): string {
  if (isInForce) return `${lines.join('\n')}\n`;
  return `${lines.map((line) => (line.startsWith('#') ? line : `# ${line}`)).join('\n')}\n`;
}

/** A line of `delivery` when `allowPrivate` alone is in force. */
function deliveryLine(line: string): string {
  if (line === '  allowPrivate: false') return '  allowPrivate: true';
  return line === 'delivery:' || /^ {2}#/.test(line) ? line : line.replace('  ', '  # ');
}

function describe(key: Key): string {
  return key === 'webhooks' ? fieldOf(key).describe : describedSetting(key);
}
