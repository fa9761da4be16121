import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { systemClock, type Clock } from '../clock.ts';
import { isLoopbackHost } from '../url.ts';
import type { ReceivedRequest } from '../receiver/received-request.ts';
import type { Receiver } from '../receiver/receiver.ts';
import { parseScript } from '../receiver/response/script.ts';
import { accessRejection, hasPrintedToken, type AccessRule } from './access.ts';
import { captureLines, resend, type Resending } from './actions.ts';
import { CauseSearch } from './cause-search.ts';
import { captureOf, detailsOf, shownBody } from './details.ts';
import { Feed } from './feed.ts';
import { contentPolicy, pageHtml, type PageParts } from './page-html.ts';
import type { DescribeViolations } from './plan-violations.ts';
import { RequestStore, type StoredRequest, type StoreLimits } from './request-store.ts';
import { searchBodies } from './search-bodies.ts';
import {
  respondBytes,
  respondJson,
  respondLines,
  inboxRejectionOf,
  readActionBody,
  respondRejected,
  setSafety,
  type InboxRequest,
} from './inbox-request.ts';
import type { Setup } from './wire.ts';

export interface InboxOptions extends Resending {
  /** Host that the receiver listens on. */
  readonly host: string;
  readonly scheme: 'http' | 'https';
  readonly page: PageParts;
  readonly hasSecret: boolean;
  /** Signature scheme for `--scheme` in the example command of the page. @default no `--scheme` in the example */
  readonly sendBy?: string;
  readonly forwardUrl?: string;
  /** The words that start this program in a shell. */
  readonly programName: string;
  /** The initial script of responses, in the format of `--respond`, such as `503x2,200`. @default none */
  readonly respond?: string | undefined;
  /** Finds what a message violates in the tracking plan, as sentences. @default without a plan */
  readonly violations?: DescribeViolations;
  readonly limits?: Partial<StoreLimits>;
  readonly clock?: Clock;
}

/** The web inbox of a receiver: keeps the last requests in memory and serves everything below `/_hooks`. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #rule: AccessRule;
  readonly #store: RequestStore;
  readonly #feed: Feed;
  readonly #policy: string;
  readonly #search: CauseSearch;
  #respond: string;
  #receiver: InboxReceiver | undefined;

  constructor(options: InboxOptions) {
    this.#options = options;
    const { host, scheme, page, limits, violations, respond = '', clock = systemClock } = options;
    this.#rule = { host, scheme, token: randomToken(), printedToken: randomToken() };
    this.#store = new RequestStore(limits, violations);
    this.#respond = respond;
    this.#search = new CauseSearch(this.#store, (...search) => this.#receiver?.searchLonger(...search));
    this.#feed = new Feed({ store: this.#store, respond: () => this.#respond, clock });
    this.#policy = contentPolicy(page);
  }

  /**
   * Sets the receiver, which is listening now, and returns the address of the page. The address has the token if other
   * machines can reach it.
   */
  open(receiver: InboxReceiver): string {
    this.#receiver = receiver;
    return isLoopbackHost(this.#options.host) ? `${receiver.url}${ROOT}` : this.printedUrl;
  }

  /**
   * The address with the printed token, for the person at the terminal: its page shows everything, even expected signatures.
   */
  get printedUrl(): string {
    return `${this.#receiver?.url}${ROOT}?token=${this.#rule.printedToken}`;
  }

  add(request: ReceivedRequest): void {
    this.#store.add(request);
    this.#feed.wake();
  }

  /** Serves a request whose path is `/_hooks` or below it. Returns false if the request has another path. */
  readonly serve = (request: IncomingMessage, response: ServerResponse): boolean => {
    const [path = '', search = ''] = (request.url ?? '').split('?', 2);
    if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return false;
    const below = path.slice(ROOT.length).replace(/^\/$/, '');
    const visit = { request, response, path: below, query: new URLSearchParams(search) };
    void this.#serve(visit).catch((error: unknown) => respondRejected(visit, inboxRejectionOf(error)));
    return true;
  };

  close(): void {
    this.#feed.close();
  }

  async #serve(visit: InboxRequest): Promise<void> {
    const { request, response, path, query } = visit;
    if (request.method !== 'POST') request.resume();
    setSafety(response);
    const rejection = accessRejection(visit, this.#rule);
    if (rejection !== undefined) return respondRejected(visit, { status: 403, text: rejection });
    if (path === '') return this.#page(visit);
    if (path === '/events') return this.#events(visit);
    if (path === '/search') {
      return respondJson(visit, await searchBodies(this.#store, query.get('text') ?? ''));
    }
    const action = this.#actions[path];
    if (action !== undefined) return this.#act(visit, action);
    const [, id = '', part = ''] =
      /^\/requests\/(\d{1,15})(?:\/(body|capture|diagnosis|replay))?$/.exec(path) ?? [];
    const kept = this.#store.get(Number(id));
    if (kept === undefined) {
      return respondRejected(visit, { status: 404, text: 'not found: it may have been evicted or cleared' });
    }
    return this.#part(visit, kept, part);
  }

  /** Actions of the page by path. */
  readonly #actions: Readonly<Record<string, InboxAction>> = {
    '/clear': (visit) => {
      this.#store.clear();
      this.#feed.refresh();
      respondJson(visit, {});
    },
    '/export': (visit, body) => respondLines(visit, captureLines(this.#store, body)),
    '/respond': (visit, { respond }) => {
      const text = typeof respond === 'string' ? respond.trim() : '';
      this.#receiver?.respondBy(text === '' ? undefined : parseScript(text));
      this.#respond = text;
      this.#feed.refresh();
      respondJson(visit, {});
    },
  };

  /**
   * Runs an action if the request has the printed token, or if `isFree` allows the action without it. The page's other token
   * is not enough, because programs of this machine and visitors through a tunnel can get that token.
   */
  async #act(
    visit: InboxRequest,
    action: InboxAction,
    isFree: (body: ActionBody) => boolean = () => false,
  ): Promise<void> {
    if (visit.request.method !== 'POST') {
      return respondRejected(visit, { status: 405, text: 'method not allowed, use POST' });
    }
    const body = await readActionBody(visit.request);
    if (this.#isPrinted(visit) || isFree(body)) return action(visit, body);
    const text = 'this needs the token: open the whole address that `hooks listen` printed';
    respondRejected(visit, { status: 403, text });
  }

  /** Replays a request. Without the printed token, sends only unchanged requests, and only to the forwarding URL. */
  #replay(visit: InboxRequest, kept: StoredRequest): Promise<void> {
    const replay: InboxAction = async (_visit, body) => {
      respondJson(visit, await resend(kept, body, this.#options));
    };
    const { forwardUrl } = this.#options;
    return this.#act(
      visit,
      replay,
      ({ url, edited }) =>
        forwardUrl !== undefined && edited === undefined && (url === undefined || url === forwardUrl),
    );
  }

  #isPrinted(visit: InboxRequest): boolean {
    return hasPrintedToken(visit, this.#rule);
  }

  async #part(visit: InboxRequest, kept: StoredRequest, part: string): Promise<void> {
    const { method } = visit.request;
    if (part === 'replay') return this.#replay(visit, kept);
    if (method !== 'GET') return respondRejected(visit, { status: 405, text: 'method not allowed, use GET' });
    if (part === 'body') return respondBytes(visit, shownBody(kept));
    if (part === 'capture') return respondJson(visit, captureOf(kept));
    if (part === 'diagnosis') return respondJson(visit, await this.#search.causeFor(visit.response, kept));
    const { violations } = this.#options;
    respondJson(visit, detailsOf(kept, { withSignatures: this.#isPrinted(visit), violations }));
  }

  #page(visit: InboxRequest): void {
    const { request, response } = visit;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return respondRejected(visit, {
        status: 405,
        text: 'method not allowed, use GET: this is the inbox, not the receiver',
      });
    }
    const { page, hasSecret, programName, sendBy, forwardUrl, sign } = this.#options;
    const canAct = this.#isPrinted(visit);
    const { token, printedToken } = this.#rule;
    const setup: Setup = {
      token: canAct ? printedToken : token,
      receiverUrl: this.#receiver?.url ?? '',
      hasSecret,
      programName,
      canAct,
      canSign: canAct && sign !== undefined,
      ...(sendBy !== undefined && { sendBy }),
      ...(forwardUrl !== undefined && { forwardUrl }),
    };
    response.setHeader('content-security-policy', this.#policy);
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(request.method === 'HEAD' ? undefined : pageHtml(page, setup));
  }

  #events(visit: InboxRequest): void {
    const { request, response } = visit;
    if (this.#feed.isFull) return respondRejected(visit, { status: 503, text: 'too many pages are open' });
    response.setHeader('content-type', 'text/event-stream');
    const last = Number(request.headers['last-event-id']);
    this.#feed.open(response, Number.isSafeInteger(last) && last > 0 ? last + 1 : 1);
  }
}

type InboxReceiver = Pick<Receiver, 'url' | 'respondBy' | 'searchLonger'>;

type ActionBody = Readonly<Record<string, unknown>>;

type InboxAction = (visit: InboxRequest, body: ActionBody) => void | Promise<void>;

const ROOT = '/_hooks';

function randomToken(): string {
  return randomBytes(24).toString('base64url');
}
