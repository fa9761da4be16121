import { afterAll, beforeAll } from 'vitest';
import { openServer } from '../../../src/stores/server/open-server.ts';
import type { Server } from '../../../src/stores/server/server.ts';
import { startServer, type ServerKind, type TestServer } from './servers.ts';

/** A server for the tests of a `describe`. The function empties it and answers it. */
export function useServer(kind: ServerKind): () => Promise<Server> {
  let running: TestServer;
  let server: Server;

  beforeAll(async () => {
    running = await startServer(kind);
    server = await openServer(running.url);
  });

  afterAll(async () => {
    await server.close();
    await running.remove();
  });

  return async () => {
    await running.empty();
    return server;
  };
}
