import { MESSAGE_FIELDS, type MessageField } from './fields.ts';
import { MESSAGE_TYPES, type MessageType } from '../types.ts';

/** The fields of one type, indexed for fast lookup, because every message needs them. */
export interface MessageShape {
  readonly type: MessageType;
  /** Fields by each name that an input can use for them. */
  readonly bySpelling: ReadonlyMap<string, MessageField>;
  /** Fields with a fixed position in the body, in the order of the body. */
  readonly row: readonly MessageField[];
  /** Names, in a Message, of the fields whose `place` is not `rest`. */
  readonly placed: ReadonlySet<string>;
  readonly always: readonly MessageField[];
  readonly either: readonly MessageField[];
  readonly filled: readonly MessageField[];
  /** Fields that every body has, even if the input did not have them. */
  readonly written: readonly MessageField[];
}

export function shapeOf(type: MessageType): MessageShape {
  return SHAPES[type];
}

const SHAPES = Object.fromEntries(MESSAGE_TYPES.map((type) => [type, arrange(type)])) as Readonly<
  Record<MessageType, MessageShape> // one per type
>;

function arrange(type: MessageType): MessageShape {
  const fields: readonly MessageField[] = MESSAGE_FIELDS[type];
  return {
    type,
    bySpelling: new Map(fields.flatMap((field) => spellings(field).map((spelling) => [spelling, field]))),
    row: fields.filter(({ place }) => place === 'row'),
    placed: new Set(fields.filter(({ place }) => place !== 'rest').map(({ name }) => name)),
    always: fields.filter(({ required }) => required === 'always'),
    either: fields.filter(({ required }) => required === 'either'),
    filled: fields.filter(({ filled }) => filled),
    written: fields.filter(
      ({ place, kind, filled }) =>
        (place === 'row' && (kind === 'version' || kind === 'timestamp')) || filled,
    ),
  };
}

/** The names that an input can use for a field. */
export function spellings({ name, wireName }: MessageField): readonly string[] {
  return wireName === undefined ? [name] : [name, wireName];
}
