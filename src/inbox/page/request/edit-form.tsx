import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { InboxState } from '../state/use-inbox.ts';
import { FieldError, invalidField } from '../field-error.tsx';
import type { EditDraft } from './edit-draft.ts';

interface EditFormProps {
  readonly inbox: InboxState;
  readonly draft: EditDraft;
  /** The error of the headers. Empty if there is none. */
  readonly error: string;
  readonly onEdit: () => void;
}

/** Form to edit the headers and the body of a request. */
export function EditForm({ inbox: { setDraft, setup }, draft, error, onEdit }: EditFormProps): JSX.Element {
  const bodyField = useRef<HTMLTextAreaElement>(null);
  // Scrolls to the field of the body by focusing it, because on a phone it is out of sight.
  useEffect(() => bodyField.current?.focus(), []);
  return (
    <div class="edit">
      <label for="edit-headers">Headers</label>
      <textarea
        id="edit-headers"
        rows={5}
        spellcheck={false}
        value={draft.headers}
        onInput={({ currentTarget: { value } }) => {
          setDraft({ ...draft, headers: value });
          onEdit();
        }}
        {...invalidField('edit-headers', error)}
      />
      <FieldError field="edit-headers" error={error} />
      <label for="edit-body">Body</label>
      <textarea
        ref={bodyField}
        id="edit-body"
        class="edit-body"
        spellcheck={false}
        value={draft.body}
        onInput={({ currentTarget: { value } }) => setDraft({ ...draft, body: value })}
      />
      {setup.canSign && (
        <label class="choice">
          <input
            type="checkbox"
            checked={draft.isSigned}
            onChange={({ currentTarget: { checked } }) => setDraft({ ...draft, isSigned: checked })}
          />
          Sign it with the secret of <code>hooks listen</code>
        </label>
      )}
    </div>
  );
}
