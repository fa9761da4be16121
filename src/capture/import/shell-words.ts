/** A command of a shell script. The words are Latin-1: each character is one byte. */
export interface ShellCommand {
  readonly line: number;
  readonly words: readonly string[];
  /** Why the values of words are unknown, for example a variable, by the index of the word. All words are split. */
  readonly problems: ReadonlyMap<number, string>;
  /**
   * The words of the commands before this one in its pipeline, first to last; no words for a command with a problem. Empty if
   * its input is not a pipe.
   */
  readonly pipe: readonly (readonly string[])[];
}

/**
 * Splits a script into commands and their words, and executes nothing. A comment is a command of one word, which begins with #.
 * `text` is Latin-1. Reads the quoting of POSIX shells with `$'…'` of bash.
 */
export function posixCommands(text: string): readonly ShellCommand[] {
  return new PosixReader(text).commands();
}

/** A variable of cmd.exe, such as `%NAME%`, and not two characters of a URL, such as `%C3%A9`. */
export const CMD_VARIABLE = /%(?![\dA-Fa-f]{2}\w*%[\dA-Fa-f]{2})[A-Za-z_][\w()]*(?::[^%\n]*)?%/;

const VARIABLE = 'it has a variable or a command, whose value is unknown';
export const REDIRECT = 'it has a redirect without a space before it';
const PATTERN = 'it has a *, ?, ~, bracket or brace outside quotes, which a shell can replace';
const AMBIGUOUS = 'bash and cmd.exe read its double quotes differently: it has %NAME% or "" in them';

/**
 * Parts of a word that a shell replaces, with the reason for the rejection. The word has `"` and `'` in place of its quoted
 * parts. An unquoted `?` of a URL is left, because no file has such a name.
 */
const REPLACED_IN_WORDS: readonly (readonly [RegExp, string])[] = [
  [/`|\$[\w({@*#?!$'"-]/, VARIABLE],
  [/^~|[()]/, PATTERN],
  [/^(?=[^{]*\{.*\})[^{]*\{.*?(?:,|\.\.)/, PATTERN],
  [/^(?!.*:\/\/)(?:.*?(?:\*|\?(?![\w-]+=))|[^[]*\[.*\])/, PATTERN],
  [/^(?![\d&]?[<>]).*[<>]/, REDIRECT],
  [/""/, AMBIGUOUS],
  [CMD_VARIABLE, AMBIGUOUS],
];

/** Parts of a text in double quotes that a shell replaces. */
const REPLACED_IN_QUOTES: readonly (readonly [RegExp, string])[] = [
  [/(?:^|[^\\])(?:\\\\)*(?:`|\$[\w({@*#?!$-])/, VARIABLE],
  [CMD_VARIABLE, AMBIGUOUS],
];

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
  /\\(?:((?:u[0-9A-Fa-f]{4}\\?)*u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8})|x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|c([^])|([^]))/g;

class PosixReader {
  readonly #text: string;
  readonly #commands: ShellCommand[] = [];
  #at = 0;
  #line = 1;
  #startLine = 1;
  #words: string[] = [];
  #word: string | undefined;
  /** The word with a quote in place of each quoted part. */
  #plain = '';
  #problems = new Map<number, string>();
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
    if (rest === '&>') return this.#add(rest, 2);
    if ('<>'.includes(char)) return this.#addRedirect();
    if (';&|\n'.includes(char)) return this.#endCommand(char);
    if (char === "'") return this.#quoted(1, /[^']*/y, (text) => text);
    if (rest === "$'") return this.#quoted(2, /(?:[^'\\]|\\[^])*/y, ansiText);
    if (char === '"') return this.#quoted(1, /(?:[^"\\]|\\[^])*/y, (text) => this.#doubleQuoted(text));
    if (char === '\\') return this.#add(rest.slice(1), 2, "'");
    return this.#add(char, 1);
  }

  #skip(count: number): void {
    for (const char of this.#text.slice(this.#at, this.#at + count)) if (char === '\n') this.#line++;
    this.#at += count;
  }

  #add(text: string, count: number, plain = text): void {
    if (this.#words.length === 0 && this.#word === undefined) this.#startLine = this.#line;
    this.#word = (this.#word ?? '') + text;
    this.#plain += plain;
    this.#skip(count);
  }

  #quoted(opening: number, pattern: RegExp, decode: (text: string) => string): void {
    pattern.lastIndex = this.#at + opening;
    const [text = ''] = pattern.exec(this.#text) ?? [];
    const end = this.#at + opening + text.length;
    if (end >= this.#text.length) this.#addProblem('a quote is not closed');
    this.#add(decode(text), end + 1 - this.#at, this.#text[this.#at] === '"' ? '"' : "'");
  }

  #doubleQuoted(text: string): string {
    this.#checkReplaced(text, REPLACED_IN_QUOTES);
    return text.replaceAll(/\\([$`"\\\n])/g, (_, char: string) => (char === '\n' ? '' : char));
  }

  #checkReplaced(text: string, replaced: typeof REPLACED_IN_WORDS): void {
    const reason = replaced.find(([pattern]) => pattern.test(text))?.[1];
    if (reason !== undefined) this.#addProblem(reason);
  }

  /** Keeps the first problem of a word. */
  #addProblem(reason: string): void {
    const index = this.#words.length;
    this.#problems.set(index, this.#problems.get(index) ?? reason);
  }

  #addRedirect(): void {
    const [operator = ''] = /^[<>]{1,3}[&|]?/.exec(this.#text.slice(this.#at, this.#at + 4)) ?? [];
    this.#add(operator, operator.length);
  }

  #addComment(): void {
    const end = this.#text.indexOf('\n', this.#at);
    const comment = this.#text.slice(this.#at, end === -1 ? undefined : end);
    this.#commands.push({ line: this.#line, words: [comment], problems: new Map(), pipe: [] });
    this.#skip(comment.length);
  }

  #endWord(): void {
    if (this.#word !== undefined) {
      this.#checkReplaced(this.#plain, REPLACED_IN_WORDS);
      if (this.#word.includes('\0')) this.#addProblem('it has a NUL, which no argument can have');
      this.#words.push(this.#word);
    }
    this.#word = undefined;
    this.#plain = '';
    this.#skip(1);
  }

  #endCommand(separator = ''): void {
    this.#endWord();
    const [words, pipe, problems] = [this.#words, this.#pipe, this.#problems];
    if (words.length > 0) this.#commands.push({ line: this.#startLine, words, pipe, problems });
    // A pipeline continues after a line break. A second character of a separator (`&&`, `||`) ends it.
    if (words.length > 0) this.#pipe = separator === '|' ? [...pipe, problems.size === 0 ? words : []] : [];
    else if (separator !== '\n') this.#pipe = [];
    this.#words = [];
    this.#problems = new Map();
  }
}

function ansiText(text: string): string {
  return text.replaceAll(ESCAPE, (...groups: string[]) => {
    const [, code, hex, octal, control, char = ''] = groups;
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
    if (control === '?') return '\x7F';
    if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) & 0x1f);
    return ESCAPES[char] ?? (`\\'"?`.includes(char) ? char : `\\${char}`);
  });
}
