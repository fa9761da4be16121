import type { Define } from '../../command.ts';
import { showSettings } from './run.ts';

const EXAMPLES = `Examples:
  $ hooks config
  $ hooks config -c staging.yaml
  $ hooks config -o json | jq 'select(.origin != "default")'
`;

/** Defines a command that prints every setting. Whether they work is a question for `doctor`. */
export const defineConfig: Define = (command, { io }) => {
  command.addHelpText('before', EXAMPLES).action(() => showSettings(command.optsWithGlobals(), io));
};
