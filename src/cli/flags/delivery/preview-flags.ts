import type { Command } from 'commander';
import type { RecordedRequest } from '../../../app/recording-transport.ts';
import type { GlobalOptions } from '../../command.ts';
import type { Io } from '../../io.ts';
import { flagError } from '../flag-values.ts';
import type { RequestFormat } from './request-text.ts';

export interface PreviewFlags {
  readonly dryRun?: true;
  readonly curl?: true;
  readonly showSecrets?: true;
}

export function addPreviewFlags(command: Command): void {
  command
    .optionsGroup('Preview:')
    .option('-n, --dry-run', 'print the request instead of sending it')
    .option('--curl', 'print a curl command instead of sending')
    .option('--show-secrets', 'print secrets instead of $HOOKS_… in the preview');
}

/** Returns the function that prints a request instead of sending it, or undefined if requests are sent. */
export async function previewOf(
  flags: PreviewFlags & Pick<GlobalOptions, 'output' | 'quiet'>,
  io: Io,
): Promise<((request: RecordedRequest) => void) | undefined> {
  const isPreview = flags.dryRun ?? flags.curl ?? false;
  const showSecrets = flags.showSecrets ?? false;
  if (!isPreview && showSecrets) {
    const sentence = '`--show-secrets` is for `--dry-run` and `--curl`';
    throw flagError('--show-secrets', sentence, 'add one of them, or leave it out');
  }
  if (!isPreview) return undefined;
  const format: RequestFormat = flags.curl ? 'curl' : flags.output;
  const { requestText } = await import('./request-text.ts');
  const explained = new Set<string>();
  return (request) => {
    const { text, variables } = requestText(request, { format, showSecrets });
    (flags.curl ? io.verbatim : io).out(text);
    const fresh = variables.filter((name) => !explained.has(name));
    if (fresh.length > 0 && !flags.quiet) {
      const [stand, them] =
        fresh.length === 1 ? ['stands for a secret', 'it'] : ['stand for secrets', 'them'];
      io.note(`note: ${fresh.join(', ')} ${stand}; --show-secrets prints ${them}`);
    }
    for (const name of fresh) explained.add(name);
  };
}
