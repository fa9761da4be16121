import { useState } from 'preact/hooks';
import { draftOf, uneditableReason, type EditDraft } from '../request/edit-draft.ts';
import type { Opening } from './opened.ts';

interface DraftContext {
  readonly canSign: boolean;
  readonly setNotice: (notice: string) => void;
}

export interface DraftState {
  /** The edited form of the selected request; undefined while none is edited. */
  readonly draft: EditDraft | undefined;
  readonly setDraft: (draft: EditDraft) => void;
  /** Begins to edit the selected request, or drops what was edited. */
  readonly toggleEdit: () => void;
}

/** The edited form of the selected request, dropped with the selection. */
export function useDraft(
  id: number | undefined,
  opening: Opening,
  { canSign, setNotice }: DraftContext,
): DraftState {
  const [edited, setEdited] = useState<{ readonly id: number; readonly draft: EditDraft }>();
  const draft = edited !== undefined && edited.id === id ? edited.draft : undefined;
  const setDraft = (now: EditDraft): void => {
    if (id !== undefined) setEdited({ id, draft: now });
  };
  const toggleEdit = (): void => {
    if (draft !== undefined) return setEdited(undefined);
    if (opening === undefined || !('body' in opening) || opening.details.summary.method !== 'POST') return;
    const reason = uneditableReason(opening.body);
    if (reason === undefined) setDraft(draftOf(opening, canSign));
    else setNotice(reason);
  };
  return { draft, setDraft, toggleEdit };
}
