import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import { writeInOnePiece } from '../../../files.ts';
import { bareHost, isLoopbackHost, portOf } from '../../../url.ts';
import { createForwarding, type Forwarding } from '../../../app/forwarding.ts';
import { makeCertificate } from '../../../receiver/certificate.ts';
import { expectRequests, type Expectation, type Tally } from '../../../expectation/expectation.ts';
import { startReceiver } from '../../../app/explained.ts';
import { parseScript } from '../../../receiver/response/script.ts';
import { unwritableFile } from '../../../report/output-file.ts';
import { connectionTo } from '../../flags/delivery/ca-file.ts';
import { flagError, rejectConflicts, type FlagRule } from '../../flags/flag-values.ts';
import type { FindViolations } from '../../flags/plan-file.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import { aborted, type Io } from '../../io.ts';
import { ListenOutput } from './output.ts';
import type { KeyCommands } from './key-commands.ts';
import type { ListenOptions } from './options.ts';
import { listeningUrls } from '../../print/listening-urls.ts';
import { receiverChecks, type ReceiverChecks } from '../../flags/signature/receiver-checks.ts';

/** Runs `hooks listen`: receives and shows requests until it is interrupted or the expectation is met or missed. */
export async function listen(options: ListenOptions, io: Io): Promise<ExitCode> {
  rejectConflicts(options, FLAG_RULES);
  const checks = await receiverChecks(options, io);
  const { secrets } = checks;
  const script = options.respond === undefined ? undefined : parseScript(options.respond);
  const forwarding = await forwardingOf(options, secrets, io);
  const violations = options.plan === undefined ? undefined : await loadPlan(options.plan, io);
  const display = new ListenOutput(options, io, violations);
  const expectation = expectationOf(options, secrets);
  try {
    await receive({ options, io, checks, script, forwarding, violations, display, expectation });
  } finally {
    expectation.close();
    await forwarding?.close();
  }
  return conclude(expectation, display, io);
}

/** Loads the plan of --plan, and the code for plans only then. Throws InputError for a plan that cannot be used. */
async function loadPlan(path: string, io: Io): Promise<FindViolations> {
  const { planFlag } = await import('../../flags/plan-file.ts');
  return planFlag(path, io);
}

const FLAG_RULES: readonly FlagRule[] = [
  { flag: '--ca', needs: '--forward', hint: 'add --forward URL' },
  { flag: '--cert-out', needs: '--self-signed', hint: 'add --self-signed' },
];

interface Session {
  readonly options: ListenOptions;
  readonly io: Io;
  readonly checks: ReceiverChecks;
  readonly script: ReturnType<typeof parseScript> | undefined;
  readonly forwarding: Forwarding | undefined;
  readonly violations: FindViolations | undefined;
  readonly display: ListenOutput;
  readonly expectation: Expectation;
}

async function receive(session: Session): Promise<void> {
  const { options, io, checks, script, forwarding, violations, display, expectation } = session;
  const { secrets, scheme: schemes } = checks;
  const certificate = options.selfSigned ? makeCertificate(options.host, Date.now()) : undefined;
  if (certificate !== undefined && options.certOut !== undefined) {
    writeCertificate(certificate.cert, options.certOut, io);
  }
  const context = { secrets, schemes, forwarding, violations };
  // Loads the inbox only for --ui.
  const inbox = options.ui
    ? await (await import('./open-inbox.ts')).openInbox(options, context, io)
    : undefined;
  let keys: KeyCommands | undefined;
  const receiver = await startReceiver({
    host: options.host,
    port: options.port,
    certificate,
    ...checks,
    script,
    requireSignature: options.requireSignature ?? false,
    forward: forwarding?.forward,
    serveOwn: inbox?.serve,
    onRequest: (request) => {
      const show = (): void => display.show(request);
      if (keys === undefined) show();
      else keys.above(show);
      inbox?.add(request);
      expectation.add(request);
    },
    drained: io.drained,
    onBusy: (isBusy) => expectation.busy(isBusy),
    onRefused: (rejection) => display.rejected(rejection),
  });
  const { url } = receiver;
  // Opens the inbox first, which gives it the URL of the receiver: `printedUrl` below contains that URL.
  const inboxUrl = inbox?.open(receiver);
  display.ready({
    url,
    urls: listeningUrls(url, options.host),
    hasSecret: secrets.length > 0,
    schemes,
    certificate,
    forwardUrl: forwarding?.shownUrl,
    inboxUrl,
    inboxUrlWithToken: inbox?.printedUrl,
  });
  if (takesKeys(options, io)) {
    const { KeyCommands: Keys } = await import('./key-commands.ts');
    keys = new Keys({ io, display, url, forwarding, secrets });
  }
  try {
    await aborted(AbortSignal.any([io.signal, expectation.over, ...(keys ? [keys.quitting] : [])]));
  } finally {
    keys?.close();
  }
  inbox?.close();
  // Closing the receiver reports the requests that it holds, so the caller judges the expectation afterwards.
  await receiver.close();
}

/** Whether to read keys from the terminal. Not after a secret was typed, because reading the secret has ended stdin. */
function takesKeys({ output, secretFile = [] }: ListenOptions, { stdin, stdoutIsTty }: Io): boolean {
  const isTyped = secretFile.some((flag) => 'file' in flag && flag.file === '-');
  return output === 'text' && stdoutIsTty && stdin.isTTY === true && !isTyped;
}

/** Writes the certificate before the receiver is ready, because senders may wait for that moment. Throws InputError. */
function writeCertificate(cert: string, file: string, { cwd }: Io): void {
  try {
    writeInOnePiece(resolve(cwd, file), cert, { isReplaced: true, mode: 0o644 });
  } catch (cause) {
    throw unwritableFile(file, cause, resolve(cwd, file));
  }
}

async function forwardingOf(
  options: ListenOptions,
  secrets: readonly string[],
  io: Io,
): Promise<Forwarding | undefined> {
  const { forward, host, port } = options;
  if (forward === undefined) return undefined;
  const connection = await connectionTo(forward, options, io);
  const given = { url: forward, origin: '--forward', secrets, connection, proxyEnv: io.env };
  const forwarding = createForwarding(given);
  const target = new URL(forward.trim());
  if (Number(portOf(target)) !== port || !(await leadsHere(target, host))) return forwarding;
  const sentence = 'Expected the URL of another receiver, got that of this one (--forward)';
  const hint = 'choose another --port for this receiver: every request would be forwarded in a loop';
  throw flagError('--forward', sentence, hint);
}

/** Addresses of all interfaces. The last one is the IPv6 form of the first. */
const WILDCARDS = ['0.0.0.0', '::', '::ffff:0:0'];

/**
 * Whether a URL leads to this receiver, by name or by the addresses of the name. `URL` normalizes names to lower case and
 * addresses to their shortest form.
 */
async function leadsHere(url: URL, listensOn: string): Promise<boolean> {
  const host = bareHost(url).replace(/\.$/, '');
  if (isLoopbackHost(host) || WILDCARDS.includes(host) || host === listensOn.toLowerCase()) return true;
  const ours = await listeningAddresses(listensOn);
  return (await addressesOf(host)).some((address) => isLoopbackHost(address) || ours.includes(address));
}

async function listeningAddresses(listensOn: string): Promise<readonly string[]> {
  if (!WILDCARDS.includes(listensOn)) return addressesOf(listensOn);
  return Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address));
}

/** Returns the addresses of a name, with IPv4 addresses in their IPv4 form. Empty if the lookup fails. */
async function addressesOf(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map(({ address }) => address.replace(/^::ffff:(?=\d+\.)/, ''));
}

function expectationOf({ count, untilIdle, within }: ListenOptions, secrets: readonly string[]): Expectation {
  const signed = secrets.length > 0;
  return expectRequests({ count, untilIdleMs: untilIdle, withinMs: within, signed });
}

function conclude(expectation: Expectation, display: ListenOutput, io: Io): ExitCode {
  const { tally, over, isPlain } = expectation;
  const { hidden, unplanned } = display;
  const unshown = hidden === 0 ? '' : `; ${hidden} hidden by the filter`;
  const violating = `; ${unplanned === 1 ? '1 message violates' : `${unplanned} messages violate`} the plan`;
  display.remark(`Stopped after ${expectation.described}${unshown}${unplanned === 0 ? '' : violating}`);
  const saved = display.unsaved === 0 ? ExitCode.ok : ExitCode.negative;
  if (isPlain) return saved;
  const missing = expectation.missing();
  if (over.aborted && missing === undefined) return saved;
  if (io.signal.reason === 'closed-pipe') return ExitCode.negative;
  if (missing !== undefined) display.failed(missing, missingHint(tally, display.rejections));
  return over.aborted ? ExitCode.negative : (interruptedCode(io) ?? ExitCode.negative);
}

function missingHint({ requests, counted }: Tally, rejections: number): string {
  if (requests === 0 && rejections > 0) return 'look at the lines above for the cause of each rejection';
  if (requests === 0) return 'post to the URL above before the time is over; --within 5m waits longer';
  if (requests === counted) return 'send more requests, or wait longer: all requests were good, but too few';
  return 'look at the lines above for the problem of each request';
}
