import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEachFile } from '../../clean-ups.ts';
import { jsonLines } from '../receiving.ts';

export interface LoadReceiver {
  readonly url: string;
  /** The messages that were received whole. */
  readonly bodies: readonly string[];
  readonly headers: readonly IncomingMessage['headers'][];
  /** The largest number of requests that had no response at once. */
  readonly peak: () => number;
  /** The number of responses with 200. */
  readonly acknowledged: () => number;
  /** The number of requests, those of a GET included. */
  readonly requests: () => number;
}

/** Responds to the message with this number, from 1. `open` is the number of requests without a response. */
export type Respond = (
  response: ServerResponse,
  message: { readonly number: number; readonly open: number },
) => void | Promise<void>;

const closing: (() => void)[] = [];
afterEachFile(() => {
  for (const close of closing.splice(0)) close();
});

/** Starts a receiver on node:http. A GET responds with the number of messages whose response was 200. */
export async function loadReceiver(
  respond: Respond = (response) => void response.end(),
  { respondsToGet = true } = {},
): Promise<LoadReceiver> {
  const bodies: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let [open, peak, acknowledged, requests] = [0, 0, 0, 0];
  const server = createServer((request, response) => {
    requests++;
    if (request.method === 'GET') {
      if (respondsToGet) response.end(String(acknowledged));
      return;
    }
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      peak = Math.max(peak, ++open);
      headers.push(request.headers);
      response.on('close', () => open--);
      response.on('finish', () => {
        if (response.statusCode === 200) acknowledged++;
      });
      void respond(response, { number: bodies.push(body), open });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return {
    url: `http://127.0.0.1:${port}/hook`,
    bodies,
    headers,
    peak: () => peak,
    acknowledged: () => acknowledged,
    requests: () => requests,
  };
}

export function fields(bodies: readonly string[], name: string): unknown[] {
  return bodies.map((body) => (JSON.parse(body) as Record<string, unknown>)[name]);
}

interface LoadLine {
  readonly second: number;
  readonly sent: number;
  readonly rate: number;
  readonly errors: number;
  readonly behindMs: number;
  readonly latencyMs: Readonly<Record<string, number | null>>;
  readonly serviceMs: Readonly<Record<string, number | null>>;
}

interface Load {
  readonly sent: number;
  readonly acknowledged: number;
  readonly errors: number;
  readonly notSent: number;
  readonly unsent: number;
  readonly retries: number;
  readonly warmupFailed: number;
  readonly rate: number;
  readonly verdict: string;
  readonly slo: readonly { expr: string; held: boolean; value: number | null; brokeInSecond?: number }[];
  readonly latencyMs: Readonly<Record<string, number>>;
  readonly serviceMs: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  readonly received?: number;
  readonly lost?: number;
  readonly stopped?: string;
  readonly max?: {
    readonly rate: number | null;
    readonly reached: number;
    readonly curve: readonly { rate: number; result: string }[];
  };
}

type Summary = Readonly<
  Record<'read' | 'delivered' | 'failed' | 'filtered' | 'invalid' | 'unsent' | 'skipped', number>
> & {
  readonly load: Load;
};

/** Reads the lines of `-o json`. Throws unless the counts add up, over all messages and over the seconds. */
export function loadOf(stdout: string): { seconds: readonly LoadLine[]; summary: Summary; load: Load } {
  const lines = jsonLines<LoadLine | { summary: Summary }>(stdout);
  const last = lines.at(-1);
  if (last === undefined || !('summary' in last)) {
    throw new Error(`Expected a summary at the end of ${stdout}`);
  }
  const { summary } = last;
  const seconds = lines.slice(0, -1) as LoadLine[]; // only the last line is a summary
  const { read, delivered, failed, filtered, invalid, unsent, load } = summary;
  const sum = delivered + failed + filtered + invalid + unsent;
  if (sum !== read) throw new Error(`Expected the counts to add up: ${JSON.stringify(summary)}`);
  const total = (name: 'sent' | 'rate' | 'errors'): number =>
    seconds.reduce((all, each) => all + each[name], 0);
  const counted = [total('sent'), total('rate'), total('errors')];
  const expected = [load.sent, load.acknowledged, load.errors];
  const { sent, acknowledged, errors, notSent } = load;
  if (sent !== acknowledged + errors - notSent + load.unsent) {
    throw new Error(`Expected the messages to add up: ${JSON.stringify(load)}`);
  }
  if (load.max === undefined && String(counted) !== String(expected)) {
    throw new Error(`Expected the seconds to add up to ${String(expected)}, got ${String(counted)}`);
  }
  return { seconds, summary, load };
}
