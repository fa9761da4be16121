import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog, type DialogState } from './dialog.tsx';
import { FieldError, invalidField } from './field-error.tsx';
import { messageOf } from '../../errors.ts';
import type { InboxState } from './state/use-inbox.ts';

const EXAMPLES = [
  '200',
  '204',
  '401',
  '500',
  '503x2,200',
  '429@retry-after=3',
  'delay=6s',
  'timeout',
  'reset',
];

interface ResponsesProps extends DialogState {
  readonly inbox: InboxState;
}

/** Changes the responses to the next requests, as `--respond` does at the start. */
export function Responses({ inbox, isOpen, onClose }: ResponsesProps): JSX.Element {
  return (
    <Dialog id="responses-title" title="Responses" isOpen={isOpen} onClose={onClose}>
      <ScriptForm inbox={inbox} onClose={onClose} />
    </Dialog>
  );
}

function ScriptForm({ inbox, onClose }: Omit<ResponsesProps, 'isOpen'>): JSX.Element {
  const { api, arrived, setup } = inbox;
  const otherwise = setup.forwardUrl === undefined ? '200' : 'as the other receiver responds';
  const [text, setText] = useState(arrived.respond);
  const [failure, setFailure] = useState('');
  const edit = (edited: string): void => {
    setText(edited);
    setFailure('');
  };
  const apply = async (): Promise<void> => {
    try {
      await api.respondBy(text);
      onClose();
    } catch (error) {
      setFailure(messageOf(error));
    }
  };
  return (
    <form
      class="script"
      onSubmit={(event) => {
        event.preventDefault();
        void apply();
      }}
    >
      <label for="script">Respond to the next requests with</label>
      <div class="script-line">
        <input
          id="script"
          type="text"
          autocomplete="off"
          spellcheck={false}
          placeholder={otherwise}
          value={text}
          onInput={({ currentTarget: { value } }) => edit(value)}
          {...invalidField('script', failure)}
          aria-describedby="script-error script-help"
        />
        <button type="submit" class="primary">
          Apply
        </button>
      </div>
      <FieldError field="script" error={failure} />
      <div class="examples" role="group" aria-label="Examples">
        {EXAMPLES.map((example) => (
          <button key={example} type="button" onClick={() => edit(example)}>
            <code>{example}</code>
          </button>
        ))}
      </div>
      <p class="muted" id="script-help">
        Steps with commas between; the last one repeats. A step is a status, <code>delay=5s</code>,{' '}
        <code>slow-body</code>, <code>reset</code> or <code>timeout</code>, and may have <code>x3</code>,{' '}
        <code>@header=value</code> and <code>@delay=2s</code>. Empty: {otherwise}.
      </p>
    </form>
  );
}
