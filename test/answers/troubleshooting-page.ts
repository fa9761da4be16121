import { format } from 'prettier';
import type { AnswerCase, AnswerTheme } from './answer-case.ts';

const INTRODUCTION = `# Troubleshooting

What the commands say when something is wrong, what it means, and how to fix it. Search this page for the words of the error; \`…\`
stands for what differs from case to case. Each entry is a test: \`test/answers/\` makes the mistake and looks for these words.
`;

/** Makes the page from the cases: one section a theme, one entry for each error sentence with its fix. */
export async function troubleshootingPage(themes: readonly AnswerTheme[]): Promise<string> {
  const sections = themes
    .map(({ title, cases }) => ({ title, entries: entriesOf(cases) }))
    .filter(({ entries }) => entries.length > 0)
    .map(({ title, entries }) => `## ${title}\n\n${entries.join('\n')}\n`);
  return format([INTRODUCTION, ...sections].join('\n'), { parser: 'markdown', printWidth: 110 });
}

/** Cases with the same fix are one entry, which has each sentence once. */
function entriesOf(cases: readonly AnswerCase[]): readonly string[] {
  const byFix = new Map<string, Map<string, string[]>>();
  for (const { cause, fix, title, isVariant, missed } of cases) {
    if (isVariant || missed !== undefined) continue;
    const byCause = byFix.get(fix) ?? new Map<string, string[]>();
    byFix.set(fix, byCause.set(cause, [...(byCause.get(cause) ?? []), title]));
  }
  return [...byFix].map(([fix, byCause]) => {
    const causes = [...byCause].map(([cause, titles]) => `${code(cause)} ${escaped(titles.join('; '))}.`);
    return `- ${causes.join(' ')} Fix: ${code(fix)}`;
  });
}

/** As code, with the names of values in capitals: {url} is URL. */
function code(text: string): string {
  const words = text.replace(/\{([a-z][a-zA-Z]*)\}/g, (_, name: string) => name.toUpperCase());
  return words.includes('`') ? `\`\` ${words} \`\`` : `\`${words}\``;
}

function escaped(text: string): string {
  return text.replace(/[*_<>[\]\\]/g, String.raw`\$&`);
}
