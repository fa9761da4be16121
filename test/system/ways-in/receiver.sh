# Someone writes a receiver: sees what arrives, understands why a signature does not match, and proves the receiver.
. "$(dirname "$0")/common.sh"
SECRET=s3cret
URL=http://127.0.0.1:$PORT_A/webhook

# See a real event arrive.
start listen.out hooks listen --port "$PORT_A" --secret $SECRET
LISTEN=$!
within grep -q "$PORT_A" listen.out
exits 0 hooks send track --event Signup --user-id u1 --url "$URL" --secret $SECRET
within grep -q 'Signup.* valid' listen.out

# Sign with another secret: both sides say what is wrong.
exits 0 hooks send track --event Signup --user-id u1 --url "$URL" --secret wrong-one
within grep -q 'invalid' listen.out
kill $LISTEN && wait $LISTEN || true

# A body that was signed with a newline too many is explained.
printf '{"a":1}' > body.json
printf '{"a":1}\n' > signed.json
SIGNATURE=$(hooks sign --secret $SECRET < signed.json)
exits 1 hooks verify --secret $SECRET --signature "$SIGNATURE" body.json
shows 'newline at the end'
exits 0 hooks verify --secret $SECRET --signature "$SIGNATURE" signed.json

# A receiver that verifies nothing, and one that does.
cat > receiver.mjs <<'RECEIVER'
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
const verifies = process.argv[2] !== 'open';
createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const expected = createHmac('sha1', process.env.HOOKS_SECRET).update(body).digest();
  const given = Buffer.from(request.headers['x-signature'] ?? '', 'hex');
  const isValid = given.length === expected.length && timingSafeEqual(given, expected);
  if (verifies && !isValid) return response.writeHead(401).end();
  try {
    JSON.parse(body);
  } catch {
    return response.writeHead(400).end();
  }
  response.end();
}).listen(process.env.PORT, '127.0.0.1');
RECEIVER
exits 1 hooks test "http://127.0.0.1:$PORT_B/" --secret $SECRET -- node receiver.mjs open
shows 'it accepts everything'
exits 0 hooks test "http://127.0.0.1:$PORT_B/" --secret $SECRET -- node receiver.mjs
shows '0 failed'
