import { describe } from 'vitest';
import { hasServer, SERVER_KINDS, type ServerKind } from './servers.ts';

/**
 * Runs the tests of each kind of server, those of one kind one after the other, and the kinds at the same time: they share nothing, and
 * mostly wait.
 */
export function describeServers(
  title: (kind: ServerKind) => string,
  tests: (kind: ServerKind) => void,
): void {
  describe.concurrent.each(SERVER_KINDS)('%s', (kind) => {
    describe.sequential(title(kind), { skip: !hasServer(kind) }, () => tests(kind));
  });
}
