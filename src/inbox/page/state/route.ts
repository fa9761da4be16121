/** The open request and its comparison, as in the address: `#/requests/17`, or `#/requests/17/compare/12`. */
export interface InboxRoute {
  readonly selectedId: number | undefined;
  /** Id of the request that is marked for comparison. Equal to `selectedId` until the user selects another request. */
  readonly markedId: number | undefined;
}

/** Media query of narrow screens, as in the style sheet: the list and the request do not fit side by side. */
export const NARROW = '(max-width: 820px)';

export function parseRoute(hash: string): InboxRoute {
  const [, selected, marked] = /^#\/requests\/(\d{1,15})(?:\/compare\/(\d{1,15}))?$/.exec(hash) ?? [];
  return {
    selectedId: selected === undefined ? undefined : Number(selected),
    markedId: marked === undefined ? undefined : Number(marked),
  };
}

export function routeHash({ selectedId, markedId }: InboxRoute): string {
  if (selectedId === undefined) return '';
  const compared = markedId === undefined || markedId === selectedId ? '' : `/compare/${markedId}`;
  return `#/requests/${selectedId}${compared}`;
}
