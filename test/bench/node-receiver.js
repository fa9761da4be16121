// The receiver of the benchmarks where nginx is missing: reads each request, answers 200. The port is its argument.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.end('ok'));
});
server.listen(Number(process.argv[2]), '127.0.0.1');
