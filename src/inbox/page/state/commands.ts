import type { RequestSummary, Setup } from '../../wire.ts';
import { messageOf } from '../../../errors.ts';
import type { Api } from './api.ts';
import { copiedText, type CopiedForm } from './copies.ts';
import type { ChangeRoute } from './use-route.ts';

/** What the page does besides showing; each tells how it ended. */
export interface InboxCommands {
  /** Copies the selected request. */
  readonly copy: (what: CopiedForm) => void;
  readonly copyText: (text: string, what: string) => void;
  /** Saves the captures of the requests that are shown as a file. */
  readonly exportShown: () => void;
  readonly clear: () => void;
}

interface InboxCommandContext {
  readonly api: Api;
  readonly setup: Setup;
  readonly shown: readonly RequestSummary[];
  readonly selectedId: number | undefined;
  readonly replayUrl: string;
  readonly setNotice: (notice: string) => void;
  readonly changeRoute: ChangeRoute;
}

export function commandsOf(context: InboxCommandContext): InboxCommands {
  const { api, setup, shown, selectedId, replayUrl, setNotice, changeRoute } = context;
  const tell = (ended: Promise<string>, failed: string): void => {
    void ended.catch((error: unknown) => `${failed}: ${messageOf(error)}`).then(setNotice);
  };
  return {
    copy: (what) => {
      if (selectedId === undefined) return;
      const pageUrl = location.origin + location.pathname;
      const request = { api, id: selectedId, url: replayUrl, pageUrl, setup };
      const copied = copiedText(what, request).then(copyText);
      tell(
        copied.then(() => `Copied as ${what}`),
        'Not copied',
      );
    },
    copyText: (text, what) =>
      tell(
        copyText(text).then(() => `Copied the ${what}`),
        'Not copied',
      ),
    exportShown: () => tell(exportCaptures(api, shown), 'Not exported'),
    clear: () => {
      const cleared = api
        .clear()
        .then(() => changeRoute(() => ({ selectedId: undefined, markedId: undefined })));
      tell(
        cleared.then(() => 'Cleared'),
        'Not cleared',
      );
    },
  };
}

async function exportCaptures(api: Api, shown: readonly RequestSummary[]): Promise<string> {
  const ids = shown.map(({ id }) => id).toReversed();
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-');
  saveFile(await api.exported({ ids }), `captures-${time}.ndjson`);
  return `Exported ${ids.length.toLocaleString('en')} ${ids.length === 1 ? 'request' : 'requests'}`;
}

/** Puts a text on the clipboard. Rejects, with the reason, where the browser does not allow it. */
async function copyText(text: string): Promise<void> {
  // Browsers have it only for https and for this machine.
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  // Deprecated, but the only way in an insecure context.
  const isCopied = document.execCommand('copy');
  field.remove();
  if (!isCopied) throw new Error('the browser does not let the page copy');
}

/** Saves a file as a browser saves one that is downloaded. */
function saveFile(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has begun once the click is handled.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
