// Needs redis-server, postgres.
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeCertificate } from '../../src/receiver/certificate.ts';
import { CANARY, hasServer, SERVER_KINDS, startServer, type ServerKind } from '../stores/server/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks, startHooks } from './hooks.ts';
import { receiving, SECRET } from './receiving.ts';

/** Returns the URL with which a driver requires TLS and a trusted certificate. */
function secured(url: string, kind: ServerKind): string {
  return kind === 'redis' ? url.replace('redis:', 'rediss:') : `${url}?sslmode=verify-full`;
}

/** The test starts a server, which is slow on a busy machine. */
const PATIENT = { timeout: 120_000 };

describe.each(SERVER_KINDS)('a store on %s over TLS', PATIENT, (kind) => {
  it.skipIf(!hasServer(kind))('is used only by a process that trusts its certificate', async () => {
    const certificate = makeCertificate('localhost', Date.now());
    const server = await startServer(kind, certificate);
    onTestFinished(() => server.remove());
    const to = await receiving();
    const env = { HOOKS_STORE: secured(server.url, kind) };
    const cwd = temporaryFolder({
      'issuers.pem': certificate.cert,
      '.hooksrc.yaml': `webhooks: [${to.url}]\nsharedSecret: ${SECRET}\nstore: \${HOOKS_STORE}\n`,
    });
    const trusting = { ...env, NODE_EXTRA_CA_CERTS: join(cwd, 'issuers.pem') };
    const send = ['send', 'track', '--event', 'A', '--user-id', 'u', '--queue'];

    const refused = await hooks(send, { cwd, env: { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' } });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/cannot be reached: TLS failed\nhint: .*NODE_EXTRA_CA_CERTS/);

    expect(await hooks(send, { cwd, env: trusting })).toMatchObject({ code: 0 });
    const running = startHooks(['worker', '--allow-private'], { cwd, env: trusting });
    await expect.poll(() => to.requests.length, { timeout: 30_000 }).toBe(1);
    const worker = await running.stop('SIGTERM');
    expect(worker.code, worker.stderr).toBe(0);
    expect(refused.stderr + worker.stdout + worker.stderr).not.toContain(CANARY);
  });
});
