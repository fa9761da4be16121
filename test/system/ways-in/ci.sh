# Continuous integration: tests a receiver, replays messages of its own, and checks what a program sends.
. "$(dirname "$0")/common.sh"
export CI=true GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=summary.md HOOKS_SECRET=s3cret
URL=http://127.0.0.1:$PORT_A/webhook
FIXTURES=$(dirname "$(dirname "$(node -p "require('fs').realpathSync('$(command -v hooks)')")")")/fixtures

cat > server.mjs <<'SERVER'
import { createServer } from 'node:http';
createServer((request, response) => request.resume().on('end', () => response.end())).listen(process.env.PORT, '127.0.0.1');
SERVER

# The receiver lets forgers in: exit code 1, a report, annotations.
exits 1 hooks test --report receiver.xml "$URL" -- node server.mjs
shows '::error title=hooks test'
grep -q '<failure' receiver.xml || fail 'no failure in receiver.xml'
grep -q '### ✗ hooks test' summary.md || fail 'no summary'
# The receiver does not start: exit code 2, one error.
exits 2 hooks test --report receiver.xml "$URL" -- node -e 'process.exit(1)'
grep -q 'tests="1" failures="0" errors="1"' receiver.xml || fail 'not one error in receiver.xml'

# Messages of its own, to a receiver that is still starting.
start server.out sh -c "sleep 1; PORT=$PORT_A exec node server.mjs"
exits 0 hooks replay "$FIXTURES/*.json" --url "$URL" --report replay.xml
grep -q 'tests="7" failures="0"' replay.xml || fail 'not 7 messages in replay.xml'
# Nothing listens there: it ends soon, and says why.
exits 1 hooks replay "$FIXTURES/track.json" --url "http://127.0.0.1:$PORT_B/" --give-up-after 2s
shows 'No response came for 2s'

# What a program sends.
cat > program.mjs <<'PROGRAM'
const body = JSON.stringify({ batch: [{ type: 'track', event: process.argv[2], userId: 'u1', messageId: 'm1' }] });
await fetch(`${process.env.HOOKS_URL}/v1/batch`, { method: 'POST', body });
PROGRAM
exits 0 hooks expect --messages 1 --match event=Signup --report expect.xml -- node program.mjs Signup
exits 1 hooks expect --messages 1 --match event=Signup --within 10s -- node program.mjs Sign-up
shows 'got Sign-up'
