import { percentDecoded } from '../../../../engine/webhook.ts';
import { InputError, messageOf } from '../../../../errors.ts';
import { printable, redactUrl } from '../../../../redact.ts';
import { captureCommand, type CaptureOptions } from '../../../child/captured-command.ts';
import type { Io } from '../../../io.ts';

const READ_TIMEOUT_MS = 10_000;
/** Time limit of a read after an interruption. */
const LAST_READ_TIMEOUT_MS = 1_000;
const MAX_BYTES = 64 * 1024;
const IS_URL = /^https?:\/\//i;

/**
 * Reads the number of messages that have arrived, from a URL or from the output of a command. Throws InputError if it
 * cannot be read or is not a number.
 */
export async function readReceived(source: string, io: Io): Promise<number> {
  // An interruption aborts the current read. A later read still runs, with a short time limit, so that the summary can
  // compare the number with the acknowledged messages.
  const [timeoutMs, signal] = io.signal.aborted
    ? [LAST_READ_TIMEOUT_MS, new AbortController().signal]
    : [READ_TIMEOUT_MS, io.signal];
  const limits = { timeoutMs, signal };
  const text = IS_URL.test(source) ? await fetchText(source, limits) : await commandText(source, io, limits);
  const count = numberIn(text.trim());
  if (count !== undefined) return count;
  throw receivedError(source, `expected a number, got ${printable(text.trim(), 60) || 'nothing'}`);
}

type ReadLimits = Pick<CaptureOptions, 'timeoutMs' | 'signal'>;

async function fetchText(source: string, { timeoutMs, signal }: ReadLimits): Promise<string> {
  const { url, headers } = requestOf(source);
  // Does not use AbortSignal.any, because Node 20 can garbage-collect its signal together with the timeout.
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(end, timeoutMs);
  signal.addEventListener('abort', end, { once: true });
  try {
    const response = await fetch(url, { headers, signal: ending.signal });
    const text = await textOf(response);
    if (text === undefined) throw receivedError(source, `the response is longer than ${MAX_BYTES} bytes`);
    if (response.ok) return text;
    throw receivedError(source, `expected a number, got the status ${response.status}`);
  } catch (error) {
    if (error instanceof InputError) throw error;
    const isLate = ending.signal.aborted && !signal.aborted;
    throw receivedError(
      source,
      isLate ? `no response within ${timeoutMs} ms` : `cannot be read: ${networkText(error)}`,
    );
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    end();
  }
}

/** Moves the credentials of a URL to a header, because `fetch` rejects URLs with credentials. */
function requestOf(source: string): { url: URL; headers: Record<string, string> } {
  if (!URL.canParse(source)) throw receivedError(source, 'it is not a URL');
  const url = new URL(source);
  if (url.username === '' && url.password === '') return { url, headers: {} };
  const parts = [percentDecoded(url.username), Buffer.from(':'), percentDecoded(url.password)];
  [url.username, url.password] = ['', ''];
  return { url, headers: { authorization: `Basic ${Buffer.concat(parts).toString('base64')}` } };
}

/** Reads the body of a response. Returns undefined if it is longer than MAX_BYTES. */
async function textOf({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
  }
  return Buffer.concat(chunks).toString();
}

/**
 * Describes why a request failed. Quotes only system errors, because other errors can contain the URL with its secrets.
 */
function networkText(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {};
  const isOfSystem = cause instanceof Error && 'code' in cause && typeof cause.code === 'string';
  return isOfSystem ? printable(redactUrl(messageOf(cause)), 200) : 'the request failed';
}

async function commandText(command: string, { env, cwd }: Io, limits: ReadLimits): Promise<string> {
  const options = { env, cwd, ...limits, maxBytes: MAX_BYTES };
  const { stdout, stderr, end } = await captureCommand(command, options);
  if (typeof end === 'object' && 'code' in end && end.code === 0) return stdout;
  const how =
    typeof end === 'object' ? `ended with ${'code' in end ? end.code : end.signal}` : `was ended: ${end}`;
  throw receivedError(
    command,
    `the command ${how}${stderr === '' ? '' : `: ${printable(redactUrl(stderr.trim()), 200)}`}`,
  );
}

/**
 * Returns the number that the text consists of, or the first number in a JSON field `received` or `count`. Undefined if
 * there is neither.
 */
function numberIn(text: string): number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const [, field] = /"(?:received|count)"\s*:\s*(\d{1,15})\b/.exec(text) ?? [];
  return field === undefined ? undefined : Number(field);
}

function receivedError(source: string, what: string): InputError {
  // Does not show a command, which may contain a secret that only its writer recognizes.
  const shown = IS_URL.test(source) ? ` ${printable(redactUrl(source), 80)}` : '';
  return new InputError(`The number of received messages (\`--received${shown}\`): ${what}`, {
    hint: 'give a URL or a command that prints the number of messages that arrived, and nothing else',
  });
}
