import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type {
  NetworkError,
  Transport,
  TransportRequest,
  TransportResult,
} from '../../src/transport/transport.ts';

/** A transport over node:http, enough for a client's tests: real sockets, no certificates, no reconnecting. */
export function httpTransport(): Transport {
  const agent = new Agent({ keepAlive: true });
  return {
    send: (request) => post(agent, request),
    close: () => {
      agent.destroy();
      return Promise.resolve();
    },
  };
}

async function post(agent: Agent, request: TransportRequest): Promise<TransportResult> {
  const began = performance.now();
  const facts = () => ({ ms: performance.now() - began, reconnected: false });
  try {
    const response = await exchange(agent, request);
    const retryAfter = response.headers['retry-after'];
    const reply = await textOf(response);
    const status = response.statusCode ?? 0;
    return {
      kind: 'response',
      status,
      body: reply,
      ...(retryAfter !== undefined && { retryAfter }),
      ...facts(),
    };
  } catch (error) {
    return {
      kind: 'failure',
      error: kindOf(error as NodeJS.ErrnoException),
      detail: String(error),
      ...facts(),
    };
  }
}

function exchange(
  agent: Agent,
  { url, headers, body, timeoutMs, signal }: TransportRequest,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, { method: 'POST', headers: pairs(headers), agent, signal }, resolve);
    outgoing.setTimeout(timeoutMs, () => outgoing.destroy(new Error('timeout')));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function pairs(flat: readonly string[]): Record<string, string> {
  const names = flat.filter((_, index) => index % 2 === 0);
  return Object.fromEntries(names.map((name, index) => [name, flat[index * 2 + 1] ?? '']));
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return text;
}

function kindOf({ code, name, message }: NodeJS.ErrnoException): NetworkError {
  if (name === 'AbortError') return 'aborted';
  if (message === 'timeout') return 'timeout';
  return code === 'ECONNREFUSED' ? 'refused' : 'reset';
}
