import type { JSX } from 'preact';
import { printable } from '../../../redact.ts';
import type { Details } from '../../wire.ts';

interface FurtherDiagnosisProps {
  readonly verify: Details['verify'];
  readonly onCopy: (text: string, what: string) => void;
}

/** The command that searches longer for the cause of a mismatch. */
export function FurtherDiagnosis({ verify, onCopy }: FurtherDiagnosisProps): JSX.Element | null {
  if (verify === undefined) return null;
  const { command, isSaved } = verify;
  const first = isSaved ? '' : 'copy the capture, save it as capture.json, and ';
  return (
    <p class="further">
      To search longer, {first}run <code>{printable(command, 1_000)}</code>{' '}
      <button type="button" aria-label="Copy the command" onClick={() => onCopy(command, 'command')}>
        Copy
      </button>
    </p>
  );
}
