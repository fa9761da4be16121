import { resolve } from 'node:path';
import { ConfigError, HooksError } from '../../../errors.ts';
import { isLinear } from '../../../message/bounded-regexp.ts';
import { readConditions, readFilter, type MessageFilter } from '../../../message/filter.ts';
import { CaptureFolder } from '../../../receiver/capture-folder.ts';
import type { SelfSignedCertificate } from '../../../receiver/certificate.ts';
import { messagesOf } from '../../../receiver/messages/messages-of.ts';
import { wholeMessage } from '../../../receiver/messages/tracking-call.ts';
import type { ConnectionRejection } from '../../../receiver/options.ts';
import type { ReceivedRequest } from '../../../receiver/received-request.ts';
import { printable, withoutWriteKeys } from '../../../redact.ts';
import { DEFAULT_SCHEMES } from '../../../signature/schemes/find-schemes.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
import type { Io } from '../../io.ts';
import { noteError } from '../../error-text.ts';
import { listeningText } from '../../print/listening-urls.ts';
import { jsonLine } from '../../json-line.ts';
import { receivedRow } from '../../print/received-line.ts';
import type { ListenOptions } from './options.ts';

/** What the first lines say when the receiver is ready. */
export interface ListenReady {
  readonly url: string;
  /** A URL for each address, when it listens on every interface. */
  readonly urls?: readonly string[] | undefined;
  readonly hasSecret: boolean;
  /** The signature schemes that are named. */
  readonly schemes?: readonly SignatureScheme[] | undefined;
  readonly certificate?: SelfSignedCertificate | undefined;
  readonly forwardUrl?: string | undefined;
  readonly inboxUrl?: string | undefined;
  /** The URL of the page that may act and shows the right signatures, for the terminal. */
  readonly inboxUrlWithToken?: string | undefined;
}

/** Prints what `hooks listen` receives, and saves it with --save. */
export class ListenOutput {
  readonly #options: ListenOptions;
  readonly #io: Io;
  readonly #folder: CaptureFolder | undefined;
  /** Undefined: every request is shown, also one without a message. */
  #filter: MessageFilter | undefined;
  /** Requests that the filter hid. */
  hidden = 0;
  /** Connections on which no request came. */
  rejections = 0;
  /** Requests that could not be saved. */
  unsaved = 0;
  last: ReceivedRequest | undefined;

  constructor(options: ListenOptions, io: Io) {
    this.#options = options;
    this.#io = io;
    this.#filter = options.filter && readLiveFilter(options.filter);
    this.#folder = options.save === undefined ? undefined : new CaptureFolder(resolve(io.cwd, options.save));
  }

  ready({ url, urls, certificate, forwardUrl, inboxUrl, inboxUrlWithToken, ...checks }: ListenReady): void {
    const { hasSecret } = checks;
    const { bold } = this.#io.color;
    if (this.#options.output === 'json') {
      this.#io.out(jsonLine({ ready: true, url, urls, inbox: inboxUrl, certificate: certificate?.cert }));
    } else {
      this.#io.out(listeningText('Listening on', { url, urls }, bold));
      if (inboxUrlWithToken !== undefined) this.#io.out(`Inbox at     ${bold(inboxUrlWithToken)}\n`);
    }
    if (forwardUrl !== undefined) this.remark(`Forwarding to ${printable(forwardUrl)}`);
    if (certificate !== undefined) this.remark(`Self-signed certificate, SHA-256 ${certificate.fingerprint}`);
    if (!hasSecret) this.remark('Signatures are not checked: no secret given (--secret, HOOKS_SECRET)');
    if (this.#options.output !== 'text') return;
    const { certOut } = this.#options;
    if (certificate === undefined || certOut !== undefined) {
      const command = this.#nextCommand(url, checks);
      this.remark(`Try: ${command}`);
      if (/cat\)|-file -$/.test(command)) this.remark(TYPE_THE_SECRET);
    }
    // hooks' own senders reject the certificate, and curl cannot sign.
    else if (!hasSecret) this.remark(`Try: curl -k -d '{}' ${url}`);
  }

  show(request: ReceivedRequest): void {
    const { output, verbose: withBody = false } = this.#options;
    const file = this.#save(request);
    if (!this.#isShown(request)) {
      this.hidden += 1;
      return;
    }
    this.last = request;
    this.#io.out(receivedRow(request, { output, file, withBody, screen: this.#io }));
  }

  /** Filters what comes from now on, in place of `--filter`; with an empty text everything is shown. */
  setFilter(text: string): void {
    try {
      this.#filter = text === '' ? undefined : readLiveFilter([text]);
      this.remark(
        text === ''
          ? 'Showing every request'
          : `Showing requests with a message of ${printable(withoutWriteKeys(text))}`,
      );
    } catch (error) {
      if (!(error instanceof HooksError)) throw error;
      this.failed(error.message, error.hint);
    }
  }

  #isShown(request: ReceivedRequest): boolean {
    const filter = this.#filter;
    return filter === undefined || messagesOf(request).some((message) => filter(wholeMessage(message)));
  }

  rejected({ status, reason }: ConnectionRejection): void {
    this.rejections += 1;
    this.remark(`Rejected${status === undefined ? '' : ` with ${status}`}: ${printable(reason)}`);
  }

  failed(message: string, hint: string | undefined): void {
    noteError(this.#io, message, hint);
  }

  /** Prints a line that `-q` leaves out. */
  remark(line: string): void {
    if (this.#options.quiet !== true) this.#io.note(this.#io.errColor.dim(line));
  }

  /** A request that cannot be saved is shown nevertheless; the exit code says so. */
  #save(request: ReceivedRequest): string | undefined {
    try {
      return this.#folder?.save(request);
    } catch (error) {
      if (!(error instanceof HooksError)) throw error;
      this.unsaved += 1;
      this.failed(error.message, error.hint);
      return undefined;
    }
  }

  /** A command that works in another terminal, in any folder: the secret that it needs is never shown, so a person types it there. */
  #nextCommand(url: string, { hasSecret, schemes }: Pick<ListenReady, 'hasSecret' | 'schemes'>): string {
    const { certOut, secret, secretFile, config } = this.#options;
    const { cwd, env } = this.#io;
    const issuer = certOut === undefined ? '' : ` --ca ${quotedPath(resolve(cwd, certOut))}`;
    const plain = `hooks send track --event Signup --url ${url}${issuer}`;
    if (!hasSecret) return plain;
    const scheme = schemeFlag(schemes);
    const own =
      scheme === '' || typeof config !== 'string' ? '' : ` --config ${quotedPath(resolve(cwd, config))}`;
    const send = plain + scheme + own;
    const flags = secret ?? secretFile ?? [];
    const files = flags.flatMap((flag) => ('file' in flag && flag.file !== '-' ? [flag.file] : []));
    if (files.length > 0 && files.length === flags.length) {
      return [send, ...files.map((file) => `--secret-file ${quotedPath(resolve(cwd, file))}`)].join(' ');
    }
    // Takes the variable where it is set, and asks for it where it is not.
    if (flags.length === 0 && env['HOOKS_SECRET']) return `HOOKS_SECRET="\${HOOKS_SECRET:-$(cat)}" ${send}`;
    return `${send} --secret-file -`;
  }
}

const TYPE_THE_SECRET = '     (where it waits, type the secret, Enter and Ctrl-D)';

/** One of the schemes is enough, and takes one secret; none is named where it is the default. */
function schemeFlag([first]: readonly SignatureScheme[] = []): string {
  return first === undefined || DEFAULT_SCHEMES.includes(first) ? '' : ` --scheme ${first.name}`;
}

/** A path as a POSIX shell reads it. */
function quotedPath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${printable(path).replaceAll("'", "'\\''")}'`;
}

/** Reads a filter of requests whose senders wait for it. Throws ConfigError for a regular expression that may take long. */
function readLiveFilter(flags: readonly string[]): MessageFilter {
  const conditions = flags.flatMap((flag) => readConditions(flag));
  const slow = conditions.find(({ operator, value }) => operator === '~' && !isLinear(value));
  if (slow === undefined) return readFilter(flags);
  const expected = 'Expected a regular expression that takes linear time in `--filter`';
  throw new ConfigError(`${expected}, got ${printable(slow.value, 60)}`, {
    key: 'filter',
    origin: '--filter',
    hint: 'write it without look-around, back references, counts over 20 and Unicode properties',
  });
}
