// A receiver that appends a byte to a file for each message before it responds, so that what it acknowledged survives SIGKILL.
// Arguments: port, file. Prints its port.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [port, file] = process.argv.slice(2);
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    appendFileSync(file, '.');
    response.end();
  });
});
server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
