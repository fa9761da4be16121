/** What is open, as the address says it: `#/requests/17`, or `#/requests/17/compare/12`. */
export interface InboxRoute {
  readonly selectedId: number | undefined;
  /** The one that others are compared with; that which is open itself while another is to be chosen. */
  readonly markedId: number | undefined;
}

/** As in the style sheet: the list and the request do not fit side by side. */
export const NARROW = '(max-width: 820px)';

const NOTHING_OPEN: InboxRoute = { selectedId: undefined, markedId: undefined };

export function parseRoute(hash: string): InboxRoute {
  const [, selected, marked] = /^#\/requests\/(\d{1,15})(?:\/compare\/(\d{1,15}))?$/.exec(hash) ?? [];
  if (selected === undefined) return NOTHING_OPEN;
  return { selectedId: Number(selected), markedId: marked === undefined ? undefined : Number(marked) };
}

export function routeHash({ selectedId, markedId }: InboxRoute): string {
  if (selectedId === undefined) return '';
  const compared = markedId === undefined || markedId === selectedId ? '' : `/compare/${markedId}`;
  return `#/requests/${selectedId}${compared}`;
}
