import { ConfigError, ValidationError } from '../../../errors.ts';
import { isJson, readJson } from '../../../message/json/read-json.ts';
import type { JsonObject, JsonValue } from '../../../message/types.ts';
import { flagError } from '../flag-values.ts';

/** An object under construction. Its prototype is null, so that `__proto__` is an ordinary key. */
type Tree = { [key: string]: JsonValue | Tree };

/**
 * Sets values in a copy of `base` by words such as `path.to.key=value`. `=` parses the value as JSON if possible, else takes
 * it as text; `:=` requires JSON, `==` means text. A dot within a key is written `\.`. Later words override earlier ones.
 */
export function assignAll(words: readonly string[], flag: string, base: JsonObject = {}): JsonObject {
  const root = copyTree(base);
  for (const word of words) assign(root, readAssignment(word, flag), flag);
  return root;
}

/** Merges two objects deeply. If both have a value that is not an object for a key, the value of `over` wins. */
export function mergeObjects(base: JsonObject, over: JsonObject): JsonObject {
  const merged = copyTree(base);
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key];
    merged[key] = isTree(before) && isTree(value) ? mergeObjects(before, value) : value;
  }
  return merged;
}

interface Assignment {
  readonly word: string;
  readonly path: readonly string[];
  readonly value: JsonValue;
}

function readAssignment(word: string, flag: string): Assignment {
  const split = /^((?:\\.|[^=\\])*?)(:=|==|=)([^]*)$/.exec(word);
  const [, path = '', operator = '', text = ''] = split ?? [];
  if (split === null || path === '') {
    const sentence = `Expected \`${flag}\` to be key=value, got ${JSON.stringify(word)}`;
    throw flagError(flag, sentence, exampleOf(flag));
  }
  return { word, path: splitPath(path), value: readValue(text, operator, flag, path) };
}

function exampleOf(flag: string): string {
  if (flag === '--integration') return `give for example ${flag} All=false ${flag} Webhooks=true`;
  return `give for example ${flag} plan=pro, ${flag} cart.total=12.5, ${flag} zip==01234 (text), ${flag} tags:='["a"]' (JSON)`;
}

/** Splits `a.b\.c` into `a` and `b.c`. */
function splitPath(path: string): string[] {
  return [...path.matchAll(/(?:\\.|[^.\\])+|(?<=^|\.)(?=\.|$)/g)].map(([part]) =>
    part.replace(/\\(.)/g, '$1'),
  );
}

function readValue(text: string, operator: string, flag: string, path: string): JsonValue {
  if (operator === '==') return text;
  if (operator === '=' && !isJson(text)) return text;
  try {
    return readJson(Buffer.from(text));
  } catch (cause) {
    const [expected, hint] =
      cause instanceof ValidationError
        ? [`a value that JSON can carry: ${cause.message}`, `write ${flag} ${path}==… to send it as text`]
        : [`JSON after \`:=\`, got ${JSON.stringify(text)}`, 'quote it for your shell, or use = for text'];
    throw new ConfigError(`Expected \`${flag} ${path}\` to be ${expected}`, { flag, hint, cause });
  }
}

function assign(root: Tree, { path, value, word }: Assignment, flag: string): void {
  let node = root;
  for (const key of path.slice(0, -1)) {
    const next = node[key] ?? (node[key] = newTree());
    if (!isTree(next)) {
      const sentence = `\`${flag} ${word}\` sets a key within \`${key}\`, which already has a value`;
      throw flagError(flag, sentence, 'give the key either a value or keys of its own');
    }
    node = next;
  }
  node[path.at(-1) ?? ''] = isTree(value) ? copyTree(value) : value;
}

function copyTree(value: JsonObject): Tree {
  return Object.assign(
    newTree(),
    Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, isTree(part) ? copyTree(part) : part]),
    ),
  );
}

function newTree(): Tree {
  return Object.create(null) as Tree; // an object without properties is an empty Tree
}

function isTree(value: JsonValue | Tree | undefined): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
