import { isKept } from './decimal.ts';
import { changed, cutOffHint, duplicate, keyHint, valueHint, type JsonProblem } from './json-problem.ts';
import { formatPath, type PathStep } from './json-path.ts';
import { shortened } from '../problem.ts';

/**
 * Walks a text by the grammar of RFC 8259, without recursion. Returns the first syntax error, else the first value that
 * JavaScript would lose, else undefined. Slow, but the only reader of JSON here that explains what is wrong with a text.
 */
export function findProblem(text: string): JsonProblem | undefined {
  return new Walker(text).walk();
}

/** An object or array that is not closed yet. `step` is the key or index that the walk has reached in it. */
type Open =
  { readonly closer: '}'; step: string; readonly keys: Set<string> } | { readonly closer: ']'; step: number };

/** The elements that the grammar allows next. */
type JsonState = 'value' | 'first-item' | 'first-key' | 'key' | 'colon' | 'next' | 'end' | 'done';

const LITERALS: readonly string[] = ['true', 'false', 'null'];

type Syntax = Extract<JsonProblem, { kind: 'syntax' }>;

class Walker {
  readonly #text: string;
  readonly #open: Open[] = [];
  #at = 0;
  #loss: JsonProblem | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  walk(): JsonProblem | undefined {
    let state: JsonState = 'value';
    while (state !== 'done') {
      this.#skipSpace();
      const next = this.#step(state);
      if (typeof next !== 'string') return next;
      state = next;
    }
    return this.#loss;
  }

  #step(state: Exclude<JsonState, 'done'>): JsonState | Syntax {
    const character = this.#text[this.#at];
    if (character === undefined) return state === 'end' ? 'done' : this.#endsEarly();
    switch (state) {
      case 'first-item':
        return character === ']' ? this.#close() : this.#value(character);
      case 'value':
        return this.#value(character);
      case 'first-key':
        return character === '}' ? this.#close() : this.#key(character);
      case 'key':
        return this.#key(character);
      case 'colon':
        return character === ':' ? this.#pass('value') : this.#unexpected('`:` after the key');
      case 'next':
        return this.#next(character);
      case 'end':
        return this.#unexpected(
          'the end of the text',
          'several messages: one a line, or in `[` `]` with commas',
        );
      default:
        return state satisfies never;
    }
  }

  #value(character: string): JsonState | Syntax {
    if (character === '{') return this.#enter({ closer: '}', step: '', keys: new Set() });
    if (character === '[') return this.#enter({ closer: ']', step: 0 });
    if (character === '"') return this.#string() ?? this.#afterValue();
    if (/[-\d]/.test(character)) return this.#number();
    if (
      this.#open.length === 0 &&
      /^(?:<{7}|={7}|>{7})(?:\s|$)/.test(this.#text.slice(this.#at, this.#at + 8))
    ) {
      return this.#problem(
        'Expected JSON, got a conflict marker of Git',
        'resolve the conflict first: both sides are in the file',
      );
    }
    const word = this.#word();
    if (!LITERALS.includes(word) && this.#isCutOff(word)) return this.#endsEarly('word');
    if (!LITERALS.includes(word)) return this.#unexpected('a value', valueHint(word));
    this.#at += word.length;
    return this.#afterValue();
  }

  #isCutOff(word: string): boolean {
    return (
      this.#at + word.length === this.#text.length && LITERALS.some((literal) => literal.startsWith(word))
    );
  }

  #enter(open: Open): JsonState {
    this.#open.push(open);
    return this.#pass(open.closer === '}' ? 'first-key' : 'first-item');
  }

  #close(): JsonState {
    this.#open.pop();
    this.#at++;
    return this.#afterValue();
  }

  #pass(state: JsonState): JsonState {
    this.#at++;
    return state;
  }

  #afterValue(): JsonState {
    return this.#open.length === 0 ? 'end' : 'next';
  }

  #next(character: string): JsonState | Syntax {
    const open = this.#open.at(-1);
    if (character === open?.closer) return this.#close();
    if (open === undefined || character !== ',') {
      const hint = character === '"' ? 'is there a comma missing before it?' : undefined;
      return this.#unexpected(`\`,\` or \`${open?.closer}\``, hint);
    }
    if (open.closer === ']') open.step++;
    return this.#pass(open.closer === ']' ? 'value' : 'key');
  }

  #key(character: string): JsonState | Syntax {
    const open = this.#open.at(-1);
    if (character !== '"' || open?.closer !== '}') {
      return this.#unexpected('a key in double quotes', keyHint(character, this.#text));
    }
    const start = this.#at;
    const problem = this.#string('key');
    if (problem !== undefined) return problem;
    open.step = JSON.parse(this.#text.slice(start, this.#at)) as string; // the walk has just passed a string literal
    if (open.keys.has(open.step)) this.#loss ??= duplicate(this.#path());
    open.keys.add(open.step);
    return 'colon';
  }

  /** Moves past a string from its opening quote. Returns the syntax error in the string, if any. */
  #string(what: 'string' | 'key' = 'string'): Syntax | undefined {
    this.#at++;
    for (let character = this.#text[this.#at]; character !== '"'; character = this.#text[this.#at]) {
      if (character === undefined) return this.#endsEarly(what);
      if (character < ' ') return this.#controlCharacter(character);
      if (character !== '\\') this.#at++;
      else if (!this.#escape()) return this.#badEscape(what);
    }
    this.#at++;
    return undefined;
  }

  #escape(): boolean {
    const escape = /^\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/.exec(this.#text.slice(this.#at, this.#at + 6));
    this.#at += escape?.[0].length ?? 0;
    return escape !== null;
  }

  #badEscape(inside: 'string' | 'key'): Syntax {
    const rest = this.#text.slice(this.#at, this.#at + 6);
    const isLast = this.#at + rest.length === this.#text.length;
    if (isLast && /^\\(?:u[\da-fA-F]{0,3})?$/.test(rest)) return this.#endsEarly(inside);
    return this.#problem(
      `Expected an escape of JSON, got \`${rest.slice(0, 2)}\``,
      'write a backslash as `\\\\`',
    );
  }

  #controlCharacter(character: string): Syntax {
    const written = JSON.stringify(character).slice(1, -1);
    return this.#problem(
      `Expected no control character inside a string, got \`${written}\``,
      `write it as \`${written}\``,
    );
  }

  #number(): JsonState | Syntax {
    let end = this.#at + 1;
    while (/^[\d.eE+-]$/.test(this.#text[end] ?? '')) end++;
    const token = this.#text.slice(this.#at, end);
    if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(token)) return this.#badNumber(token, end);
    if (!isKept(token)) this.#loss ??= changed(this.#path(), token);
    this.#at = end;
    return this.#afterValue();
  }

  #badNumber(token: string, end: number): Syntax {
    if (end === this.#text.length && /^-$|[.eE+-]$/.test(token)) return this.#endsEarly('number');
    if (this.#open.length === 0 && /[{[]/.test(this.#text.slice(end))) {
      return this.#problem(
        `Expected JSON alone, got text before it: \`${shortened(token)}\``,
        'remove the text before the JSON',
      );
    }
    const hint = 'no leading zeros, no `+` in front, digits on both sides of the point';
    return this.#problem(`Expected a number as JSON spells it, got \`${shortened(token)}\``, hint);
  }

  #skipSpace(): void {
    while (/^[ \t\n\r]$/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  /** The word that begins here, or the character if it is not part of a word. */
  #word(): string {
    const ahead = this.#text.slice(this.#at, this.#at + 40);
    return /^[\w$]+/.exec(ahead)?.[0] ?? String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
  }

  /** Returns the path of the current value. With an `end` of -1, of the object or array that contains it. */
  #path(end?: number): string {
    return formatPath(this.#open.slice(0, end).map(({ step }): PathStep => step));
  }

  #unexpected(what: string, hint?: string): Syntax {
    return this.#problem(`Expected ${what}, got \`${this.#word()}\``, hint);
  }

  /** The problem of a text that is cut off. `inside` is the token that is cut off, if any. */
  #endsEarly(inside?: 'key' | 'string' | 'number' | 'word'): Syntax {
    const innermost = this.#open.at(-1);
    if (innermost === undefined && inside === undefined) {
      return this.#problem(
        'Expected JSON, got an empty text',
        'is it the right file, or did the program that wrote it fail?',
      );
    }
    const what = inside ?? (innermost?.closer === '}' ? 'object' : 'array');
    const path = this.#path(inside === undefined || inside === 'key' ? -1 : undefined);
    this.#at = this.#text.length;
    return this.#problem(
      `The text ends inside ${inside === 'key' ? 'a key of the object' : `the ${what}`}${path === '' ? '' : ` \`${path}\``}`,
      cutOffHint(`${inside === 'string' || inside === 'key' ? '"' : ''}${this.#closers()}`),
    );
  }

  #closers(): string {
    return this.#open
      .map(({ closer }) => closer)
      .toReversed()
      .join('');
  }

  #problem(sentence: string, hint?: string): Syntax {
    return { kind: 'syntax', offset: this.#at, sentence, ...(hint === undefined ? {} : { hint }) };
  }
}
