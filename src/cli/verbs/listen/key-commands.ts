import { createForwarding, type Forwarding } from '../../../app/forwarding.ts';
import { curlCommand, shownHeader, shownUrl } from '../../../capture/curl-command.ts';
import { capturedBody } from '../../../capture/to-capture.ts';
import { HooksError } from '../../../errors.ts';
import type { ReceivedRequest } from '../../../receiver/received-request.ts';
import { endToEndHeaders } from '../../../receiver/response/forwarding.ts';
import { printable } from '../../../redact.ts';
import { truncateText } from '../../fit-text.ts';
import type { Io } from '../../io.ts';
import { forwardedText } from '../../print/received/received-line.ts';
import type { ListenOutput } from './output.ts';
import { TerminalKeys } from './terminal-keys.ts';

interface KeyContext {
  readonly io: Io;
  readonly display: ListenOutput;
  /** URL of the receiver of `hooks listen`. */
  readonly url: string;
  readonly forwarding: Forwarding | undefined;
  readonly secrets: readonly string[];
}

const HELP = 'Keys: c copies the last request as curl, r sends it again, / filters, q stops';
/** Maximum number of keys in one read. More are pasted text, not pressed keys. */
const PRESSED_AT_ONCE = 4;
const CLEAR_LINE = '\r\u001b[K';

/** The key commands of `hooks listen` on a terminal: copy, replay, filter and quit. */
export class KeyCommands {
  readonly #context: KeyContext;
  readonly #quitting = new AbortController();
  readonly #keys: TerminalKeys | undefined;
  /** The filter that the user is typing. Undefined if the user types none. */
  #typed: string | undefined;
  #isReplaying = false;

  constructor(context: KeyContext) {
    this.#context = context;
    this.#keys = TerminalKeys.open(context.io, this.#input, () => context.display.remark(HELP));
  }

  /** Aborted by the key `q`, which ends `hooks listen`. */
  get quitting(): AbortSignal {
    return this.#quitting.signal;
  }

  close(): void {
    this.#erase();
    this.#typed = undefined;
    this.#keys?.close();
  }

  /** Writes lines above the filter that is being typed. */
  above(write: () => void): void {
    this.#erase();
    write();
    this.#draw();
  }

  /** Handles the keys of one read, which are several if typed quickly. */
  #input = (text: string): void => {
    let rest = text;
    while (rest !== '' && !this.#quitting.signal.aborted) {
      const isTyping = this.#typed !== undefined;
      // Ignores pasted text.
      if (!isTyping && rest.length > PRESSED_AT_ONCE) return;
      const [next = ''] = (isTyping ? /^\P{Cc}+|^[^]/u : /^[^]/u).exec(rest) ?? [];
      rest = rest.slice(next.length);
      if (isTyping) this.#edit(next);
      else this.#press(next);
    }
  };

  #press(key: string): void {
    switch (key) {
      case 'c':
        return this.#copy();
      case 'r':
        return void this.#replay();
      case '/':
        this.#typed = '';
        return this.#draw();
      case 'q':
      case '\u0004': // Ctrl-D
        return this.#quitting.abort();
      case '\r':
        // Users press Enter to separate earlier requests from later ones.
        return this.#context.io.out('\n');
      default:
        return this.#context.display.remark(HELP);
    }
  }

  #copy(): void {
    const { io, display, url } = this.#context;
    const { last } = display;
    if (last === undefined) return display.remark(NONE_YET);
    const { command, variables } = curlOf(last, url);
    io.verbatim.out(`${command}\n${inClipboard(command, io.env)}`);
    const stand = variables.length === 0 ? '' : `; set ${variables.join(', ')} where you run it`;
    display.remark(`Copied, if the terminal allows it${stand}`);
  }

  async #replay(): Promise<void> {
    const { io, display, url, secrets, forwarding } = this.#context;
    const { last } = display;
    if (last === undefined) return display.remark(NONE_YET);
    if (this.#isReplaying) return undefined;
    this.#isReplaying = true;
    let used = forwarding;
    try {
      used ??= createForwarding({ url: urlOf(last, url), origin: 'r', secrets });
      const response = await used.forward(last, io.signal);
      if (response === undefined) return undefined;
      this.above(() => io.note(forwardedText(response, io.errColor, 'sent again')));
    } catch (error) {
      if (!(error instanceof HooksError)) throw error;
      this.above(() => display.failed(printable(error.message), error.hint));
    } finally {
      if (used !== forwarding) await used?.close();
      this.#isReplaying = false;
    }
  }

  #edit(text: string): void {
    const typed = this.#typed ?? '';
    if (text === '\u001b') return this.#endFilter();
    if (text === '\u007f' || text === '\b') this.#typed = withoutLast(typed);
    else if (text === '\u0015') this.#typed = '';
    else if (text === '\r' || text === '\n') return this.#endFilter(typed);
    else this.#typed = typed + text.replaceAll(/\p{Cc}/gu, '');
    return this.#draw();
  }

  /** Ends the typing of a filter, and applies `typed`. Without `typed`, the user canceled and the filter stays. */
  #endFilter(typed?: string): void {
    this.#erase();
    this.#typed = undefined;
    if (typed !== undefined) this.#context.display.setFilter(typed.trim());
  }

  #draw(): void {
    if (this.#typed === undefined) return;
    const { io } = this.#context;
    const width = (io.stdoutColumns ?? 80) - 'filter: '.length - 1;
    io.flush();
    io.stderr.write(`${CLEAR_LINE}filter: ${truncateText(printable(this.#typed, 10_000), width)}`);
  }

  #erase(): void {
    if (this.#typed !== undefined) this.#context.io.stderr.write(CLEAR_LINE);
  }
}

const NONE_YET = 'No request has been shown yet';

/** Removes the last character as the user sees it, which may be several code points. */
function withoutLast(text: string): string {
  const characters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  return characters.slice(0, -1).join('');
}

/** Returns the URL of this receiver that a request was sent to. */
function urlOf({ path }: ReceivedRequest, url: string): string {
  return path.startsWith('/') ? url + path : url;
}

/** Formats the request as a curl command, and names the variables that replace its secrets. */
function curlOf(request: ReceivedRequest, url: string): { command: string; variables: readonly string[] } {
  const headers = endToEndHeaders(request.rawHeaders).map((pair) =>
    shownHeader(pair, { showSecrets: false }),
  );
  const pieces = shownUrl(urlOf(request, url), { showSecrets: false });
  const body = capturedBody(request.body);
  const command = curlCommand({
    method: request.method,
    url: pieces,
    headers,
    body: 'body' in body ? body.body : { base64: body.bodyBase64 },
    hidesWriteKey: true,
  });
  const named = [...pieces, ...headers].flatMap(({ variable }) => variable ?? []);
  const isKeyHidden = command.includes('"$HOOKS_WRITE_KEY"');
  return { command, variables: [...new Set([...named, ...(isKeyHidden ? ['HOOKS_WRITE_KEY'] : [])])] };
}

/** Maximum characters of base64 in an escape sequence: xterm and others ignore longer sequences. */
const LONGEST_SEQUENCE = 74_000;

/**
 * Returns the OSC 52 sequence that copies a text to the clipboard of the terminal, also over ssh. Other terminals ignore it.
 */
function inClipboard(text: string, { TERM = 'dumb' }: Io['env']): string {
  const base64 = Buffer.from(text).toString('base64');
  const isKnown = TERM !== 'dumb' && TERM !== 'linux' && base64.length <= LONGEST_SEQUENCE;
  return isKnown ? `\u001b]52;c;${base64}\u0007` : '';
}
