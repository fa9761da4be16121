import { cmdCommands } from './cmd-words.ts';
import { curlRequest, type ReadNamedFile } from './curl-request.ts';
import type { Imported } from './imported.ts';
import { jsonWithin, requestsIn } from './request-object.ts';
import { posixCommands } from './shell-words.ts';

/** A line that begins with curl, also after a prompt. */
const CURL_LINE = /^\s*(?:\S*[$>%#] ?)?curl(?:\.exe)?\s/;

/** A call of curl or wget with an option or a URL, anywhere in a text. */
const CALL = /(?:^|[\s;&|(`'"/>$%#])(curl|wget)(?:\.exe)?\s[^]{0,200}?(?:(?<=\s)--?\w|:\/\/|[\\^]\s*$)/;

/** The start of a command for cmd.exe, which carets show: a quote with a caret, or a first line that a caret continues. */
const FOR_CMD = /^\s*\S+ (?:\^"|[^'\n]*\^\r?\n)/;

/** The program that a text calls, curl or wget. Undefined if the text calls neither. */
export function calledProgram(text: string): string | undefined {
  return CALL.exec(text)?.[1];
}

/** Whether a text is a script with curl commands, and not a log of requests. The first line that is clearly one of both decides. */
export function isCurlScript(text: string): boolean {
  for (const line of text.split('\n')) {
    const value = line.includes('{') ? jsonWithin(line) : undefined;
    if (value !== undefined && requestsIn(value).next().done !== true) return false;
    if (CURL_LINE.test(line)) return true;
  }
  return calledProgram(text) !== undefined;
}

/**
 * Finds the requests of the curl commands in a script. Executes nothing. Rejects each other text that calls curl or wget, so that
 * no request is lost silently.
 */
export async function* curlRequests(script: Buffer, readFile: ReadNamedFile): AsyncGenerator<Imported> {
  const text = script.toString('latin1');
  for (const command of FOR_CMD.test(text) ? cmdCommands(text) : posixCommands(text)) {
    const index = programIndex(command.words);
    const words = command.words.slice(index);
    const program = PROGRAM.exec(words[0] ?? '')?.[1];
    const called = program ?? calledProgram(command.words.join(' '));
    const what = `the ${called ?? ''} command in line ${command.line}`;
    const problem = [...command.problems].find(([at]) => at >= index)?.[1];
    if (program === 'curl') yield await curlRequest({ ...command, words, problem }, what, readFile);
    else if (program === 'wget') yield wgetRequest(words, what);
    else if (called !== undefined) yield { kind: 'rejected', what, reason: reasonOf(words, problem) };
  }
}

function wgetRequest(words: readonly string[], what: string): Imported {
  const hasBody = words.some((word) => /^--(?:post|body)-(?:data|file)(?:=|$)/.test(word));
  if (!hasBody) return { kind: 'skipped' };
  return { kind: 'rejected', what, reason: 'wget is not read; write the command with curl' };
}

function reasonOf([first = '']: readonly string[], problem: string | undefined): string {
  if (first.startsWith('#')) return 'it is in a comment';
  return problem ?? 'it is in the text or the arguments of another command';
}

const PROGRAM = /^(?:.*[\\/])?(curl|wget)(?:\.exe)?$/;
/** The last word of a prompt, such as `~]$` or `%`. The words are Latin-1: the last is the prompt ❯ of zsh. */
const PROMPT = /^(?:[$%#]|.*[^\d&>][$>%#]|\xE2\x9D\xAF)$/;
/** Words before a command that do not change it. */
const KEYWORD = /^(?:if|then|elif|else|while|until|do|!|\{|exec|command|builtin|\w+=[^]*)$/;
/** Programs that run a command. They have options of their own. */
const WRAPPER = /^(?:sudo|doas|time|env|nohup|nice|timeout|stdbuf)$/;

/** Index of the word that names curl or wget, if only a prompt, assignments and programs that run a command are before it; else 0. */
function programIndex(words: readonly string[]): number {
  const index = words.findIndex((word) => PROGRAM.test(word));
  const before = words.slice(0, Math.max(index, 0));
  const prompt = before[0] === '>' ? 0 : before.findLastIndex((word) => PROMPT.test(word));
  const own = before.slice(prompt + 1);
  const wrapper = own.findIndex((word) => WRAPPER.test(word));
  const isPrefix = own.every(
    (word, at) =>
      KEYWORD.test(word) ||
      WRAPPER.test(word) ||
      // An option of the program that runs the command, its value, or its time.
      (wrapper !== -1 && at > wrapper && (/^[-\d]/.test(word) || /^-\w$/.test(own[at - 1] ?? ''))),
  );
  return isPrefix ? before.length : 0;
}
