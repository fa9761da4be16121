import { wordsOfKey, type PersonalKind, type SubjectKind } from './personal-kind.ts';

/** Longest text that can be the name of a field or of an event. */
const MOST_OF_A_NAME = 60;

/** A position in JSON: the value of a key or an index, in the value around it. The outermost value has none around it. */
export class JsonPlace {
  readonly around: JsonPlace | undefined;
  /** The key, or the index as text. Empty for the outermost value. */
  readonly key: string;
  readonly isItem: boolean;
  /** The item of a batch or list of messages that contains the value; else the outermost value. */
  readonly message: JsonPlace;
  /** The value of a key that this value is, or an item of. Undefined outside of objects. */
  named: JsonPlace | undefined;
  /** The values of the object that the value is. */
  readonly fields: JsonPlace[] = [];
  /** The items of the list that the value is. An empty list has one item, without a shape. */
  readonly items: JsonPlace[] = [];
  /** Whether the value is an object, a list, or a string or number that is not empty. */
  shape: 'object' | 'list' | 'text' | undefined;
  /** A short string or number. Of the outermost value, the name of the event in a header. */
  text: string | undefined;
  /** The subject of the object that the value is, once it is known. */
  subject: SubjectKind | undefined;
  /** The kind of personal data that the key tells, once it is known. Null if the value is not personal. */
  kind: PersonalKind | null | undefined;
  /** Whether the value is personal only because it is of a person. */
  isInverted = false;
  /** Position in the text of the value and its key, with the white space around them. */
  start = 0;
  end = 0;

  constructor(around?: JsonPlace, key = '', isItem = false) {
    this.around = around;
    this.key = key;
    this.isItem = isItem;
    this.named = isItem || around === undefined ? around?.named : this;
    const isInList = around?.around === undefined || (around.key === 'batch' && !around.around.around);
    this.message = around === undefined || (isItem && isInList) ? this : around.message;
    (isItem ? around?.items : around?.fields)?.push(this);
  }

  /** The words of the key: `firstName` is `first name`. */
  get words(): string {
    return wordsOfKey(this.key);
  }

  /** Keys and indexes from the outermost value to this one. */
  get path(): readonly string[] {
    const path: string[] = [];
    if (this.around === undefined) return path;
    path.push(this.key);
    for (let at = this.around; at.around !== undefined; at = at.around) path.push(at.key);
    return path.toReversed();
  }

  /** The path in the message of a batch or list. */
  get inMessage(): readonly string[] {
    return this.path.slice(this.message.path.length);
  }
}

/** A string, number or key in a JSON text. */
export interface JsonToken {
  readonly kind: 'key' | 'string' | 'number';
  readonly start: number;
  readonly end: number;
  readonly place: JsonPlace;
}

/** Finds the strings, numbers and keys of a text that is JSON, so that some can be replaced and all else stays as it is. The text is the value at `outer`. */
export function jsonTokens(text: string, outer = new JsonPlace()): readonly JsonToken[] {
  const tokens: JsonToken[] = [];
  const open: { readonly place: JsonPlace; readonly isList: boolean; index: number }[] = [];
  let place = outer;
  let isKey = false;
  const begin = (next: JsonPlace, start: number): void => {
    place = next;
    place.start = start;
  };
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    const around = open.at(-1);
    if (character === '{' || character === '[') {
      setShape(place, character === '[');
      open.push({ place, isList: character === '[', index: 0 });
      isKey = character === '{';
      start = at + 1;
      if (!isKey) begin(new JsonPlace(place, '0', true), start);
    } else if (character === '}' || character === ']') {
      place.end = at;
      place = open.pop()?.place ?? place;
      namePair(place);
      isKey = false;
    } else if (character === ',' && around !== undefined) {
      isKey = !around.isList;
      place.end = at;
      start = at + 1;
      if (around.isList) begin(new JsonPlace(around.place, String(++around.index), true), start);
    } else if (character === '"') {
      const end = endOfString(text, at);
      if (isKey && around !== undefined) {
        const key = JSON.parse(text.slice(at, end)) as string; // the text is valid JSON
        begin(new JsonPlace(around.place, key), start);
      } else setText(place, text.slice(at + 1, end - 1));
      tokens.push({ kind: isKey ? 'key' : 'string', start: at, end, place });
      isKey = false;
      at = end - 1;
    } else if (/[-\d]/.test(character)) {
      const end = endOfNumber(text, at);
      setText(place, text.slice(at, end));
      tokens.push({ kind: 'number', start: at, end, place });
      at = end - 1;
    }
  }
  return tokens;
}

/** The text of a string or number. Empty for a key. */
export function tokenValue({ kind, start, end }: JsonToken, text: string): string {
  return kind === 'key' ? '' : String(JSON.parse(text.slice(start, end)));
}

/** Remembers that a value is a list or an object. The key of a list of objects is as that of an object. */
function setShape(place: JsonPlace, isList: boolean): void {
  place.shape = isList ? 'list' : 'object';
  if (!isList && place.named !== undefined) place.named.shape = 'object';
}

/** Makes the first text of a pair in a list the key of the second: `["Cookie", "…"]` is read like `Cookie: "…"`. */
function namePair({ around, isItem, items }: JsonPlace): void {
  const [{ text: key = '' } = {}, value] = items;
  if (!isItem || items.length !== 2 || value?.shape !== 'text' || !/^[A-Za-z][\w.-]*$/.test(key)) return;
  value.named = new JsonPlace(around, key);
  setText(value.named, value.text ?? '…'.repeat(MOST_OF_A_NAME));
}

/** Remembers a string or number that is not empty. */
export function setText(place: JsonPlace, text: string): void {
  if (place.around === undefined || text === '') return;
  place.shape = 'text';
  if (text.length < MOST_OF_A_NAME) place.text = text;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (/[\d.eE+-]/.test(text[at] ?? '')) at++;
  return at;
}
