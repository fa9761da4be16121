/*
 * The arguments of each call of the client: the public tracking API's fields in camelCase. Only the types reject other
 * fields; at run time the message keeps them, so that no data of the caller is dropped.
 */

/**
 * Any object that JSON can represent. It is serialized during the call, so later changes do not reach the message.
 * `object` is allowed because interfaces have no index signature; `NoBuiltIn` excludes objects that are not plain.
 */
export type FreeForm = Readonly<Record<string, unknown>> | (object & NoBuiltIn);

/** Excludes arrays, Map, Set, Date and functions, which all have one of these symbols. */
type NoBuiltIn = {
  readonly [Mark in typeof Symbol.iterator | typeof Symbol.toPrimitive | typeof Symbol.hasInstance]?: never;
};

/** The fields that the arguments of all calls have in common. */
export interface CallOptions {
  /**
   * When the event happened; a past time imports history. A string must be RFC 3339 with a zone. @default the time of the
   * call
   */
  readonly timestamp?: string | Date | undefined;
  /** The circumstances of the event: device, page, campaign, … */
  readonly context?: FreeForm | undefined;
  /**
   * Whether the message goes to a destination, by the name of the destination (case-sensitive). All destinations are on by
   * default; `All: false` turns off every destination that is not listed as true. An object counts as true.
   */
  readonly integrations?: Readonly<Record<string, boolean | FreeForm>> | undefined;
  /** Identifies the message: a second message with the same id is a duplicate. @default a random UUID */
  readonly messageId?: string | undefined;
}

/** The trace that a message belongs to. Only destinations with `delivery.traceparent` get it. */
export interface TraceParent {
  /** A W3C `traceparent`, such as `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`. @default a new trace */
  readonly traceparent?: string | undefined;
  /** The W3C `tracestate` that belongs to `traceparent`. */
  readonly tracestate?: string | undefined;
}

/** The user of a message: a user id, an anonymous id, or both. */
export type Identity =
  | { readonly userId: string; readonly anonymousId?: string | undefined }
  | { readonly userId?: undefined; readonly anonymousId: string };

export type IdentifyCall = CallOptions & Identity & { readonly traits?: FreeForm | undefined };

export type TrackCall = CallOptions &
  Identity & {
    /** The name of the event, such as "Order Completed". */
    readonly event: string;
    readonly properties?: FreeForm | undefined;
  };

export type PageCall = CallOptions &
  Identity & {
    readonly name?: string | undefined;
    readonly category?: string | undefined;
    /** Further properties of the page, such as `url`, `title`, `referrer` and `path`. `properties` overrides equal names. */
    readonly traits?: FreeForm | undefined;
    readonly properties?: FreeForm | undefined;
  };

export type ScreenCall = CallOptions &
  Identity & {
    readonly name: string;
    readonly properties?: FreeForm | undefined;
  };

export type GroupCall = CallOptions &
  Identity & {
    readonly groupId: string;
    readonly traits?: FreeForm | undefined;
    readonly event?: string | undefined;
  };

export type AliasCall = CallOptions & {
  /** The id of the user after the alias call. */
  readonly userId: string;
  /** The id of the user before the alias call. */
  readonly previousId: string;
};

/** Asks the destinations to delete the data of a user. */
export type DeleteCall = CallOptions & { readonly userId: string };
