import type { Capture } from '../../../capture/capture.ts';
import type { Forwarded } from '../../../receiver/response/forwarding.ts';
import { FIELD_HEADER, type Details, type MismatchCause, type ReplayBody, type Setup } from '../../wire.ts';

export type Api = ReturnType<typeof createApi>;

/** The inbox rejects an action. The message is for people. */
export class ActionError extends Error {
  /** The field of the action that is wrong, such as `url`. */
  readonly field: string | undefined;

  constructor(message: string, field: string | undefined) {
    super(message);
    this.field = field;
  }
}

/** Creates the functions with which the page calls the inbox. Each rejects with an Error whose message is for people. */
export function createApi({ token }: Setup) {
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(`/_hooks/${path}`, { ...init, headers: { 'x-hooks-token': token } });
    if (!response.ok) {
      throw new ActionError((await response.text()).trim(), response.headers.get(FIELD_HEADER) ?? undefined);
    }
    return response;
  };
  const act = (path: string, body: object): Promise<Response> =>
    ask(path, { method: 'POST', body: JSON.stringify(body) });
  const json = async <T>(path: string, init?: RequestInit): Promise<T> =>
    // The inbox responds with JSON in the shapes of wire.ts.
    (await (await ask(path, init)).json()) as T;
  return {
    details: (id: number, signal: AbortSignal) => json<Details>(`requests/${id}`, { signal }),
    body: async (id: number, signal: AbortSignal) =>
      new Uint8Array(await (await ask(`requests/${id}/body`, { signal })).arrayBuffer()),
    /** Searches longer for the cause of a mismatch. */
    cause: (id: number, signal: AbortSignal) =>
      json<{ readonly diagnosis?: MismatchCause }>(`requests/${id}/diagnosis`, { signal }),
    capture: (id: number) => json<Capture>(`requests/${id}/capture`),
    search: (text: string, signal: AbortSignal) =>
      json<readonly number[]>(`search?${new URLSearchParams({ text }).toString()}`, { signal }),
    replay: (id: number, body: ReplayBody) =>
      json<Forwarded>(`requests/${id}/replay`, { method: 'POST', body: JSON.stringify(body) }),
    clear: () => act('clear', {}),
    /** The captures of these requests, as NDJSON. */
    exported: async (ids: readonly number[]) => (await act('export', { ids })).blob(),
    /** Replaces the script of responses. Rejects if the script is invalid, with the position of the mistake and a hint. */
    respondBy: (respond: string) => act('respond', { respond }),
  };
}
