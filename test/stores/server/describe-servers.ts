import { describe } from 'vitest';
import { hasServer, SERVER_KINDS, type ServerKind } from './servers.ts';

/** Runs the tests of each kind of server. */
export function describeServers(
  title: (kind: ServerKind) => string,
  tests: (kind: ServerKind) => void,
): void {
  describe.each(SERVER_KINDS)('%s', (kind) => {
    describe(title(kind), { skip: !hasServer(kind) }, () => tests(kind));
  });
}
