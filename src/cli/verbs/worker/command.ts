import type { Define } from '../../command.ts';
import { addMetricsFlags, addServiceFlags, type ServiceFlags } from '../../flags/delivery/service-flags.ts';
import { work } from './run.ts';

const EXAMPLES = `Examples:
  $ hooks worker                      # deliver from the queue until stopped
  $ hooks worker -c prod.yaml -o json # a line for each settled delivery
  $ hooks worker --metrics-port 9464  # /metrics on this port, for Prometheus
`;

const DETAILS = `
Delivers for every source of the config until SIGTERM or Ctrl-C; then it
finishes the attempts in flight, keeps the rest in the queue, and exits with 0.
Several workers may share a queue. A delivery whose destination is no longer in
the config, or is disabled there, becomes a dead letter (cancelled), which
hooks queue retry delivers again.

The log goes to stderr, as JSON lines unless that is a terminal: a line when a
webhook goes down, and one when it is up again. -v adds each attempt, -q logs
only errors.
`;

export const defineWorker: Define = (command, { io, exit }) => {
  addMetricsFlags(addServiceFlags(command), 'serve /metrics for Prometheus on this port')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async () => exit(await work(command.optsWithGlobals<ServiceFlags>(), io)));
};
