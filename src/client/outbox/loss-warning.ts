/** What keeps messages that are lost when the process ends. */
export interface MessageHolder {
  /** Messages that have no receipt yet, or that the sink keeps in memory. */
  readonly heldMessages: number;
}

/** The holders that hold messages now, over all clients of the process, so that one line reports the loss at its end. */
const holders = new Set<MessageHolder>();
let isListening = false;

/** Warns of a loss at the end of the process, from when a holder has begun to hold messages. */
export function warnOfLoss(holder: MessageHolder): void {
  holders.add(holder);
  if (isListening) return;
  isListening = true;
  process.once('exit', () => {
    const lost = [...holders].reduce((sum, { heldMessages }) => sum + heldMessages, 0);
    if (lost > 0) process.stderr.write(`${sentenceOf(lost)}\n`);
  });
}

/** Ends the warning when a holder holds none, or is closed. */
export function endWarningOfLoss(holder: MessageHolder): void {
  holders.delete(holder);
}

function sentenceOf(lost: number): string {
  const messages = lost === 1 ? '1 message was' : `${lost} messages were`;
  return `hooks-cli: ${messages} lost, since the process ended before close() had resolved`;
}
