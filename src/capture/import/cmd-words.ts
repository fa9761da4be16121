import { CMD_VARIABLE, REDIRECT, type ShellCommand } from './shell-words.ts';

/** The commands of a script of cmd.exe: carets escape outside quotes, and a caret at the end of a line continues it. */
export function cmdCommands(text: string): readonly ShellCommand[] {
  const commands: ShellCommand[] = [];
  let [command, raw, line, startLine, isQuoted] = ['', '', 1, 1, false];
  // Known without a look at the command, which is as long as its body and would be copied for each character.
  let [isBlank, last] = [true, ''];
  const add = (more: string): void => {
    command += more;
    last = more.at(-1) ?? last;
    isBlank &&= more.trim() === '';
  };
  let pipe: ShellCommand['pipe'] = [];
  let problem: string | undefined;
  const finish = (separator: string): void => {
    const words = windowsWords(command);
    // A caret in a name keeps cmd.exe from finding the variable, and is gone from the words. The last word stands for all.
    if (CMD_VARIABLE.test(raw)) problem = 'it has a variable of cmd.exe, whose value is unknown';
    const problems = new Map(problem === undefined ? [] : [[words.length - 1, problem] as const]);
    if (words.length > 0) commands.push({ line: startLine, words, pipe, problems });
    pipe = separator === '|' ? [[]] : [];
    [command, raw, problem, isBlank, last] = ['', '', undefined, true, ''];
  };
  for (const [piece] of text.matchAll(/\^\r?\n(?:\r?\n)?|\^[^]|\r?\n|[^]/g)) {
    const [, second = ''] = piece;
    if (isBlank) startLine = line;
    raw += piece;
    line += piece.split('\n').length - 1;
    const isContinued = /^\^\r?\n/.test(piece);
    // Browsers write a newline in a text as a continued line and a blank one.
    if (isContinued) {
      add(piece.split('\n').length > 2 ? '\n' : '');
    } else if (piece.startsWith('^') && !isQuoted) {
      add(second);
    } else if (!isQuoted && ((/^[&|]$/.test(piece) && last !== '>') || piece.endsWith('\n'))) {
      finish(piece);
    } else {
      if (!isQuoted && /^[^\s\d<>&].*[<>]$/.test(last + piece)) problem = REDIRECT;
      if (piece === '"') isQuoted = !isQuoted;
      add(piece);
    }
  }
  finish('');
  return commands;
}

/**
 * Splits a command line as browsers quote it for Windows: a backslash escapes a quote and itself, and `""` in a quoted text is
 * a quote.
 */
function windowsWords(command: string): readonly string[] {
  const words: string[] = [];
  let [word, isQuoted]: [string | undefined, boolean] = [undefined, false];
  for (const [piece] of command.matchAll(/\\[\\"]|"{1,2}|[^]/g)) {
    const isPair = piece === '""';
    if (piece === '"' || (isPair && !isQuoted)) {
      word ??= '';
      isQuoted = isPair ? isQuoted : !isQuoted;
    } else if (!isQuoted && /[ \t]/.test(piece)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + piece.slice(-1);
    }
  }
  return word === undefined ? words : [...words, word];
}
