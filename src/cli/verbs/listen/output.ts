import { resolve } from 'node:path';
import { CaptureFolder } from '../../../capture/capture-folder.ts';
import { HooksError } from '../../../errors.ts';
import { isLinear } from '../../../message/bounded-regexp.ts';
import { readConditions, readFilter, type MessageFilter } from '../../../message/filter.ts';
import type { SelfSignedCertificate } from '../../../receiver/certificate.ts';
import { messagesOf } from '../../../receiver/messages/messages-of.ts';
import { wholeMessage } from '../../../receiver/messages/tracking-call.ts';
import type { ConnectionRejection } from '../../../receiver/options.ts';
import type { ReceivedRequest } from '../../../receiver/received-request.ts';
import { pairsOf } from '../../../receiver/response/forwarding.ts';
import { printable, withoutWriteKeys } from '../../../redact.ts';
import { DEFAULT_SCHEMES } from '../../../signature/schemes/find-schemes.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
import type { Io } from '../../io.ts';
import { noteError } from '../../error-text.ts';
import { flagError } from '../../flags/flag-values.ts';
import type { FindViolations } from '../../flags/plan-file.ts';
import { listeningText } from '../../print/listening-urls.ts';
import { jsonLine } from '../../json-line.ts';
import { receivedRow, type ReceivedOptions } from '../../print/received/received-line.ts';
import type { ListenOptions } from './options.ts';
import { quotedPath, secretFiles, verifyCommand } from './verify-command.ts';

/** The facts that the first lines print when the receiver is ready. */
interface ListenReady {
  readonly url: string;
  /** URLs of the receiver, one for each address of this machine, if the receiver listens on every interface. */
  readonly urls: readonly string[] | undefined;
  readonly hasSecret: boolean;
  /** The schemes of --scheme or the config. */
  readonly schemes: readonly SignatureScheme[] | undefined;
  readonly certificate: SelfSignedCertificate | undefined;
  readonly forwardUrl: string | undefined;
  readonly inboxUrl: string | undefined;
  /** URL of the inbox page with a token: permits actions and shows expected signatures. Printed on a terminal only. */
  readonly inboxUrlWithToken: string | undefined;
}

/** Prints what `hooks listen` receives, and saves it with --save. */
export class ListenOutput {
  readonly #options: ListenOptions;
  readonly #io: Io;
  readonly #folder: CaptureFolder | undefined;
  readonly #findViolations: FindViolations | undefined;
  /** The filter of the requests to show. Undefined if every request is shown, including requests without a message. */
  #filter: MessageFilter | undefined;
  /** Number of received requests that are not shown because of the filter. */
  hidden = 0;
  /** Number of inputs that the receiver rejected because they were no complete request. */
  rejections = 0;
  /** Number of messages that violate the plan of --plan. */
  unplanned = 0;
  /** Number of requests that could not be saved. */
  unsaved = 0;
  last: ReceivedRequest | undefined;

  /** `findViolations` is that of the plan of --plan. */
  constructor(options: ListenOptions, io: Io, findViolations?: FindViolations) {
    this.#findViolations = findViolations;
    this.#options = options;
    this.#io = io;
    this.#filter = options.filter && readLiveFilter(options.filter);
    const { save } = options;
    this.#folder = save === undefined ? undefined : new CaptureFolder(resolve(io.cwd, save), '--save');
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
      if (command.includes('-file -')) this.remark(TYPE_THE_SECRET);
    }
    // The self-signed certificate was not saved, so commands of hooks reject it. curl can skip the check, but cannot sign.
    else if (!hasSecret) this.remark(`Try: curl -k -d '{}' ${url}`);
  }

  /** Saves and prints a request. */
  show(request: ReceivedRequest): void {
    const { output, verbose: withBody = false } = this.#options;
    const file = this.#save(request);
    const violations = this.#violationsIn(request);
    if (!this.#isShown(request)) {
      this.hidden += 1;
      return;
    }
    this.last = request;
    const further = request.diagnosis?.isCutShort === true ? this.#further(file) : undefined;
    this.#io.out(receivedRow(request, { output, file, further, withBody, screen: this.#io, violations }));
  }

  /** The command that searches longer for the cause of a mismatch than a receiver can. */
  #further(file: string | undefined): string {
    const save = file === undefined ? 'save requests (hooks listen --save FOLDER), then ' : '';
    const command = verifyCommand(file ?? 'FILE', this.#options, this.#io);
    return `${this.#io.named(save)}run ${command}, which searches longer`;
  }

  /** Checks the messages of a request with the plan, also of a hidden one, and counts those that violate it. */
  #violationsIn(request: ReceivedRequest): ReceivedOptions['violations'] {
    const find = this.#findViolations;
    if (find === undefined) return undefined;
    const found = new Map(messagesOf(request).map((message) => [message, find(message.value)]));
    for (const violations of found.values()) if (violations.length > 0) this.unplanned += 1;
    return (message) => found.get(message) ?? [];
  }

  /** Replaces the filter for the following requests. An empty text shows every request. */
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

  /** Saves a request and returns its file. A request that cannot be saved is still shown, and changes the exit code. */
  #save(request: ReceivedRequest): string | undefined {
    try {
      const { path, rawHeaders, ...received } = request;
      return this.#folder?.save({ ...received, url: path, headers: pairsOf(rawHeaders) });
    } catch (error) {
      if (!(error instanceof HooksError)) throw error;
      this.unsaved += 1;
      this.failed(error.message, error.hint);
      return undefined;
    }
  }

  /**
   * Returns a command to send a message from another terminal and any folder. Never contains the secret: the user types it at
   * the prompt of `--secret-file -`, which does not show it.
   */
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
    const files = secretFiles(this.#options, cwd);
    const secretFlags = files?.map((file) => `--secret-file ${quotedPath(file)}`);
    if (secretFlags !== undefined) return [send, ...secretFlags].join(' ');
    // The printed command uses HOOKS_SECRET if it is set in the terminal that runs the command, and asks for it otherwise.
    const isSet = (secret ?? secretFile) === undefined && env['HOOKS_SECRET'];
    return `${send} ${isSet ? '$([ "$HOOKS_SECRET" ] || echo --secret-file -)' : '--secret-file -'}`;
  }
}

const TYPE_THE_SECRET =
  '     (when it asks for the secret, type it and Enter; the terminal does not show it)';

/** Returns `--scheme` for the first scheme: one scheme is enough, and needs only one secret. Empty for a default scheme. */
function schemeFlag([first]: readonly SignatureScheme[] = []): string {
  return first === undefined || DEFAULT_SCHEMES.includes(first) ? '' : ` --scheme ${first.name}`;
}

/** Reads a filter. Throws ConfigError for a regular expression that may take long, because senders wait for the filter. */
function readLiveFilter(flags: readonly string[]): MessageFilter {
  const conditions = flags.flatMap((flag) => readConditions(flag));
  const slow = conditions.find(({ operator, value }) => operator === '~' && !isLinear(value));
  if (slow === undefined) return readFilter(flags);
  const expected = 'Expected a regular expression that takes linear time in `--filter`';
  const hint = 'write it without look-around, back references, counts over 20 and Unicode properties';
  throw flagError('--filter', `${expected}, got ${printable(slow.value, 60)}`, hint);
}
