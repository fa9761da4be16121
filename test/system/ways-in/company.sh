# A company runs its own tracking API with two destinations, one of which is down: nothing is lost, and what waits can be seen.
. "$(dirname "$0")/common.sh"
export HOOKS_DATA_DIR=$PWD/data HOOKS_ALLOW_PRIVATE=true
cat > .hooksrc.yaml <<CONFIG
sources:
  web:
    writeKey: web-key
    destinations:
      Billing:
        webhooks: [http://127.0.0.1:$PORT_A/billing]
      Mail:
        webhooks: [http://127.0.0.1:$PORT_B/mail]
CONFIG
cat > receiver.mjs <<'RECEIVER'
import { createServer } from 'node:http';
createServer((request, response) => request.resume().on('end', () => response.end())).listen(process.argv[2], '127.0.0.1');
RECEIVER
start a.out node receiver.mjs "$PORT_A"

# Mail is down: doctor says so.
exits 1 hooks doctor
shows "127.0.0.1:$PORT_B"

# A free port of the system, read from the first line.
serve() { start serve.out hooks serve --port 0 -o json; SERVE=$!; within grep -q '"ready":true' serve.out; URL=$(sed -n 's/.*"url":"\([^"]*\)".*/\1/p' serve.out | head -1); }
call() { node -e 'fetch(process.argv[1]+"/v1/track",{method:"POST",headers:{authorization:"Basic "+btoa("web-key:")},body:JSON.stringify({event:"Signup",userId:"u1",messageId:process.argv[2]})}).then(async(r)=>{if(r.status!==200){console.error(r.status,await r.text());process.exit(1)}})' "$URL" "$1"; }
serve
for n in 1 2 3; do call "m$n" || fail "message $n was not taken"; done

# Three wait for Mail, and none for Billing.
waiting() { hooks queue list -o json > list.out && [ "$(grep -c '"destination":"Mail"' list.out)" = 3 ] && ! grep -q '"destination":"Billing"' list.out; }
within waiting
exits 0 hooks queue stats
exits 0 hooks queue list
shows 'Mail'

# The machine dies; after the restart Mail is back, and gets what waited.
kill -9 $SERVE; wait $SERVE || true
start b.out node receiver.mjs "$PORT_B"
serve
exits 0 hooks queue retry --now
empty() { hooks queue list -o json > list.out && [ ! -s list.out ]; }
within empty
exits 0 hooks doctor
kill $SERVE; wait $SERVE || fail 'serve did not end with 0'
