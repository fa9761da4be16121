import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { EditDraft } from './edit-draft.ts';

interface EditFormProps {
  readonly draft: EditDraft;
  readonly onDraft: (draft: EditDraft) => void;
  /** Whether the inbox can sign requests of this page. */
  readonly canSign: boolean;
}

/** Form to edit the headers and the body of a request. */
export function EditForm({ draft, onDraft, canSign }: EditFormProps): JSX.Element {
  const bodyField = useRef<HTMLTextAreaElement>(null);
  // Scrolls to the field, which is out of sight on a phone.
  useEffect(() => bodyField.current?.focus(), []);
  return (
    <div class="edit">
      <label for="edit-headers">Headers</label>
      <textarea
        id="edit-headers"
        rows={5}
        spellcheck={false}
        value={draft.headers}
        onInput={({ currentTarget: { value } }) => onDraft({ ...draft, headers: value })}
      />
      <label for="edit-body">Body</label>
      <textarea
        ref={bodyField}
        id="edit-body"
        class="edit-body"
        spellcheck={false}
        value={draft.body}
        onInput={({ currentTarget: { value } }) => onDraft({ ...draft, body: value })}
      />
      {canSign && (
        <label class="choice">
          <input
            type="checkbox"
            checked={draft.isSigned}
            onChange={({ currentTarget: { checked } }) => onDraft({ ...draft, isSigned: checked })}
          />
          Sign it with the secret of <code>hooks listen</code>
        </label>
      )}
    </div>
  );
}
