/** An object that holds messages in memory, which are lost when the process ends. */
export interface MessageHolder {
  /** Number of messages that have no receipt yet or that the sink keeps in memory. */
  readonly heldMessages: number;
}

/** All holders in the process that hold messages now, so that one line reports the whole loss. */
const holders = new Set<MessageHolder>();
let isListening = false;

/** Registers a holder when it gets its first message: if the process exits, the messages it holds are reported as lost. */
export function warnOfLoss(holder: MessageHolder): void {
  holders.add(holder);
  if (isListening) return;
  isListening = true;
  process.once('exit', () => {
    const lost = [...holders].reduce((sum, { heldMessages }) => sum + heldMessages, 0);
    if (lost > 0) process.stderr.write(`${sentenceOf(lost)}\n`);
  });
}

/** Unregisters a holder when it holds no more messages. */
export function endWarningOfLoss(holder: MessageHolder): void {
  holders.delete(holder);
}

function sentenceOf(lost: number): string {
  const messages = lost === 1 ? '1 message was' : `${lost} messages were`;
  return `hooks-cli: ${messages} lost, because the process ended before close() resolved`;
}
