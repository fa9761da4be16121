// A receiver that costs next to nothing, so that what is measured is the sender: it responds to every request with 200 as soon
// as its body is there, looks at nothing but Content-Length, and knows only requests that have one, as ours do. Prints
// its port in a line of its own; at the end of its standard input, how many requests came.
import { createServer } from 'node:net';

// ab speaks HTTP/1.0 and needs the header `connection`.
const OK = 'HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok';
const END_OF_HEAD = '\r\n\r\n';
let requests = 0;

const server = createServer({ noDelay: true }, (socket) => {
  let unread = Buffer.alloc(0);
  let missing = 0;
  socket.on('data', (chunk) => {
    let rest = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    let answers = '';
    for (;;) {
      if (rest.length < missing) break;
      if (missing > 0) answers += OK;
      rest = rest.subarray(missing);
      missing = 0;
      const head = rest.indexOf(END_OF_HEAD);
      if (head === -1) break;
      missing = head + END_OF_HEAD.length + lengthOfBody(rest.latin1Slice(0, head));
    }
    unread = rest;
    if (answers === '') return;
    requests += answers.length / OK.length;
    socket.write(answers, 'latin1');
  });
  // A sender may disconnect during a response.
  socket.on('error', () => {});
});

server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  process.stdout.write(`${server.address().port}\n`);
});

process.stdin.on('end', () => {
  process.stdout.write(`${requests}\n`, () => process.exit());
});
process.stdin.resume();

/** @param {string} head */
function lengthOfBody(head) {
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
  if (length === undefined) throw new Error('Expected a request with Content-Length');
  return Number(length);
}
