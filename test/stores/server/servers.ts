import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../free-port.ts';
import { until } from '../../until.ts';

/** A real server in a folder of its own, on a free port of this machine. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly pid: () => number;
  /** Takes everything off it, but for tables. */
  empty(): Promise<void>;
  /** Takes the names of its series off it, and nothing else. */
  loseRegistry(): Promise<void>;
  /** Ends it as a power cut would, but for what the kernel has not written. */
  kill(): Promise<void>;
  /** Again, on what it has on its disk. */
  start(): Promise<void>;
  /** Stops its turns, as a machine that hangs; `resume` goes on. */
  pause(): void;
  resume(): void;
  /** For good, with its folder. */
  remove(): Promise<void>;
}

export type ServerKind = 'redis' | 'postgres';
export const SERVER_KINDS: readonly ServerKind[] = ['redis', 'postgres'];

/** Whether its programs are there. On CI they must be; elsewhere the tests that need it are skipped, and it is said. */
export function hasServer(kind: ServerKind): boolean {
  const name = kind === 'redis' ? 'redis-server' : 'postgres';
  if (find(name) !== undefined) return true;
  if (process.env['CI'] === 'true') throw new Error(`${name} is missing: on CI these tests must run`);
  process.stderr.write(`${name} is missing: the tests that need it are skipped\n`);
  return false;
}

/** In PEM. */
export interface ServerTls {
  readonly key: string;
  readonly cert: string;
}

/** With a certificate, Redis speaks nothing but TLS; PostgreSQL both. `disk`: the folder of its own folder. */
export async function startServer(
  kind: ServerKind,
  tls?: ServerTls,
  disk: string = tmpdir(),
): Promise<TestServer> {
  const folder = mkdtempSync(join(disk, `hooks-${kind}-`));
  const place = { folder, port: await freePort(), tls: tls && tlsFiles(folder, tls) };
  if (kind === 'postgres') initialize(folderOfData(folder));
  const server = kind === 'redis' ? redis(place) : postgres(place);
  await server.start();
  return server;
}

/** A server that copies each change of another server until it is promoted. */
export interface Replica extends TestServer {
  /** Makes the replica a primary. */
  promote(): Promise<void>;
}

/** Starts an asynchronous replica of the server at this URL. Resolves when the replica has a first copy. */
export async function startReplica(kind: ServerKind, primaryUrl: string): Promise<Replica> {
  const folder = mkdtempSync(join(tmpdir(), `hooks-${kind}-`));
  const place = { folder, port: await freePort(), tls: undefined };
  if (kind === 'postgres') await copyData(folderOfData(folder), primaryUrl);
  const server = kind === 'redis' ? redis(place) : postgres(place);
  await server.start();
  const { follow, isFollowing, promote } = replicating(kind, server);
  try {
    await follow(new URL(primaryUrl).port);
    await until(isFollowing, 'the first copy', { seconds: STARTING_MS / 1_000 });
  } catch (error) {
    await server.remove();
    throw error;
  }
  return Object.assign(server, { promote });
}

function replicating(kind: ServerKind, { port, url }: TestServer) {
  if (kind === 'postgres') {
    const receivers = "SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming'";
    return {
      follow: async () => {}, // the settings of the copy say so
      isFollowing: async () => (await sql(url, receivers)).length > 0,
      promote: async () => void (await sql(url, 'SELECT pg_promote()')),
    };
  }
  return {
    follow: async (primary: string) =>
      void (await ask(port, `CONFIG SET masterauth ${CANARY}\r\nREPLICAOF 127.0.0.1 ${primary}\r\n`)),
    isFollowing: async () => (await ask(port, 'INFO replication\r\n')).includes('master_link_status:up'),
    promote: async () => void (await ask(port, 'REPLICAOF NO ONE\r\n')),
  };
}

/** The password: it is to be found nowhere. */
export const CANARY = 'canary-of-the-store';

const NOBODY = 65_534;
/** PostgreSQL refuses to run as root. */
const AS_NOBODY = process.geteuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const STARTING_MS = 20_000;

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly tls: { readonly key: string; readonly cert: string } | undefined;
}

/** They take no key that others may read, or that is another's. */
function tlsFiles(folder: string, { key, cert }: ServerTls): Place['tls'] {
  const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') };
  writeFileSync(files.key, key, { mode: 0o600 });
  writeFileSync(files.cert, cert);
  if ('uid' in AS_NOBODY) chownSync(files.key, NOBODY, NOBODY);
  return files;
}

function redis({ folder, port, tls }: Place): TestServer {
  const command = process.env['HOOKS_TEST_REDIS_SERVER'] ?? find('redis-server') ?? '';
  const listens = tls
    ? ['--port', '0', '--tls-port', `${port}`, '--tls-key-file', tls.key, '--tls-cert-file', tls.cert]
    : ['--port', `${port}`];
  const anyClient = tls ? ['--tls-auth-clients', 'no', '--tls-ca-cert-file', tls.cert] : [];
  const settings = [...listens, ...anyClient, '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const secret = ['--requirepass', CANARY];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];
  // Otherwise, a replica waits 5 s for its first copy.
  const copied = ['--repl-diskless-sync-delay', '0'];
  return new LocalServer({
    url: `redis://:${CANARY}@127.0.0.1:${port}/0`,
    folder,
    port,
    run: () => spawn(command, [...settings, ...secret, ...durable, ...copied], { stdio: 'ignore' }),
    isUp: async () => (tls ? answers(port) : (await ask(port, 'PING\r\n')).startsWith('+PONG')),
    empty: async () => {
      await ask(port, 'FLUSHALL\r\n');
    },
    loseRegistry: async () => {
      await ask(port, 'DEL hooks:series\r\n');
    },
    stopSignal: 'SIGTERM',
  });
}

/** Makes the folder of PostgreSQL's data below a folder. */
function folderOfData(folder: string): string {
  const at = join(folder, 'base');
  if ('uid' in AS_NOBODY) chownSync(folder, NOBODY, NOBODY);
  mkdirSync(at, { mode: 0o700 });
  if ('uid' in AS_NOBODY) chownSync(at, NOBODY, NOBODY);
  return at;
}

/** Another program of the same version of PostgreSQL. */
function beside(name: string): string {
  const path = join(dirname(find('postgres') ?? ''), name);
  return existsSync(path) ? path : (find(name) ?? '');
}

function initialize(at: string): void {
  const settings = ['-D', at, '-U', 'hooks', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'];
  execFileSync(beside('initdb'), settings, { cwd: dirname(at), stdio: 'ignore', ...AS_NOBODY });
}

/** Copies the data of a primary, with the settings of a replica. Asynchronous, because its link may be in this process. */
async function copyData(at: string, primaryUrl: string): Promise<void> {
  const settings = ['-D', at, '-d', primaryUrl, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
  const options = { cwd: dirname(at), timeout: STARTING_MS, ...AS_NOBODY };
  await promisify(execFile)(beside('pg_basebackup'), settings, options);
}

function postgres({ folder, port, tls }: Place): TestServer {
  const at = join(folder, 'base');
  const binaries = dirname(find('postgres') ?? '');
  const url = `postgres://hooks:${CANARY}@127.0.0.1:${port}/postgres`;
  const listens = ['-p', `${port}`, '-k', folder, '-h', '127.0.0.1', '-c', 'max_connections=200'];
  const secured = tls
    ? ['ssl=on', `ssl_key_file=${tls.key}`, `ssl_cert_file=${tls.cert}`].flatMap((each) => ['-c', each])
    : [];
  const watched = existsSync(join(binaries, '../lib/pg_stat_statements.so'))
    ? ['-c', 'shared_preload_libraries=pg_stat_statements']
    : [];
  const settings = ['-D', at, ...listens, ...secured, ...watched];
  return new LocalServer({
    url,
    folder,
    port,
    run: () => spawn(find('postgres') ?? '', settings, { cwd: folder, stdio: 'ignore', ...AS_NOBODY }),
    isUp: async () => {
      await sql(url, 'SELECT 1');
      return true;
    },
    empty: async () => {
      await sql(url, 'TRUNCATE bullmq.job, bullmq.meta, bullmq.event, hooks.lines, hooks.facts CASCADE');
    },
    loseRegistry: async () => {
      await sql(url, "DELETE FROM bullmq.meta WHERE field = 'opts.maxLenEvents'");
    },
    stopSignal: 'SIGINT',
  });
}

/** Each statement over a connection of its own. */
export async function sql(url: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

interface LocalServerOptions {
  readonly url: string;
  readonly folder: string;
  readonly port: number;
  readonly run: () => ChildProcess;
  readonly isUp: () => Promise<boolean>;
  readonly empty: () => Promise<void>;
  readonly loseRegistry: () => Promise<void>;
  readonly stopSignal: NodeJS.Signals;
}

class LocalServer implements TestServer {
  readonly url: string;
  readonly port: number;
  readonly #options: LocalServerOptions;
  #child: ChildProcess | undefined;

  constructor(options: LocalServerOptions) {
    this.#options = options;
    this.url = options.url;
    this.port = options.port;
  }

  pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('it does not run');
    return pid;
  }

  empty(): Promise<void> {
    return this.#options.empty();
  }

  loseRegistry(): Promise<void> {
    return this.#options.loseRegistry();
  }

  async start(): Promise<void> {
    for (const giveUpAt = Date.now() + STARTING_MS; ;) {
      if (this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) {
        this.#child = this.#options.run();
      }
      const isUp = await this.#options.isUp().catch(() => false);
      if (isUp) return;
      if (Date.now() > giveUpAt) throw new Error(`it did not start: ${this.url}`);
      await wait(50);
    }
  }

  async kill(): Promise<void> {
    // PostgreSQL is several processes, of which the others end with the first.
    for (const pid of childrenOf(this.pid())) signal(pid, 'SIGKILL');
    await this.#end('SIGKILL');
  }

  pause(): void {
    for (const pid of [this.pid(), ...childrenOf(this.pid())]) signal(pid, 'SIGSTOP');
  }

  resume(): void {
    for (const pid of [this.pid(), ...childrenOf(this.pid())]) signal(pid, 'SIGCONT');
  }

  async remove(): Promise<void> {
    this.resume();
    await this.#end(this.#options.stopSignal);
    rmSync(this.#options.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #end(how: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(how);
    await exited;
  }
}

function signal(pid: number, how: NodeJS.Signals): void {
  try {
    process.kill(pid, how);
  } catch {
    // It has ended meanwhile.
  }
}

function childrenOf(pid: number): readonly number[] {
  const tasks = `/proc/${pid}/task/${pid}/children`;
  return existsSync(tasks) ? readFileSync(tasks, 'utf8').trim().split(' ').filter(Boolean).map(Number) : [];
}

/** Debian keeps PostgreSQL's programs outside the path. */
function find(name: string): string | undefined {
  const versions = '/usr/lib/postgresql';
  const folders = [
    ...(existsSync(versions) ? readdirSync(versions).map((version) => join(versions, version, 'bin')) : []),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
}

/** One command, one answer. */
async function ask(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write(`AUTH ${CANARY}\r\n`);
    await once(socket, 'data');
    socket.write(command);
    const [answer] = (await once(socket, 'data')) as [Buffer]; // without an encoding
    return answer.toString();
  } finally {
    socket.destroy();
  }
}
