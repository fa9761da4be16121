import { Option } from 'commander';
import type { Define } from '../../command.ts';
import { addMetricsFlags, addServiceFlags } from '../../flags/delivery/service-flags.ts';
import { serve, type ServeOptions } from './run.ts';
import { parsePort } from '../../flags/flag-values.ts';

const EXAMPLES = `Examples:
  $ hooks serve                    # on 127.0.0.1:8788, and deliver
  $ hooks serve --port 0 -o json   # on a free port, printed in the first line
  $ hooks serve --no-deliver       # only queue; hooks worker delivers
  $ hooks serve --metrics-port 9464 # /metrics on this port only
  $ curl -u key: -d '{"userId":"u1","event":"A"}' 127.0.0.1:8788/v1/track
`;

const DETAILS = `
Point any Segment SDK at it with its host setting; nothing else is needed:
  new Analytics({ writeKey, host: 'http://127.0.0.1:8788' })

Paths:
  POST /v1/batch /v1/import  or /v1/identify /v1/track /v1/page and the like
  POST /v1/deletions         {"userIds":["u1"]}, at the source of the write
                             key; with --deletions all at every source
  GET  /v1/deletions/ID      the progress of the request
  GET  /healthz /readyz /metrics

A write key identifies its source (Basic auth, or writeKey in the body). 200
means stored; 503 and 429 mean retry later, which SDKs do automatically. The log
goes to stderr, as JSON lines unless that is a terminal. -v adds each attempt,
-q logs only errors.

On SIGTERM or Ctrl-C it stops accepting requests, finishes the attempts in
flight, keeps the rest in the queue, and exits with 0. SIGHUP does the same, but
if a source has a tracking plan, it loads the plans again. A changed config
needs a restart.
`;

export const defineServe: Define = (command, { io, exit }) => {
  const flags = addServiceFlags(command)
    .option('-p, --port <port>', 'listen on this port; 0 takes a free one', parsePort, 8788)
    .option('--host <host>', 'listen on this address; 0.0.0.0 admits other machines', '127.0.0.1');
  addMetricsFlags(flags, 'serve /metrics on this port instead')
    .option('--no-deliver', 'only queue; hooks worker delivers')
    .addOption(
      new Option('--deletions <reach>', 'choose at which sources a write key may delete users')
        .choices(['own', 'all'])
        .default('own'),
    )
    .option('--confine-deletions', 'same as --deletions own')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async () => exit(await serve(command.optsWithGlobals<ServeOptions>(), io)));
};
