import { comparedReceiver } from '../../../../app/compare/compared-receiver.ts';
import { systemClock } from '../../../../clock.ts';
import { InputError } from '../../../../errors.ts';
import { readIgnoredPaths } from '../../../../replay/compare/ignored-paths.ts';
import { printable } from '../../../../redact.ts';
import { ExpectedTotal } from '../../../../replay/expected-total.ts';
import { createPace } from '../../../../replay/pace.ts';
import { expandInputs } from '../../../../replay/reading/expand-inputs.ts';
import { openInputs, STDIN } from '../../../../replay/reading/inputs.ts';
import { assertFormats, nothingToRead } from '../../../../replay/reading/read-entries.ts';
import { ReplaySelection } from '../../../../replay/selection.ts';
import { ExitCode, interruptedCode } from '../../../exit-code.ts';
import { RecordedHeaders } from '../../../flags/delivery/recorded-headers.ts';
import { commandSettings } from '../../../flags/delivery/settings.ts';
import { resolveWhereTo } from '../../../flags/delivery/where-to.ts';
import { askForPublicHosts } from '../../../flags/public-host.ts';
import { remarkOnSigning } from '../../../flags/signature/unsigned-note.ts';
import type { Io } from '../../../io.ts';
import type { Reports } from '../../../print/reports.ts';
import { claimStdin } from '../../../stdin.ts';
import { planOf } from '../options.ts';
import { noteEach, readyOptionsOf } from '../replay.ts';
import { CompareOutput } from './output.ts';
import { newReceiverOf, oldReceiverOf, type CompareOptions } from './options.ts';
import { ReceiverComparison } from './receiver-comparison.ts';
import { StateComparison } from './state-comparison.ts';

/** Runs `hooks replay --compare`: sends each message to two receivers, and reports how the receivers differ. */
export async function compareReceivers(
  patterns: readonly string[],
  options: CompareOptions,
  { io, reports }: { readonly io: Io; readonly reports: Reports },
): Promise<ExitCode> {
  const plan = planOf(options);
  const matched = new Set<string>();
  const ignores = readIgnoredPaths(options.ignore ?? [], matched);
  const files = await expandInputs(patterns, io.cwd);
  const stdin = files.includes(STDIN) ? claimStdin(io, 'the input -') : io.stdin;
  const inputs = await openInputs(files, { cwd: io.cwd, stdin });
  if (options.exact) await assertFormats(inputs, options);
  const readyOptions = await readyOptionsOf(options, io);
  const settings = await commandSettings(options, io);
  const to = await resolveWhereTo(options, settings, io);
  const { name, destination } = newReceiverOf(to);
  const recorded = new RecordedHeaders(settings.ownSchemes);
  const destinations = { new: destination, old: oldReceiverOf(destination, options.compare) };
  const targets = Object.values(destinations).flatMap(({ webhooks }) => webhooks.map(({ url }) => url));
  const shared = { urls: targets, proxyEnv: io.env, signal: io.signal, headersOfBody: recorded.of };
  const receivers = {
    new: comparedReceiver({ ...shared, destination: destinations.new }),
    old: comparedReceiver({ ...shared, destination: destinations.old }),
  };
  if (receivers.old.url === receivers.new.url) io.note(SAME_URL);
  remarkOnSigning(to, options, { settings, io });
  const urls = [receivers.old.url, receivers.new.url];
  const declined = await askForPublicHosts({ urls, yes: options.yes ?? false, text: questionFor }, io);
  if (declined !== undefined) return declined;
  const expected = new ExpectedTotal(inputs);
  const output = await CompareOutput.open({ options, receivers, expected, reports, io });
  const comparison = new ReceiverComparison({
    inputs,
    receivers,
    ignores,
    options,
    destination: { name, concurrency: destination.delivery.concurrency },
    readyOptions,
    selection: new ReplaySelection(plan.selection),
    pace: createPace({ clock: systemClock, ...plan }),
    recorded,
    states: StateComparison.of(options, receivers, io),
    output,
    expected,
    signal: io.signal,
  });
  try {
    const result = await comparison.run();
    if (result === undefined && !io.signal.aborted) throw nothingToRead(inputs);
    if (result?.compared === 0 && result.invalid === 0 && !io.signal.aborted) throw nothingCompared();
    if (result !== undefined) noteUnmatched(options, matched, io);
    noteEach(options.quiet ? [] : recorded.remarks(to), (line) => io.note(line));
    const isSame = result === undefined || (await output.finish(result));
    return interruptedCode(io) ?? (isSame ? ExitCode.ok : ExitCode.negative);
  } finally {
    output.stop();
    await Promise.all([receivers.old.close(), receivers.new.close()]);
  }
}

const SAME_URL = 'note: --url and --compare are the same URL, so the receiver is compared with itself';

function noteUnmatched({ ignore = [] }: CompareOptions, matched: ReadonlySet<string>, io: Io): void {
  const paths = ignore.filter((path) => !matched.has(path)).map((path) => `\`${printable(path, 60)}\``);
  if (paths.length > 0) io.note(`note: no response has ${paths.join(', ')} of --ignore`);
}

function nothingCompared(): InputError {
  return new InputError('Nothing was compared: no message is left to send', {
    hint: 'check --filter, --offset and the `integrations` of the messages',
  });
}

function questionFor(hosts: string): string {
  return `Send every message to ${hosts}, a public host?`;
}
