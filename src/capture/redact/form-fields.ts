import { decodedText, formKeys } from './encodings.ts';
import { JsonPlace, setText } from './json-tokens.ts';

/** How to redact `name=value&…`. */
export interface FormOptions {
  /** Whether it is the query of a URL, in which secrets are masked by their name. */
  readonly isQuery: boolean;
  /** Keys around the form. */
  readonly path: readonly string[];
}

/** A pair of a form, its decoded value, and the place of the value: `user[email]` and `user[id]` are of one object. */
interface FormField {
  readonly pair: string;
  readonly value: string;
  readonly place: JsonPlace;
}

/** Splits a form into its fields. In a query, which describes no person, a name with a space is of a person nevertheless. */
export function formFields(text: string, { isQuery, path }: FormOptions): readonly FormField[] {
  const root = new JsonPlace();
  const known = new Map([['', root]]);
  if (isQuery) root.subject = 'thing';
  return text.split('&').map((pair) => {
    const value = decodedText(pair.slice(pair.indexOf('=') + 1), true) ?? '';
    const isFullName = isQuery && /\S \S/.test(value);
    const keys = formKeys(pair).map((key) => (isFullName && key === 'name' ? 'fullName' : key));
    const place = placeOfPath([...path, ...keys], known);
    setText(place, value);
    return { pair, value, place };
  });
}

/** The place of a value outside of JSON, such as a header. Values of one form have the same places around them. */
export function placeOfPath(path: readonly string[], known = new Map([['', new JsonPlace()]])): JsonPlace {
  return path.reduce(
    (around, key, at) => {
      const name = path.slice(0, at + 1).join('\0');
      const place = known.get(name) ?? new JsonPlace(around, key, /^\d+$/.test(key));
      around.shape = 'object';
      known.set(name, place);
      return place;
    },
    known.get('') ?? new JsonPlace(),
  );
}
