import type { ReceiverMistake } from './check.ts';
import type { ProbeOutcome, SuspectModel } from './mistakes/suspect-model.ts';

/** The mistake of crashing on a message, if the receiver closed the connection or stopped listening. */
export function crashMistake(
  { response, aftermath }: ProbeOutcome,
  model: SuspectModel,
): ReceiverMistake | undefined {
  if (response.kind !== 'none') return undefined;
  const fix = "look into the receiver's log for the error, and catch it: respond with 400 or 500 instead";
  if (response.error === 'refused' && response.reconnected !== true) {
    const last = model.observations.findLast((each) => each.response.kind !== 'none');
    if (last === undefined) return undefined;
    const says = `nothing listens there anymore: it stopped or crashed after its response to ${last.check}`;
    return { code: 'refused', says, fix, confidence: 'likely' };
  }
  if (aftermath === undefined && response.error !== 'refused') return undefined;
  const so = aftermath !== 'restarted' ? 'nothing listens there anymore' : 'it was started again';
  const says = `it crashed on this request: it closed the connection, and ${so}`;
  // Only likely, because the work that an earlier message started can also cause the crash.
  return { code: 'crashed', says, fix, confidence: 'likely' };
}
