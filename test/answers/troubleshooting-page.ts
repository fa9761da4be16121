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

/** Cases with the same sentence and the same fix are one entry. */
function entriesOf(cases: readonly AnswerCase[]): readonly string[] {
  const byAnswer = new Map<string, { readonly first: AnswerCase; readonly titles: string[] }>();
  for (const answerCase of cases) {
    if (answerCase.isVariant || answerCase.missed !== undefined) continue;
    const key = `${answerCase.cause}\n${answerCase.fix}`;
    const known = byAnswer.get(key);
    if (known === undefined) byAnswer.set(key, { first: answerCase, titles: [answerCase.title] });
    else known.titles.push(answerCase.title);
  }
  return [...byAnswer.values()].map(
    ({ first: { cause, fix }, titles }) =>
      `- **${code(cause)}** ${escaped(titles.join('; '))}. **Fix:** ${code(fix)}`,
  );
}

/** As code, with the names of values in capitals: {url} is URL. */
function code(text: string): string {
  const words = text.replace(/\{([a-z][a-zA-Z]*)\}/g, (_, name: string) => name.toUpperCase());
  return words.includes('`') ? `\`\` ${words} \`\`` : `\`${words}\``;
}

function escaped(text: string): string {
  return text.replace(/[*_<>[\]\\]/g, String.raw`\$&`);
}
