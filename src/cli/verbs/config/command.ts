import type { Define } from '../../command.ts';
import { showSettings } from './run.ts';

const EXAMPLES = `Examples:
  $ hooks config
  $ hooks config -c staging.yaml
  $ hooks config -o json | jq 'select(.origin != "default")'
`;

/** Defines `hooks config`, which prints every setting. `hooks doctor` checks whether the settings work. */
export const defineConfig: Define = (command, { io }) => {
  command.addHelpText('before', EXAMPLES).action(() => showSettings(command.optsWithGlobals(), io));
};
