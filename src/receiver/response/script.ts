import { ConfigError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { parseDuration } from '../../duration.ts';

/**
 * The responses of a receiver to successive requests. Written as steps separated by commas; the last step repeats forever:
 *
 *   script   = step *( "," step )
 *   step     = response [ "x" times ] *( "@" name "=" value )
 *   response = 200…599 | "delay=" duration | "slow-body" | "reset" | "timeout"
 *
 * `@delay=300ms` delays the response; any other name sets a header. A value that contains a comma or an `@` requires
 * double quotes. `delay=5s` is short for `200@delay=5s`.
 */
export type Script = readonly ScriptStep[];

export interface ScriptStep {
  readonly response: ScriptedResponse;
  /** Number of requests that get the response of this step, at least 1. Ignored in the last step of a script. */
  readonly times: number;
}

export type ScriptedResponse =
  | TimedResponse
  /** Never responds; holds the connection until the sender disconnects. */
  | { readonly kind: 'timeout' };

export type TimedResponse =
  | {
      /** `slow-body` sends status and headers at once, then an endless body, one byte at a time. */
      readonly kind: 'status' | 'slow-body';
      readonly status: number;
      /** Headers of the response in the flat list that writeHead accepts: name, value, name, value … */
      readonly headers: readonly string[];
      readonly delayMs: number;
    }
  /** Ends the connection with a TCP reset, without sending a byte. */
  | { readonly kind: 'reset'; readonly delayMs: number };

const OK = { kind: 'status', status: 200, headers: [], delayMs: 0 } as const satisfies ScriptedResponse;

const MAX_DELAY_MS = 3_600_000;
const MAX_TIMES = 1_000_000;
const HINT =
  'separate steps by commas: a status (200 to 599), delay=300ms, slow-body, reset or timeout; ' +
  'each may have xN, @header=value and @delay=300ms, such as 503x2,429@retry-after=3,timeout,200';

/** Parses the value of `--respond`. Throws ConfigError with the position of the first problem. */
export function parseScript(text: string): Script {
  return splitOutsideQuotes(text, ',').map((part, index) => parseStep(part, index + 1));
}

/** Returns a function that returns the responses of a script in order, then the last one forever. */
export function playScript(script: Script): () => ScriptedResponse {
  let index = 0;
  let given = 0;
  return () => {
    const step = script[index];
    if (step === undefined) return OK;
    given += 1;
    if (given >= step.times && index < script.length - 1) {
      index += 1;
      given = 0;
    }
    return step.response;
  };
}

interface ScriptPart {
  readonly text: string;
  /** Position of the part's first character in the script, from 1. */
  readonly at: number;
}

/** A part of the script with the number of its step, for error messages. */
interface ScriptPosition extends ScriptPart {
  readonly step: number;
}

function parseStep(part: ScriptPart, step: number): ScriptStep {
  const [head, ...options] = splitOutsideQuotes(part.text, '@', part.at).map((piece) => ({ ...piece, step }));
  if (head === undefined || head.text === '') throw scriptError('a step', { ...part, step });
  const match = /^(\d+|delay=[^x]*|slow-body|reset|timeout)(?:x(\d+))?$/.exec(head.text);
  if (match?.[1] === undefined) throw scriptError('a status, delay=…, slow-body, reset or timeout', head);
  return { response: parseResponse(match[1], head, options), times: parseTimes(match[2], head) };
}

function parseTimes(text: string | undefined, position: ScriptPosition): number {
  if (text === undefined) return 1;
  const times = Number(text);
  if (times < 1 || times > MAX_TIMES) throw scriptError(`a count from x1 to x${MAX_TIMES}`, position);
  return times;
}

function parseResponse(
  name: string,
  position: ScriptPosition,
  options: readonly ScriptPosition[],
): ScriptedResponse {
  if (name === 'timeout') {
    if (options[0] !== undefined) throw scriptError('nothing after timeout: no response', options[0]);
    return { kind: 'timeout' };
  }
  const { headers, delayMs } = parseOptions(options);
  if (name === 'reset') {
    if (headers.length > 0) throw scriptError('no header after reset, which sends none', position);
    return { kind: 'reset', delayMs };
  }
  if (name === 'slow-body') return { kind: 'slow-body', status: 200, headers, delayMs };
  if (name.startsWith('delay=')) {
    return { ...OK, headers, delayMs: parseDelay(name.slice('delay='.length), position) + delayMs };
  }
  return { kind: 'status', status: parseStatus(name, position), headers, delayMs };
}

function parseStatus(text: string, position: ScriptPosition): number {
  const status = Number(text);
  if (status < 200 || status > 599) throw scriptError('a status from 200 to 599', position);
  return status;
}

function parseOptions(options: readonly ScriptPosition[]): { headers: string[]; delayMs: number } {
  const headers: string[] = [];
  let delayMs = 0;
  for (const option of options) {
    const [, name, written = ''] = /^([^=]+)=(.*)$/s.exec(option.text) ?? [];
    if (name === undefined) throw scriptError('@header=value or @delay=300ms', option);
    if ((written.match(/"/g)?.length ?? 0) % 2 === 1) throw scriptError('a closing quote', option);
    const value = unquote(written);
    if (name === 'delay') delayMs += parseDelay(value, option);
    else headers.push(validateHeaderName(name, option), validateHeaderValue(value, option));
  }
  return { headers, delayMs };
}

function parseDelay(text: string, position: ScriptPosition): number {
  const delayMs = parseDuration(text);
  if (typeof delayMs !== 'number' || delayMs < 0 || delayMs > MAX_DELAY_MS) {
    throw scriptError('a delay such as 300ms or 5s, at most 1h', position);
  }
  return delayMs;
}

function validateHeaderName(name: string, position: ScriptPosition): string {
  // RFC 9110, 5.6.2: a token.
  if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(name)) throw scriptError('the name of a header', position);
  // These headers determine where the response ends; a wrong value would corrupt it. Node throws for `trailer`.
  if (/^(content-length|transfer-encoding|connection|trailer)$/i.test(name)) {
    throw scriptError(`no ${name} header, which the receiver sets itself`, position);
  }
  return name;
}

function validateHeaderValue(value: string, position: ScriptPosition): string {
  if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)) {
    throw scriptError('a header value without control characters', position);
  }
  return value;
}

function unquote(text: string): string {
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text;
}

function splitOutsideQuotes(text: string, separator: ',' | '@', at = 1): ScriptPart[] {
  const parts: ScriptPart[] = [];
  let start = 0;
  let quoted = false;
  for (let index = 0; index <= text.length; index++) {
    if (text[index] === '"') quoted = !quoted;
    if (index < text.length && (quoted || text[index] !== separator)) continue;
    parts.push(trimmed(text.slice(start, index), at + start));
    start = index + 1;
  }
  return parts;
}

function trimmed(text: string, at: number): ScriptPart {
  return { text: text.trim(), at: at + text.length - text.trimStart().length };
}

function scriptError(expected: string, { text, step, at }: ScriptPosition): ConfigError {
  const got = text === '' ? 'nothing' : `\`${printable(text, 80)}\``;
  return new ConfigError(`Expected ${expected}, got ${got} (--respond, step ${step}, character ${at})`, {
    key: 'respond',
    origin: '--respond',
    hint: HINT,
  });
}
