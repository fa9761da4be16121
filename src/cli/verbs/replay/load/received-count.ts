import { setTimeout as sleep } from 'node:timers/promises';
import { InputError, messageOf } from '../../../../errors.ts';
import { printable, redactUrl } from '../../../../redact.ts';
import { captureCommand } from '../../../child/captured-command.ts';
import type { Io } from '../../../io.ts';

const READ_TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
/** Time between two reads. A receiver that works on what it has acknowledged gets this long for the next message. */
const PAUSE_MS = 200;
/** Maximum time to wait for the acknowledged messages. */
const SETTLE_MS = 10_000;

/**
 * Reads the number of messages that the receiver has, from a URL or from the output of a command. Throws InputError for
 * anything but a number.
 */
export async function readReceived(source: string, io: Io): Promise<number> {
  const text = /^https?:\/\//i.test(source) ? await fetchText(source) : await commandText(source, io);
  const count = numberIn(text.trim());
  if (count !== undefined) return count;
  throw receivedError(source, `expected a number, got ${printable(text.trim(), 60) || 'nothing'}`);
}

/**
 * Reads the number until it has grown by `acknowledged`, or stops growing. A receiver can store a message after it has
 * acknowledged it.
 */
export async function readSettled(source: string, io: Io, wanted: number): Promise<number> {
  const until = performance.now() + SETTLE_MS;
  let before = Number.NaN;
  for (;;) {
    const count = await readReceived(source, io);
    if (count >= wanted || count === before || performance.now() > until || io.signal.aborted) return count;
    before = count;
    await sleep(PAUSE_MS);
  }
}

async function fetchText(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
    const text = await response.text();
    if (response.ok) return text;
    throw receivedError(redactUrl(url), `expected a number, got the status ${response.status}`);
  } catch (error) {
    if (error instanceof InputError) throw error;
    const { cause = error } = error instanceof Error ? error : {};
    throw receivedError(redactUrl(url), `cannot be read: ${printable(messageOf(cause), 200)}`);
  }
}

async function commandText(command: string, { env, cwd }: Io): Promise<string> {
  const signal = new AbortController().signal;
  const options = { env, cwd, signal, timeoutMs: READ_TIMEOUT_MS, maxBytes: MAX_BYTES };
  const { stdout, stderr, end } = await captureCommand(command, options);
  if (typeof end === 'object' && 'code' in end && end.code === 0) return stdout;
  const how =
    typeof end === 'object' ? `ended with ${'code' in end ? end.code : end.signal}` : `was ended: ${end}`;
  throw receivedError(
    command,
    `the command ${how}${stderr === '' ? '' : `: ${printable(stderr.trim(), 200)}`}`,
  );
}

/** Reads a number, also as the field `received` or `count` of a JSON object. */
function numberIn(text: string): number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const [, field] = /"(?:received|count)"\s*:\s*(\d{1,15})\b/.exec(text) ?? [];
  return field === undefined ? undefined : Number(field);
}

function receivedError(source: string, what: string): InputError {
  return new InputError(
    `The number of received messages (\`--received ${printable(source, 80)}\`): ${what}`,
    {
      hint: 'give a URL or a command that prints the number of messages that arrived, and nothing else',
    },
  );
}
