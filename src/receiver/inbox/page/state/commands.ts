import type { RequestSummary, Setup } from '../../wire.ts';
import { messageOf, type Api } from './api.ts';
import { copyText, saveFile } from './browser.ts';
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

interface CommandContext {
  readonly api: Api;
  readonly setup: Setup;
  readonly shown: readonly RequestSummary[];
  readonly selectedId: number | undefined;
  readonly replayUrl: string;
  readonly setNotice: (notice: string) => void;
  readonly changeRoute: ChangeRoute;
}

export function commandsOf(context: CommandContext): InboxCommands {
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
