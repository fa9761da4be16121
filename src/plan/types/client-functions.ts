/**
 * Functions in the written file. Their types come from the client that a program passes, so that the file imports no
 * client. An event whose properties are all optional may be tracked without properties.
 */
export const CLIENT_FUNCTIONS = `/** The call \`Call\` of a client, with an event of the plan and its properties. */
export type PlannedCall<Call, Event extends keyof TrackEvents> = (Call extends unknown
  ? Omit<Call, "event" | "properties">
  : never) & { readonly event: Event } & ({} extends TrackEvents[Event]
    ? { readonly properties?: TrackEvents[Event] | undefined }
    : { readonly properties: TrackEvents[Event] });

/** Makes a planned \`track\` of a client that takes one object: @segment/analytics-node and hooks-cli. */
export function plannedTrack<Call, Others extends unknown[], Result>(client: {
  track(call: Call, ...others: Others): Result;
}): <Event extends keyof TrackEvents>(call: PlannedCall<Call, Event>, ...others: Others) => Result {
  return (...values) => Reflect.apply(client.track, client, values);
}

/** The arguments of a planned \`track\` by position, before those of the client itself. */
export type PlannedArguments<Event extends keyof TrackEvents> = {} extends TrackEvents[Event]
  ? [properties?: TrackEvents[Event] | undefined]
  : [properties: TrackEvents[Event]];

/** Makes a planned \`track\` of a client that takes the event and its properties: @segment/analytics-next. */
export function plannedBrowserTrack<Others extends unknown[], Result>(client: {
  track(event: string, properties?: any, ...others: Others): Result;
}): <Event extends keyof TrackEvents>(
  event: Event,
  ...values: [...PlannedArguments<Event>, ...Others]
) => Result {
  return (...values) => Reflect.apply(client.track, client, values);
}
`;
