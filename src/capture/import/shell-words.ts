/** A command of a shell script. The words are Latin-1: each character is one byte. */
export interface ShellCommand {
  readonly line: number;
  readonly words: readonly string[];
  /** Why the words are unknown, for example a variable. The rest of the command is still split. */
  readonly problem?: string;
  /**
   * The words of the commands before this one in its pipeline, first to last; no words for a command with a problem. Empty if
   * its input is not a pipe.
   */
  readonly pipe: readonly (readonly string[])[];
}

/**
 * Splits a script into commands and their words, and executes nothing. A comment is a command of one word, which begins with #. `text` is Latin-1. Reads the quoting of POSIX shells with
 * `$'…'` of bash, or that of cmd.exe, which the carets in commands of browsers show.
 */
export function shellCommands(text: string): readonly ShellCommand[] {
  return FOR_CMD.test(text) ? cmdCommands(text) : new PosixReader(text).commands();
}

/** The start of a command for cmd.exe: a quote with a caret, or a first line that a caret continues. */
const FOR_CMD = /^\s*\S+ (?:\^"|[^'\n]*\^\r?\n)/;

/** Characters that a letter after a backslash stands for in `$'…'`. */
const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1B',
  E: '\x1B',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** An escape in `$'…'`. Browsers write a character beyond U+FFFF as two `\u`. */
const ESCAPE =
  /\\(?:((?:u[0-9A-Fa-f]{4}\\?)*u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8})|x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|([^]))/g;

class PosixReader {
  readonly #text: string;
  readonly #commands: ShellCommand[] = [];
  #at = 0;
  #line = 1;
  #startLine = 1;
  #words: string[] = [];
  #word: string | undefined;
  #problem: string | undefined;
  #pipe: readonly (readonly string[])[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  commands(): readonly ShellCommand[] {
    while (this.#at < this.#text.length) this.#step();
    this.#endCommand();
    return this.#commands;
  }

  #step(): void {
    const rest = this.#text.slice(this.#at, this.#at + 2);
    const [char = ''] = rest;
    if (/^\\\r?\n/.test(this.#text.slice(this.#at, this.#at + 3))) return this.#skip(rest === '\\\r' ? 3 : 2);
    if (char === ' ' || char === '\t' || char === '\r') return this.#endWord();
    if (char === '#' && this.#word === undefined) return this.#addComment();
    if (';&|\n'.includes(char)) return this.#endCommand(char);
    if (char === "'") return this.#quoted(1, /[^']*/y, (text) => text);
    if (rest === "$'") return this.#quoted(2, /(?:[^'\\]|\\[^])*/y, ansiText);
    if (char === '"') return this.#quoted(1, /(?:[^"\\]|\\[^])*/y, (text) => this.#doubleQuoted(text));
    if (char === '\\') return this.#add(rest.slice(1), 2);
    if (char === '`' || /^\$[\w({]/.test(rest)) {
      this.#problem ??= 'it has a variable or a command, whose value is unknown';
    }
    return this.#add(char, 1);
  }

  #skip(count: number): void {
    for (const char of this.#text.slice(this.#at, this.#at + count)) if (char === '\n') this.#line++;
    this.#at += count;
  }

  #add(text: string, count: number): void {
    if (this.#words.length === 0 && this.#word === undefined) this.#startLine = this.#line;
    this.#word = (this.#word ?? '') + text;
    this.#skip(count);
  }

  #quoted(opening: number, pattern: RegExp, decode: (text: string) => string): void {
    pattern.lastIndex = this.#at + opening;
    const [text = ''] = pattern.exec(this.#text) ?? [];
    const end = this.#at + opening + text.length;
    if (end >= this.#text.length) this.#problem ??= 'a quote is not closed';
    this.#add(decode(text), end + 1 - this.#at);
  }

  #doubleQuoted(text: string): string {
    if (/(?:^|[^\\])(?:\\\\)*(?:`|\$[\w({])/.test(text)) {
      this.#problem ??= 'it has a variable or a command, whose value is unknown';
    }
    return text.replaceAll(/\\([$`"\\\n])/g, (_, char: string) => (char === '\n' ? '' : char));
  }

  #addComment(): void {
    const end = this.#text.indexOf('\n', this.#at);
    const comment = this.#text.slice(this.#at, end === -1 ? undefined : end);
    this.#commands.push({ line: this.#line, words: [comment], pipe: [] });
    this.#skip(comment.length);
  }

  #endWord(): void {
    if (this.#word !== undefined) this.#words.push(this.#word);
    this.#word = undefined;
    this.#skip(1);
  }

  #endCommand(separator = ''): void {
    if (this.#word !== undefined) this.#words.push(this.#word);
    this.#word = undefined;
    this.#skip(1);
    const [words, pipe, problem] = [this.#words, this.#pipe, this.#problem];
    if (words.length > 0) {
      this.#commands.push({ line: this.#startLine, words, pipe, ...(problem !== undefined && { problem }) });
    }
    // A pipeline continues after a line break. A second character of a separator (`&&`, `||`) ends it.
    if (words.length > 0) this.#pipe = separator === '|' ? [...pipe, problem === undefined ? words : []] : [];
    else if (separator !== '\n') this.#pipe = [];
    this.#words = [];
    this.#problem = undefined;
  }
}

function ansiText(text: string): string {
  return text.replaceAll(ESCAPE, (...groups: string[]) => {
    const [, code, hex, octal, char = ''] = groups;
    if (code !== undefined) {
      const units = code.split(/\\?u/i).filter(Boolean);
      const points = units.map((unit) => Number.parseInt(unit, 16));
      const decoded = points
        .map((point) =>
          point > 0xffff ? String.fromCodePoint(Math.min(point, 0x10ffff)) : String.fromCharCode(point),
        )
        .join('');
      return Buffer.from(decoded, 'utf8').toString('latin1');
    }
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
    return ESCAPES[char] ?? (`\\'"?`.includes(char) ? char : `\\${char}`);
  });
}

/** The commands of a script of cmd.exe: carets escape outside quotes, and a caret at the end of a line continues it. */
function cmdCommands(text: string): readonly ShellCommand[] {
  const commands: ShellCommand[] = [];
  let [command, line, startLine, isQuoted] = ['', 1, 1, false];
  const finish = (): void => {
    const words = windowsWords(command);
    if (words.length > 0) commands.push({ line: startLine, words, pipe: [] });
    command = '';
  };
  for (const [piece] of text.matchAll(/\^\r?\n(?:\r?\n)?|\^[^]|\r?\n|[^]/g)) {
    const [, second = ''] = piece;
    if (command.trim() === '') startLine = line;
    line += piece.split('\n').length - 1;
    const isContinued = /^\^\r?\n/.test(piece);
    // Browsers write a newline in a text as a continued line and a blank one.
    if (isContinued) {
      command += piece.split('\n').length > 2 ? '\n' : '';
    } else if (piece.startsWith('^') && !isQuoted) {
      command += second;
    } else if (!isQuoted && (piece === '&' || piece.endsWith('\n'))) {
      finish();
    } else {
      if (piece === '"') isQuoted = !isQuoted;
      command += piece;
    }
  }
  finish();
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
