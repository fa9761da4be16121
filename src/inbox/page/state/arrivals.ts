import type { SummaryBatch, RequestSummary } from '../../wire.ts';

/** State of the connection. `lost`: the browser reconnects. `gone`: `listen` has ended or was restarted. */
export type FeedState = 'connecting' | 'live' | 'lost' | 'gone';

export interface ArrivedRequests {
  /** Requests, newest last. */
  readonly requests: readonly RequestSummary[];
  /** Number of requests that the inbox has evicted. */
  readonly evicted: number;
  /** Id of the newest request when the page was opened. Undefined until known. */
  readonly startId: number | undefined;
  /** The current script of responses, such as `503x2,200`. Empty if there is none. */
  readonly respond: string;
  readonly connection: FeedState;
}

export const NOTHING: ArrivedRequests = {
  requests: [],
  evicted: 0,
  respond: '',
  startId: undefined,
  connection: 'connecting',
};

/** Collects the summaries of all kept requests from the events of the inbox. */
export class RequestFeed {
  #now = NOTHING;
  readonly #onChange: (now: ArrivedRequests) => void;
  readonly #source: EventSource;

  constructor(token: string, onChange: (now: ArrivedRequests) => void) {
    this.#onChange = onChange;
    this.#source = new EventSource(`/_hooks/events?${new URLSearchParams({ token }).toString()}`);
    this.#source.addEventListener('open', () => this.#change({ connection: 'live' }));
    this.#source.addEventListener('error', () => {
      this.#change({ connection: this.#source.readyState === EventSource.CLOSED ? 'gone' : 'lost' });
    });
    this.#source.addEventListener('message', ({ data: text }: MessageEvent<string>) => {
      // The inbox sends this shape.
      this.#add(JSON.parse(text) as SummaryBatch);
    });
  }

  close(): void {
    this.#source.close();
  }

  #add({ requests, firstId, newestId, evicted, respond }: SummaryBatch): void {
    const { startId = newestId } = this.#now;
    const known = this.#now.requests;
    const isKept = known[0] === undefined || known[0].id >= firstId;
    const kept = isKept ? known : known.filter(({ id }) => id >= firstId);
    this.#change({
      requests: requests.length === 0 ? kept : [...kept, ...requests],
      evicted,
      respond,
      startId,
    });
  }

  #change(news: Partial<ArrivedRequests>): void {
    this.#now = { ...this.#now, ...news };
    this.#onChange(this.#now);
  }
}
