import { sleep, systemClock } from '../../../../clock.ts';
import { InputError, messageOf } from '../../../../errors.ts';
import { printable, redactUrl } from '../../../../redact.ts';
import { captureCommand, type CaptureOptions } from '../../../child/captured-command.ts';
import type { Io } from '../../../io.ts';

const READ_TIMEOUT_MS = 10_000;
/** Time limit of a reading after an interruption. */
const LAST_READ_TIMEOUT_MS = 1_000;
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
  // An interruption ends the reading, but does not prevent the one that reconciles the results so far.
  const [timeoutMs, signal] = io.signal.aborted
    ? [LAST_READ_TIMEOUT_MS, new AbortController().signal]
    : [READ_TIMEOUT_MS, io.signal];
  const limits = { timeoutMs, signal };
  const isUrl = /^https?:\/\//i.test(source);
  const text = isUrl ? await fetchText(source, limits) : await commandText(source, io, limits);
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
    await sleep(systemClock, PAUSE_MS, io.signal);
  }
}

type ReadLimits = Pick<CaptureOptions, 'timeoutMs' | 'signal'>;

async function fetchText(url: string, { timeoutMs, signal }: ReadLimits): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
    const text = await response.text();
    if (response.ok) return text;
    throw receivedError(redactUrl(url), `expected a number, got the status ${response.status}`);
  } catch (error) {
    if (error instanceof InputError) throw error;
    const { cause = error } = error instanceof Error ? error : {};
    throw receivedError(redactUrl(url), `cannot be read: ${printable(messageOf(cause), 200)}`);
  }
}

async function commandText(command: string, { env, cwd }: Io, limits: ReadLimits): Promise<string> {
  const options = { env, cwd, ...limits, maxBytes: MAX_BYTES };
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
