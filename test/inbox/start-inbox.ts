import { request, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { ConfigError } from '../../src/errors.ts';
import type { ForwardRequest } from '../../src/receiver/response/forwarding.ts';
import { Inbox, type InboxOptions } from '../../src/inbox/inbox.ts';
import type { ReceivedRequest } from '../../src/receiver/received-request.ts';
import { startReceiver } from '../../src/app/explained.ts';
import type { Receiver } from '../../src/receiver/receiver.ts';
import { afterEachTest } from '../clean-ups.ts';

export const BODY = '{"type":"track","userId":"u1","event":"Signup","properties":{"city":"Paris"}}';

const open: (() => Promise<void>)[] = [];
/** Closes the inboxes and receivers of a test. */
afterEachTest(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
});

export interface Started {
  readonly receiver: Receiver;
  readonly requests: ReceivedRequest[];
  readonly replays: { readonly request: ForwardRequest; readonly url: string | undefined }[];
  readonly inboxUrl: string;
  readonly printedUrl: string;
  readonly token: string;
  readonly ask: (path: string, options?: AskOptions) => Promise<Answer>;
  /** A GET below `/_hooks/` with the token of the page. */
  readonly read: (path: string) => Promise<Answer>;
  /** A POST of a page that was opened with the printed token. */
  readonly act: (
    path: string,
    body: object | string,
    options?: { readonly token?: string },
  ) => Promise<Answer>;
  readonly post: (body?: string, headers?: Record<string, string>) => Promise<void>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export async function start({
  secrets = [],
  ...options
}: Partial<InboxOptions> & { readonly secrets?: readonly string[] } = {}): Promise<Started> {
  const requests: ReceivedRequest[] = [];
  const replays: Started['replays'] = [];
  const { host = '127.0.0.1' } = options;
  const inbox = new Inbox({
    host,
    scheme: 'http',
    programName: 'hooks',
    page: { script: 'const a = 1;', style: 'a{}' },
    hasSecret: false,
    replay: (received, url) => {
      if (url === 'http://refused/') throw new ConfigError('Not there', { hint: 'go elsewhere' });
      replays.push({ request: received, url });
      return Promise.resolve({ url: url ?? 'forward', status: 202, ms: 1 });
    },
    ...options,
  });
  const receiver: Receiver = await startReceiver({
    host,
    secrets,
    serveOwn: inbox.serve,
    onRequest: (each) => {
      requests.push(each);
      inbox.add(each);
    },
  });
  const inboxUrl = inbox.open(receiver);
  const { printedUrl } = inbox;
  open.push(async () => {
    inbox.close();
    await receiver.close();
  });
  const ask: Started['ask'] = (path, asked = {}) => askAt(receiver.port, path, asked);
  const page = await ask('/_hooks', { headers: { host: 'localhost' } });
  const token = /token&quot;:&quot;([\w-]+)/.exec(page.text)?.[1] ?? '';
  const printedToken = new URL(printedUrl).searchParams.get('token') ?? '';
  return {
    receiver,
    requests,
    replays,
    inboxUrl,
    printedUrl,
    token,
    act: (path, body, { token: given = printedToken } = {}) => {
      const authority = `127.0.0.1:${receiver.port}`;
      const headers = { host: authority, origin: `http://${authority}`, 'x-hooks-token': given };
      const json = typeof body === 'string' ? body : JSON.stringify(body);
      return ask(`/_hooks/${path}`, { method: 'POST', headers, body: json });
    },
    ask,
    read: (path) => ask(`/_hooks/${path}`, { headers: { 'x-hooks-token': token } }),
    post: async (body = BODY, headers = {}) => {
      await fetch(`${receiver.url}/hook?token=CANARY`, { method: 'POST', body, headers });
    },
  };
}

/** Sends a request with `node:http`, because fetch sets Host and Origin itself. */
function askAt(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: AskOptions,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const framed = body === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(body) };
    const asked = request(
      { port, host: '127.0.0.1', path, method, headers: framed, agent: false },
      (response) => {
        text(response).then(
          (answer) => resolve({ status: response.statusCode, headers: response.headers, text: answer }),
          reject,
        );
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}
