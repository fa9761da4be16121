import type { MessageType } from '../types.ts';

/**
 * `name` is a string of at least one character, `id` is one that counts as absent when it is empty, as RudderStack's browser library
 * has it for every anonymous visitor, `text` may be empty, `any` is passed on as it is.
 */
export type FieldKind =
  'type' | 'version' | 'name' | 'id' | 'text' | 'object' | 'timestamp' | 'integrations' | 'any';

/**
 * One top-level field of a message. Reading, checking, `--strict`, the order of the body and the JSON Schema all
 * follow from these.
 */
export interface MessageField {
  /** As a Message spells it. */
  readonly name: string;
  readonly kind: FieldKind;
  /** Shown by editors, through the JSON Schema. */
  readonly about: string;
  /**
   * Where the body has it: in the type's `row`, at its turn · with the `rest`, in the input's order · `last` · among
   * a page's `properties` · `unsent`.
   */
  readonly place: 'row' | 'rest' | 'last' | 'properties' | 'unsent';
  /** `always`, or at least one of those of the type that say `either`. */
  readonly required?: 'always' | 'either';
  /** An object that the body has even when the input did not: `{}`. */
  readonly filled?: true;
  /** How the body spells it, when not as `name`. Read in either spelling. */
  readonly wireName?: string;
}

export const MESSAGE_VERSION = 1;

const VERSION: MessageField = {
  name: 'version',
  kind: 'version',
  place: 'row',
  about: 'The version of the message format: 1.',
};
const TYPE: MessageField = {
  name: 'type',
  kind: 'type',
  place: 'row',
  required: 'always',
  about: 'The kind of message.',
};
const TIMESTAMP: MessageField = {
  name: 'timestamp',
  kind: 'timestamp',
  place: 'row',
  about: 'When it happened: RFC 3339 with a zone or offset. Default: the time of the call.',
};
const USER_ID: MessageField = { name: 'userId', kind: 'id', place: 'row', about: 'The id of the user.' };
const ANONYMOUS_ID: MessageField = {
  name: 'anonymousId',
  kind: 'name',
  place: 'row',
  about: 'An id for a user who is not known yet.',
};
/** `anonymousId` stands where `userId` would, and right after it when there are both. */
const PERSON: readonly MessageField[] = [
  { ...USER_ID, required: 'either' },
  { ...ANONYMOUS_ID, required: 'either' },
];
const PROPERTIES: MessageField = {
  name: 'properties',
  kind: 'object',
  place: 'rest',
  about: 'Free-form properties.',
};
const TRAITS: MessageField = { name: 'traits', kind: 'object', place: 'row', about: 'Free-form traits.' };
const CONTEXT: MessageField = {
  name: 'context',
  kind: 'object',
  place: 'last',
  about: 'What surrounded the call: device, os, app, page, ip, locale …',
};

const OTHERS: readonly MessageField[] = [
  { name: 'messageId', kind: 'name', place: 'rest', about: 'The id of this message, unique.' },
  { name: 'channel', kind: 'any', place: 'rest', about: 'Where the call was made: browser, mobile, server.' },
  { name: 'receivedAt', kind: 'any', place: 'rest', about: 'When a service took it.' },
  { name: 'originalTimestamp', kind: 'any', place: 'rest', about: 'The time by the clock of the caller.' },
  { name: 'projectId', kind: 'any', place: 'rest', about: 'The id of the source.' },
  {
    name: 'integrations',
    kind: 'integrations',
    place: 'unsent',
    about: 'Destination name to whether it gets the message; `All` speaks for those not named.',
  },
  { name: 'sentAt', kind: 'any', place: 'unsent', about: 'When a client sent it. Never sent on.' },
  { name: 'writeKey', kind: 'any', place: 'unsent', about: 'The key of the source. Never sent on.' },
  { name: '_metadata', kind: 'any', place: 'unsent', about: 'What a client says of itself. Never sent on.' },
  { name: '$schema', kind: 'any', place: 'unsent', about: 'For editors. Never sent on.' },
];

/** The fields of each type: first its row (contract, Messages on the wire) in the order of the body. */
export const MESSAGE_FIELDS = {
  page: [
    VERSION,
    TYPE,
    ...PERSON,
    { ...PROPERTIES, place: 'row', filled: true },
    TIMESTAMP,
    { name: 'name', kind: 'text', place: 'properties', about: 'The name of the page: a property.' },
    { name: 'category', kind: 'text', place: 'properties', about: 'The category of the page: a property.' },
    { ...TRAITS, place: 'properties', about: 'Properties of the page, as the batching client names them.' },
    CONTEXT,
    ...OTHERS,
  ],
  screen: [
    VERSION,
    TYPE,
    ...PERSON,
    { name: 'name', kind: 'name', place: 'row', required: 'always', about: 'The name of the screen.' },
    TIMESTAMP,
    { ...CONTEXT, filled: true },
    { name: 'category', kind: 'text', place: 'rest', about: 'The category of the screen.' },
    PROPERTIES,
    ...OTHERS,
  ],
  identify: [VERSION, TYPE, ...PERSON, { ...TRAITS, filled: true }, TIMESTAMP, CONTEXT, ...OTHERS],
  track: [
    VERSION,
    TYPE,
    ...PERSON,
    {
      name: 'event',
      kind: 'name',
      place: 'row',
      required: 'always',
      about: 'What happened: "Order Completed".',
    },
    { ...PROPERTIES, place: 'row', filled: true },
    TIMESTAMP,
    CONTEXT,
    ...OTHERS,
  ],
  alias: [
    VERSION,
    TYPE,
    {
      name: 'previousId',
      wireName: 'Previous ID',
      kind: 'name',
      place: 'row',
      required: 'always',
      about: 'The id that the user had.',
    },
    { ...USER_ID, wireName: 'User ID', required: 'always', about: 'The id that the user has from now on.' },
    TIMESTAMP,
    { ...ANONYMOUS_ID, place: 'rest' },
    CONTEXT,
    ...OTHERS,
  ],
  group: [
    VERSION,
    TYPE,
    { name: 'groupId', kind: 'name', place: 'row', required: 'always', about: 'The id of the group.' },
    ...PERSON,
    { ...TRAITS, filled: true },
    TIMESTAMP,
    { name: 'event', kind: 'text', place: 'rest', about: 'Accepted, not required.' },
    CONTEXT,
    ...OTHERS,
  ],
  delete: [
    { ...VERSION, place: 'unsent' },
    TYPE,
    { ...USER_ID, required: 'always' },
    ANONYMOUS_ID,
    TIMESTAMP,
    CONTEXT,
    ...OTHERS,
  ],
} as const satisfies Readonly<Record<MessageType, readonly MessageField[]>>;
