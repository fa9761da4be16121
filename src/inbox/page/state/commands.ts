import type { RequestSummary, Setup } from '../../wire.ts';
import { messageOf } from '../../../errors.ts';
import { requestsText } from '../summary-texts.ts';
import type { Api } from './api.ts';
import { copiedText, type CopiedForm } from './copies.ts';
import type { ChangeRoute } from './use-route.ts';

interface InboxCommandContext {
  readonly api: Api;
  readonly setup: Setup;
  readonly shown: readonly RequestSummary[];
  readonly selectedId: number | undefined;
  readonly replayUrl: string;
  readonly setNotice: (notice: string) => void;
  readonly changeRoute: ChangeRoute;
}

/** The commands of the page. Each shows its result as a notice. */
export function commandsOf(context: InboxCommandContext) {
  const { api, setup, shown, selectedId, replayUrl, setNotice, changeRoute } = context;
  const report = (ended: Promise<unknown>, done: string, failed: string): void => {
    const notice = ended.then(
      () => done,
      (error: unknown) => `${failed}: ${messageOf(error)}`,
    );
    void notice.then(setNotice);
  };
  return {
    /** Copies the selected request in one form, such as a curl command or a link. */
    copy: (what: CopiedForm): void => {
      if (selectedId === undefined) return;
      const pageUrl = location.origin + location.pathname;
      const request = { api, id: selectedId, url: replayUrl, pageUrl, setup };
      report(copiedText(what, request).then(copyText), `Copied as ${what}`, 'Not copied');
    },
    copyText: (text: string, what: string): void =>
      report(copyText(text), `Copied the ${what}`, 'Not copied'),
    /** Saves the captures of the shown requests as a file. */
    exportShown: (): void => {
      report(exportCaptures(api, shown), `Exported ${requestsText(shown.length)}`, 'Not exported');
    },
    clear: (): void => {
      const cleared = api
        .clear()
        .then(() => changeRoute(() => ({ selectedId: undefined, markedId: undefined })));
      report(cleared, 'Cleared', 'Not cleared');
    },
  };
}

async function exportCaptures(api: Api, shown: readonly RequestSummary[]): Promise<void> {
  const ids = shown.map(({ id }) => id).toReversed();
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-');
  saveFile(await api.exported(ids), `captures-${time}.ndjson`);
}

/** Copies a text to the clipboard. Rejects with the reason if the browser does not allow it. */
async function copyText(text: string): Promise<void> {
  // Browsers have a clipboard API only for pages over https or from this machine.
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  // `execCommand` is deprecated, but the only way to copy in an insecure context.
  const isCopied = document.execCommand('copy');
  field.remove();
  if (!isCopied) throw new Error('the browser does not let the page copy');
}

/** Saves a file as a download. */
function saveFile(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Waits until the browser has started the download.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
