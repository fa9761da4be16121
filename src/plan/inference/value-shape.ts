import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { formatTest } from '../checking/known-formats.ts';
import { looksPersonal, isPersonalName } from './personal-data.ts';

/** Number of values from which a property counts as always present, and its values as a closed list. */
export const ENOUGH = 20;
/** Maximum number of values of a list (`enum`), and of characters of each. */
const MOST_VALUES = 10;
const LONGEST_VALUE = 60;
/** Maximum number of properties of an object. One with more is a map, whose keys are data. */
const MOST_NAMES = 500;
/** Maximum depth of objects and lists to look at. */
const DEEPEST = 12;

/** Matches texts that programs choose from: `free_trial`, `EUR`, `v2`. A name or an address has capital letters or spaces. */
const CODE = /^(?:[a-z][\w.:/-]*|[A-Z0-9][A-Z0-9_.:/-]*)?$/;
const DATE = /\d{4}-?\d\d-?\d\d|\d\d[./]\d\d[./]\d{2}/;

type TypeName = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'object' | 'array';

/** The order of types in a schema, so that the same values always give the same text. */
const TYPE_ORDER: readonly TypeName[] = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'];

const FORMATS = {
  'date-time': formatTest('date-time'),
  uuid: formatTest('uuid'),
  email: formatTest('email'),
} as const;

type KnownFormat = keyof typeof FORMATS;

/** The common type, format and properties of the values at one place. Its memory does not grow with their number. */
export class ValueShape {
  readonly types = new Set<TypeName>();
  /** Whether a value looks like a person's data. */
  isPersonal = false;
  readonly #depth: number;
  #count = 0;
  #objects = 0;
  /** Texts with their counts. Undefined once there are too many, or a value of another type. */
  #values: Map<string, number> | undefined = new Map();
  #formats: KnownFormat[] | undefined;
  /** Undefined once there are too many names. */
  #properties: Map<string, ValueShape> | undefined = new Map();
  #items: ValueShape | undefined;

  constructor(depth = 0) {
    this.#depth = depth;
  }

  /** Number of values. */
  get count(): number {
    return this.#count;
  }

  /** The properties of objects at this place, in the order of their names. */
  get properties(): readonly (readonly [name: string, shape: ValueShape])[] {
    return [...(this.#properties ?? [])].toSorted(([one], [other]) => (one < other ? -1 : 1));
  }

  get items(): ValueShape | undefined {
    return this.#items;
  }

  add(value: JsonValue): void {
    this.#count++;
    this.types.add(typeOf(value));
    if (typeof value === 'string') this.#addText(value);
    else if (value !== null) this.#values = undefined;
    if (this.#depth >= DEEPEST) return;
    if (isJsonArray(value)) this.#addItems(value);
    else if (isJsonObject(value)) this.#addProperties(value);
  }

  #addText(value: string): void {
    const values = this.#values;
    if (values !== undefined) {
      values.set(value, (values.get(value) ?? 0) + 1);
      if (value.length > LONGEST_VALUE || values.size > MOST_VALUES) this.#values = undefined;
    }
    this.isPersonal ||= looksPersonal(value);
    const formats = this.#formats ?? (Object.keys(FORMATS) as KnownFormat[]); // the keys of the type
    this.#formats = formats.length === 0 ? formats : formats.filter((format) => FORMATS[format](value));
  }

  #addItems(values: readonly JsonValue[]): void {
    if (values.length === 0) return;
    this.#items ??= new ValueShape(this.#depth + 1);
    for (const value of values) this.#items.add(value);
  }

  #addProperties(value: JsonObject): void {
    this.#objects++;
    const properties = this.#properties;
    if (properties === undefined) return;
    for (const [name, each] of Object.entries(value)) {
      const shape = properties.get(name) ?? new ValueShape(this.#depth + 1);
      shape.isPersonal ||= typeof each === 'string' && isPersonalName(name);
      properties.set(name, shape);
      shape.add(each);
    }
    if (properties.size > MOST_NAMES) this.#properties = undefined;
  }

  /** The JSON Schema that all values match. */
  toSchema(): JsonObject {
    const types = TYPE_ORDER.filter(
      (type) => this.types.has(type) && !(type === 'integer' && this.types.has('number')),
    );
    const type: JsonValue = types.length === 1 ? (types[0] ?? 'null') : types;
    return {
      ...(types.length > 0 && { type }),
      ...this.#enumOrFormat(),
      ...(this.types.has('object') && this.#objectKeywords()),
      ...(this.#items !== undefined && { items: this.#items.toSchema() }),
    };
  }

  #enumOrFormat(): JsonObject {
    const values = this.#isList() ? [...(this.#values?.keys() ?? [])] : [];
    if (values.length > 0) {
      const sorted = values.toSorted((one, other) => (one < other ? -1 : 1));
      return { enum: this.types.has('null') ? [...sorted, null] : sorted };
    }
    const [format] = this.#formats ?? [];
    return format === undefined || this.#count < ENOUGH ? {} : { format };
  }

  /** Whether the values are a closed list: few codes that repeat, and no person's data. */
  #isList(): boolean {
    if (this.#values === undefined || this.isPersonal || this.#count < ENOUGH) return false;
    return [...this.#values].every(([text, count]) => count > 1 && CODE.test(text) && !DATE.test(text));
  }

  #objectKeywords(): JsonObject {
    if (this.#properties === undefined) return { additionalProperties: true };
    const required = this.properties.filter(([, { count }]) => count === this.#objects).map(([name]) => name);
    const isRequired = this.#objects >= ENOUGH && required.length > 0;
    return {
      properties: Object.fromEntries(this.properties.map(([name, shape]) => [name, shape.toSchema()])),
      ...(isRequired && { required }),
    };
  }
}

function typeOf(value: JsonValue): TypeName {
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  return isJsonArray(value) ? 'array' : 'object';
}
