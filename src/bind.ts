import { isIP, type AddressInfo, type Server } from 'node:net';

/** Where a server listens now, or why it cannot: `setting` is the option that is wrong, `hint` says how to correct it. */
export type Bound =
  | { readonly ok: true; readonly host: string; readonly port: number }
  | {
      readonly ok: false;
      readonly setting: 'host' | 'port';
      readonly why: string;
      readonly hint: string;
      readonly cause: Error | undefined;
    };

/** The fault of an empty host, as `--host "$HOST"` gives when the variable is unset. Node would bind every interface. */
const NO_HOST = {
  setting: 'host',
  why: 'expected an address, got an empty text',
  hint: 'give one: 127.0.0.1 for this machine only, 0.0.0.0 for all its interfaces',
  cause: undefined,
} as const;

/** Makes a server listen. Returns the host as a URL has it by which this machine reaches the server. */
export async function bind(server: Server, host: string, port: number): Promise<Bound> {
  if (host === '') return { ok: false, ...NO_HOST };
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once('error', resolve);
    server.listen(port, host, () => {
      server.off('error', resolve);
      resolve(undefined);
    });
  });
  if (failure !== undefined) return { ok: false, ...bindFailure(failure), cause: failure };
  // Only a server on a pipe has a string as its address, and only a closed one has null.
  const address = server.address() as AddressInfo;
  return { ok: true, host: reachableHost(host), port: address.port };
}

function bindFailure({ code, message }: NodeJS.ErrnoException) {
  switch (code) {
    case 'EADDRINUSE':
      return {
        setting: 'port',
        why: 'something else is listening there',
        hint: 'choose another port, or --port 0 for any free one',
      } as const;
    case 'EACCES':
      return {
        setting: 'port',
        why: 'this user may not',
        hint: 'choose a port from 1024 on, or --port 0 for any free one',
      } as const;
    default:
      return {
        setting: 'host',
        why: message,
        hint: 'give a name or address of this machine: 127.0.0.1, ::1, or 0.0.0.0 for all of them',
      } as const;
  }
}

/** The host for a URL. Wildcard addresses are for binding only; on this machine loopback reaches them. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIP(host) === 6 ? `[${host}]` : host;
}
