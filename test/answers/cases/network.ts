import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { AnswerCase, AnswerTheme } from '../answer-case.ts';
import { listening, startHttp } from '../counterparts.ts';
import type { Scene, Values } from '../scene.ts';
import { SEND } from './sending.ts';

const TEST = ['test', '{url}', '--secret', 's3cret'];
const to = (url: string): readonly string[] => SEND.map((word) => (word === '{url}' ? url : word));

/** A name that no lookup needs a network for: a label of DNS has 63 characters at most. */
const UNKNOWN = `${'a'.repeat(64)}.example`;

/** Gives {port}, at which nothing listens. */
async function closedPort(): Promise<Values> {
  const { port, close } = await listening(createServer());
  await close();
  return { port };
}

/** A receiver that listens at one of the two loopback addresses alone. */
function listensAt(host: '127.0.0.1' | '::1'): (scene: Scene) => Promise<Values> {
  return async ({ onEnd }) => {
    const { port, close } = await startHttp(() => ({ status: 200 }), undefined, host);
    onEnd(close);
    return { port };
  };
}

/** A server that says something other than HTTP, and goes. */
function greets(greeting: string | Buffer): (scene: Scene) => Promise<Values> {
  return serves((socket) => {
    socket.on('error', () => {}).write(greeting);
    socket.once('data', () => socket.end());
  });
}

function serves(serve: (socket: Socket) => void): (scene: Scene) => Promise<Values> {
  return async ({ onEnd }) => {
    const { port, close } = await listening(createServer(serve));
    onEnd(close);
    return { port, url: `http://127.0.0.1:${port}/hook` };
  };
}

/** Listens and accepts nothing: its thread waits forever. */
const HANGING_SERVER = `const server = require('node:net').createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  require('node:fs').writeSync(1, String(server.address().port));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;

/** A port whose queue of connections is full, so that the system drops whoever asks for another. */
async function fullBacklog({ onEnd }: Scene): Promise<Values> {
  const child = spawn(process.execPath, ['-e', HANGING_SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  onEnd(() => child.kill('SIGKILL'));
  const [said] = (await once(child.stdout, 'data')) as [Buffer]; // stdout has no encoding
  const port = Number(said);
  // A backlog of 1 holds two; the others wait, and keep the queue full.
  const clients = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  onEnd(() => clients.forEach((client) => client.destroy()));
  await Promise.race(clients.map((client) => once(client, 'connect')));
  return { port, url: `http://127.0.0.1:${port}/hook` };
}

const NOT_ACCEPTING =
  'probably a program listens at 127.0.0.1:{port}, but does not accept connections: it is overloaded, hangs, or is stopped';

const DOCTOR = ['doctor', '-c', 'hooks.json'];

/** Takes what is sent, answers, and closes: without words as PostgreSQL does with what is no startup packet. */
const answersRaw = (words = ''): ((scene: Scene) => Promise<Values>) =>
  serves((socket) => socket.once('data', () => socket.end(words)));

const CASES: readonly AnswerCase[] = [
  {
    id: 'no-connection-in-time',
    title: 'nothing takes the connection',
    given: { start: fullBacklog },
    argv: [...SEND, '--timeout', '300ms'],
    cause: NOT_ACCEPTING,
    fix: 'look into the log of the program, let it continue, or start it again',
    never: ['let the receiver respond first'],
  },
  {
    id: 'test-no-connection-in-time',
    title: 'hooks test, and nothing takes the connection',
    given: { start: fullBacklog },
    argv: [...TEST, '--timeout', '300ms', '--only', 'track'],
    cause: NOT_ACCEPTING,
    fix: 'look into the log of the program, let it continue, or start it again',
    never: ['respond with 2xx first'],
  },
  {
    id: 'refused',
    title: 'nothing listens at the port',
    given: { start: closedPort },
    argv: to('http://127.0.0.1:{port}/hook'),
    cause: 'nothing listens at 127.0.0.1:{port}',
    fix: 'start the receiver, wait until it listens (hooks test URL -- COMMAND does both), and check the port',
  },
  {
    id: 'test-refused',
    title: 'hooks test, and nothing listens at the port',
    given: { start: closedPort },
    argv: ['test', 'http://127.0.0.1:{port}/hook', '--secret', 's3cret'],
    cause: 'Cannot reach http://127.0.0.1:{port}/hook: the connection was refused',
    fix: 'start the receiver, wait until it listens',
    exitCode: 2,
  },
  {
    id: 'listens-at-ipv6',
    title: 'the receiver listens at ::1 only',
    given: { start: listensAt('::1') },
    argv: to('http://127.0.0.1:{port}/hook'),
    cause: 'nothing listens at 127.0.0.1:{port}, but something does at http://[::1]:{port}',
    fix: 'give that address in the URL, or let the receiver listen at all addresses (::)',
  },
  {
    id: 'listens-at-ipv4',
    title: 'the receiver listens at 127.0.0.1 only',
    given: { start: listensAt('127.0.0.1') },
    argv: to('http://[::1]:{port}/hook'),
    cause: 'nothing listens at [::1]:{port}, but something does at http://127.0.0.1:{port}',
    fix: 'give that address in the URL, or let the receiver listen at all addresses (::)',
  },
  {
    id: 'test-listens-at-ipv6',
    title: 'hooks test at 127.0.0.1 of a receiver at ::1',
    given: { start: listensAt('::1') },
    argv: ['test', 'http://127.0.0.1:{port}/hook', '--secret', 's3cret'],
    cause: 'but something does at http://[::1]:{port}',
    fix: 'give that address in the URL',
    exitCode: 2,
  },
  {
    id: 'service-name',
    title: 'the name of a container, from outside its network',
    argv: to('http://hooks-test-receiver:3000/hook'),
    cause:
      'probably hooks-test-receiver is the name of a container: names without a dot are known only inside the network of the containers',
    fix: 'give localhost with the published port',
  },
  {
    id: 'docker-host',
    title: 'host.docker.internal where that name does not exist',
    argv: to('http://host.docker.internal:3000/hook'),
    cause: 'host.docker.internal is a name inside containers only',
    fix: '--add-host=host.docker.internal:host-gateway',
  },
  {
    id: 'unknown-name',
    title: 'a typing error in the host name',
    argv: to(`http://${UNKNOWN}/hook`),
    cause: `name lookup failed for http://${UNKNOWN}/hook`,
    fix: 'check the host name in the URL',
  },
  {
    id: 'no-answer-in-time',
    title: 'the receiver works longer than the timeout',
    given: { receiver: ({ method }) => (method === 'OPTIONS' ? {} : 'hang') },
    argv: [...SEND, '--timeout', '200ms'],
    cause:
      'the server responds to OPTIONS /hook, but not to this message: its handler, or what reads the body before it, waits (for a body that was read already, the end of the connection, a lock), works too long',
    fix: 'let the handler respond first and do slow work after it, end its response on every path',
  },
  {
    id: 'reset',
    title: 'the receiver breaks the connection off',
    given: { receiver: ({ method }) => (method === 'OPTIONS' ? {} : 'reset') },
    argv: SEND,
    cause: 'the server responds to OPTIONS /hook, but closed the connection on this message',
    fix: 'look into the log of the receiver: it may have crashed on this message, or a limit of it or of a proxy in front of it closed the connection',
    never: ['speaks TLS'],
  },
  {
    id: 'closed-without-answer',
    title: 'the receiver closes the connection without a response',
    given: { receiver: () => 'close' },
    argv: SEND,
    cause: 'connection broken off by {url}',
    fix: 'look into the log of the receiver',
  },
  {
    id: 'postgres-port',
    title: 'a port that closes whatever is sent (PostgreSQL)',
    given: { start: answersRaw() },
    argv: SEND,
    cause: 'the port closes each connection without a response',
    fix: 'if it is a database, give the port of the receiver',
    never: ['crashed on this message'],
  },
  {
    id: 'test-postgres-port',
    title: 'the same with hooks test',
    given: { start: answersRaw() },
    argv: TEST,
    cause: 'the port closes each connection without a response',
    fix: 'if it is a database, give the port of the receiver',
    never: ['crashed'],
  },
  ...[
    ['lf-only', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', 'Missing expected CR'],
    ['header-space', 'HTTP/1.1 200 OK\r\nContent Length: 2\r\n\r\nok', 'Invalid header token'],
    [
      'length-and-chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      'Response body length does not match content-length header (a response in chunks must have none)',
    ],
  ].map(([id = '', answer = '', words = '']) => ({
    id: `malformed-${id}`,
    title: 'the response is malformed HTTP',
    given: { start: answersRaw(answer) },
    argv: SEND,
    cause: words,
    fix: 'let the receiver, or the proxy in front of it, send correct HTTP',
    never: ['other than HTTP'],
  })),
  {
    id: 'placeholder-host',
    title: 'the URL has a placeholder for its host',
    argv: SEND.map((word) => (word === '{url}' ? 'http://{host}/x' : word)),
    cause: '{host} is a placeholder in the URL that was not filled in',
    fix: 'put the name of the host in its place',
    never: ['containers'],
  },
  {
    id: 'ssh-port',
    title: 'the port of an SSH server',
    given: { start: greets('SSH-2.0-OpenSSH_9.6\r\n') },
    argv: SEND,
    cause: 'the port speaks another protocol, not HTTP: "SSH-2.0-OpenSSH_9.6"',
    fix: 'give the port of the receiver',
  },
  {
    id: 'smtp-port',
    title: 'the port of a mail server, which speaks first and never hangs up',
    given: { start: serves((socket) => socket.write('220 mail.example ESMTP Postfix\r\n')) },
    argv: [...SEND, '--timeout', '300ms'],
    cause: 'the port speaks another protocol, not HTTP: "220 mail.example ESMTP Postfix"',
    fix: 'give the port of the receiver',
  },
  {
    id: 'near-host',
    title: 'a typing error in localhost',
    argv: to('http://localhsot:3000/hook'),
    cause: 'probably its host name is a typing error for that of http://localhost:3000',
    fix: 'correct the host name: http://localhost:3000',
    never: ['containers'],
  },
  {
    id: 'near-host-of-variable',
    title: 'a typing error in a host that another variable names',
    given: { env: { API_URL: 'https://api.exmaple.invalid/v1' } },
    argv: to('https://api.example.invalid/hook'),
    cause: 'probably its host name is a typing error for that of https://api.exmaple.invalid:443',
    fix: 'correct the host name',
  },
  {
    id: 'mysql-port',
    title: 'the port of a database',
    given: { start: greets(Buffer.from('4a0000000a382e302e333600', 'hex')) },
    argv: SEND,
    cause: 'the port speaks another protocol, not HTTP',
    fix: 'give the port of the receiver',
  },
  {
    id: 'test-ssh-port',
    title: 'hooks test at the port of an SSH server',
    given: { start: greets('SSH-2.0-OpenSSH_9.6\r\n') },
    argv: TEST,
    cause: 'the port speaks another protocol, not HTTP',
    fix: 'give the port of the receiver',
  },
  {
    id: 'doctor-refused',
    title: 'hooks doctor, and nothing listens where a webhook is configured',
    given: {
      receiver: () => ({}),
      files: { 'hooks.json': '{"webhooks":["http://[::1]:{port}/hook"]}' },
    },
    argv: DOCTOR,
    cause: 'but something does at http://127.0.0.1:{port}',
    fix: 'give that address in the URL',
  },
];

/** What is in the way of a connection. */
export const NETWORK: AnswerTheme = { title: 'There is no connection, or no response over it', cases: CASES };
