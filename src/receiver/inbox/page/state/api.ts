import type { Capture } from '../../../../capture/capture.ts';
import type { Forwarded } from '../../../response/forwarding.ts';
import type { Details, ReplayBody, Setup } from '../../wire.ts';

/** What the page asks of the inbox. Each rejects with an Error whose message is for people. */
export interface Api {
  readonly details: (id: number, signal: AbortSignal) => Promise<Details>;
  readonly body: (id: number, signal: AbortSignal) => Promise<Uint8Array>;
  readonly capture: (id: number) => Promise<Capture>;
  readonly search: (text: string, signal: AbortSignal) => Promise<readonly number[]>;
  readonly replay: (id: number, wish: ReplayBody) => Promise<Forwarded>;
}

export function createApi({ token }: Setup): Api {
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(`/_hooks/${path}`, { ...init, headers: { 'x-hooks-token': token } });
    if (!response.ok) throw new Error((await response.text()).trim());
    return response;
  };
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
  };
}

/** What is left to say of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
