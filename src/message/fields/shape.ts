import { MESSAGE_FIELDS, type MessageField } from './fields.ts';
import type { MessageType } from '../types.ts';

/** The fields of one type, arranged for those who ask about them once per message. */
export interface MessageShape {
  readonly type: MessageType;
  /** By every spelling that is read. */
  readonly bySpelling: ReadonlyMap<string, MessageField>;
  /** In the order of the body. */
  readonly row: readonly MessageField[];
  /** Names, as a Message spells them, that are not simply passed on among the rest. */
  readonly placed: ReadonlySet<string>;
  readonly always: readonly MessageField[];
  readonly either: readonly MessageField[];
  readonly filled: readonly MessageField[];
  /** Those that every body has, whether the input had them or not. */
  readonly written: readonly MessageField[];
}

export function shapeOf(type: MessageType): MessageShape {
  return SHAPES[type];
}

const SHAPES: Readonly<Record<MessageType, MessageShape>> = {
  page: arrange('page'),
  screen: arrange('screen'),
  identify: arrange('identify'),
  track: arrange('track'),
  alias: arrange('alias'),
  group: arrange('group'),
  delete: arrange('delete'),
};

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

/** How a field may be spelled in what is read. */
export function spellings({ name, wireName }: MessageField): readonly string[] {
  return wireName === undefined ? [name] : [name, wireName];
}
