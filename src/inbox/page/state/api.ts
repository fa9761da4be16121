import type { Capture } from '../../../capture/capture.ts';
import type { Forwarded } from '../../../receiver/response/forwarding.ts';
import type { Details, ExportBody, ReplayBody, RespondBody, Setup } from '../../wire.ts';

/** What the page asks of the inbox. Each rejects with an Error whose message is for people. */
export interface Api {
  readonly details: (id: number, signal: AbortSignal) => Promise<Details>;
  readonly body: (id: number, signal: AbortSignal) => Promise<Uint8Array>;
  readonly capture: (id: number) => Promise<Capture>;
  readonly search: (text: string, signal: AbortSignal) => Promise<readonly number[]>;
  readonly replay: (id: number, wish: ReplayBody) => Promise<Forwarded>;
  readonly clear: () => Promise<void>;
  /** The captures of these requests, as NDJSON. */
  readonly exported: (body: ExportBody) => Promise<Blob>;
  /** Throws for a script that is none, with the place and the hint. */
  readonly respondBy: (body: RespondBody) => Promise<void>;
}

export function createApi({ token }: Setup): Api {
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(`/_hooks/${path}`, { ...init, headers: { 'x-hooks-token': token } });
    if (!response.ok) throw new Error((await response.text()).trim());
    return response;
  };
  const act = (path: string, body: object): Promise<Response> =>
    ask(path, { method: 'POST', body: JSON.stringify(body) });
  const json = async <T>(path: string, init?: RequestInit): Promise<T> =>
    // The inbox responds in the shapes of wire.ts.
    (await (await ask(path, init)).json()) as T;
  return {
    details: (id, signal) => json(`requests/${id}`, { signal }),
    body: async (id, signal) =>
      new Uint8Array(await (await ask(`requests/${id}/body`, { signal })).arrayBuffer()),
    capture: (id) => json(`requests/${id}/capture`),
    search: (text, signal) => json(`search?${new URLSearchParams({ text }).toString()}`, { signal }),
    replay: (id, wish) => json(`requests/${id}/replay`, { method: 'POST', body: JSON.stringify(wish) }),
    clear: async () => void (await act('clear', {})),
    exported: async (body) => (await act('export', body)).blob(),
    respondBy: async (body) => void (await act('respond', body)),
  };
}
