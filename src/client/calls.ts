/*
 * What each call of the client takes: the public tracking API's fields in camelCase. Every other field is rejected by
 * the types only; the message keeps it, so that nothing of the caller's is dropped.
 */

/**
 * Free-form, anything that JSON can say. It is turned into JSON at the call: later changes do not reach the message. What
 * an interface describes has no index signature, so any object will do, but for what is known not to be a plain one.
 */
export type FreeForm = Readonly<Record<string, unknown>> | (object & NoBuiltIn);

/** No array, Map or Set; no Date; no function. */
type NoBuiltIn = {
  readonly [Mark in typeof Symbol.iterator | typeof Symbol.toPrimitive | typeof Symbol.hasInstance]?: never;
};

/** What every call takes. */
export interface CallOptions {
  /** When it happened; a past one imports history. RFC 3339 with a zone, when it is text. @default the time of the call */
  readonly timestamp?: string | Date | undefined;
  /** Where it happened: device, page, campaign, … */
  readonly context?: FreeForm | undefined;
  /**
   * Destination name (case-sensitive) to whether the message goes there. All are on by default; `All: false` turns
   * off all but those listed true. An object counts as true.
   */
  readonly integrations?: Readonly<Record<string, boolean | FreeForm>> | undefined;
  /** Two messages with the same id are one. @default a random UUID */
  readonly messageId?: string | undefined;
}

/** The trace that a message is a part of, for destinations with `delivery.traceparent`. */
export interface TraceParent {
  /** A W3C `traceparent`, as `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`. @default a trace of its own */
  readonly traceparent?: string | undefined;
  /** The `tracestate` beside it. */
  readonly tracestate?: string | undefined;
}

/** Who it is about: a user id, an anonymous id, or both. */
export type Identity =
  | { readonly userId: string; readonly anonymousId?: string | undefined }
  | { readonly userId?: undefined; readonly anonymousId: string };

export type IdentifyCall = CallOptions & Identity & { readonly traits?: FreeForm | undefined };

export type TrackCall = CallOptions &
  Identity & {
    /** Its name, as "Order Completed". */
    readonly event: string;
    readonly properties?: FreeForm | undefined;
  };

export type PageCall = CallOptions &
  Identity & {
    readonly name?: string | undefined;
    readonly category?: string | undefined;
    /** As `properties`, which win where both say something: `url`, `title`, `referrer`, `path`, and any other. */
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
  /** The new id. */
  readonly userId: string;
  /** The id so far. */
  readonly previousId: string;
};

/** Asks the destinations to delete what they know of a user. */
export type DeleteCall = CallOptions & { readonly userId: string };
