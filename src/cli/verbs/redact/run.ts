import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { dirname, relative, resolve } from 'node:path';
import { CaptureFolder } from '../../../capture/capture-folder.ts';
import { captureName } from '../../../capture/capture-name.ts';
import { RequestRejection, type Imported, type ImportedRequest } from '../../../capture/import/imported.ts';
import { Pseudonyms } from '../../../capture/redact/pseudonyms.ts';
import { redactJson } from '../../../capture/redact/redact-body.ts';
import { contentDigest, redactRequest } from '../../../capture/redact/redact-request.ts';
import type { RedactionRules } from '../../../capture/redact/redacted-field.ts';
import { Redaction } from '../../../capture/redact/redaction.ts';
import { RedactionTally } from '../../../capture/redact/redaction-tally.ts';
import { systemClock } from '../../../clock.ts';
import { pathPattern } from '../../../message/path-pattern.ts';
import { formatCount } from '../../../message/limits.ts';
import { isJson } from '../../../message/json/read-json.ts';
import { expandInputs } from '../../../replay/reading/expand-inputs.ts';
import { openInputs, STDIN } from '../../../replay/reading/inputs.ts';
import type { ReplayEntry } from '../../../replay/reading/replay-entry.ts';
import { openReplacing, type ReplacingFile } from '../../../report/replacing-file.ts';
import { printable } from '../../../redact.ts';
import { interruptedCode, type ExitCode } from '../../exit-code.ts';
import { flagError } from '../../flags/flag-values.ts';
import { detectableSchemes } from '../../flags/signature/scheme-flags.ts';
import { readSecretFlags } from '../../flags/signature/secret-flags.ts';
import type { Io } from '../../io.ts';
import { claimStdin } from '../../stdin.ts';
import { RedactOutput } from './output.ts';
import { redactedInput } from './redacted-inputs.ts';
import type { RedactFlags } from './redact-flags.ts';
import { redactionKey } from './redaction-key.ts';

/** Runs `hooks redact`: writes each request or message again, with pseudonyms in place of personal data. */
export async function redactFiles(
  patterns: readonly string[],
  flags: RedactFlags,
  io: Io,
): Promise<ExitCode> {
  const { to, check = false } = flags;
  if ((to === undefined) !== check) throw wrongTarget(check);
  const files = await expandInputs(patterns, io.cwd);
  if (to !== undefined) rejectSameFolder(files, to, io.cwd);
  const stdin = files.includes(STDIN) ? claimStdin(io, 'the input -') : io.stdin;
  const inputs = await openInputs(files, { cwd: io.cwd, stdin });
  // A check needs no stable pseudonyms, and makes no file.
  const key = check && flags.keyFile === undefined ? randomBytes(32) : await redactionKey(flags, io);
  const [keep, drop] = [redactedPaths(flags.keep), redactedPaths(flags.drop)];
  const rules = { keep: [...keep.values()], drop: [...drop.values()], used: new Set<RegExp>() };
  const run = new RedactRun({
    pseudonyms: new Pseudonyms(key),
    rules,
    signing: {
      secrets: await readSecretFlags(flags, io),
      ownSchemes: await detectableSchemes(flags, io),
      now: systemClock.now(),
    },
    folder: to === undefined ? undefined : new CaptureFolder(resolve(io.cwd, to), '--to'),
    output: new RedactOutput(flags, io),
    io,
  });
  for (const input of inputs) {
    const content = await redactedInput(input, io);
    if (content.kind === 'messages') await run.messages(input.name, content.entries);
    else await run.requests(input.name, content.requests);
    if (io.signal.aborted) break;
  }
  const interrupted = interruptedCode(io);
  if (interrupted !== undefined) return interrupted;
  for (const [path, pattern] of [...keep, ...drop]) {
    if (rules.used.has(pattern)) continue;
    io.note(
      `${keep.has(path) ? '--keep' : '--drop'} ${printable(path, 60)} matched nothing: paths are as in filters, such as traits.plan or **.email`,
    );
  }
  return run.finish();
}

/** Reads the paths of --keep or --drop. `$.items[*].sku` is `items.*.sku`, as in --ignore. */
function redactedPaths(paths: readonly string[] = []): ReadonlyMap<string, RegExp> {
  return new Map(
    paths.map((path) => [path, pathPattern(path.replace(/^\$\.?/, '').replaceAll(/\[(\*|\d+)\]/g, '.$1'))]),
  );
}

interface RedactRunContext {
  readonly pseudonyms: Pseudonyms;
  readonly rules: RedactionRules;
  readonly signing: Parameters<typeof redactRequest>[2];
  /** Undefined for a check. */
  readonly folder: CaptureFolder | undefined;
  readonly output: RedactOutput;
  readonly io: Io;
}

class RedactRun {
  readonly #context: RedactRunContext;

  constructor(context: RedactRunContext) {
    this.#context = context;
  }

  readonly finish = (): ExitCode => this.#context.output.finish();

  async requests(file: string, found: AsyncIterable<Imported>): Promise<void> {
    const { output, io } = this.#context;
    let number = 0;
    for await (const each of found) {
      if (io.signal.aborted) return;
      number++;
      if (each.kind === 'request') this.#request(file, each.request, number);
      else if (each.kind === 'rejected') this.#reject(file, each.what, each.reason);
      else output.skip();
    }
    if (number > 0 || io.signal.aborted) return;
    output.reject(file, 'the file', 'it has no requests and no messages');
  }

  /** Writes the messages of a file to one file of NDJSON, a line each. */
  async messages(file: string, entries: AsyncIterable<readonly ReplayEntry[]>): Promise<void> {
    const { folder, output, io } = this.#context;
    const path = folder?.nextFile('messages.ndjson');
    const target = path === undefined ? undefined : await openReplacing(path);
    const tally = new RedactionTally();
    let count = 0;
    try {
      for await (const list of entries) {
        for (const entry of list) count += await this.#message(entry, tally, target);
      }
    } catch (error) {
      await target?.abandon();
      if (!io.signal.aborted) throw error;
    }
    if (io.signal.aborted || count === 0) await target?.abandon();
    else await target?.commit(() => Promise.resolve());
    if (count === 0) return;
    const what = count === 1 ? '1 message' : `${formatCount(count)} messages`;
    output.add({ file, saved: this.#shown(path), what, tally });
  }

  /** Redacts one message. Returns the number of messages that were written: 1, or 0 if it is rejected. */
  async #message(
    entry: ReplayEntry,
    tally: RedactionTally,
    target: ReplacingFile | undefined,
  ): Promise<number> {
    const { file, line } = entry.origin;
    const redaction = this.#redaction();
    try {
      if (entry.kind === 'broken') throw new RequestRejection(entry.error.message);
      const text = isUtf8(entry.bytes) ? Buffer.from(entry.bytes).toString() : '';
      if (!isJson(text)) throw new RequestRejection('it is not JSON');
      const redacted = redactJson(text, redaction);
      // A line break in JSON is only between its values.
      await target?.file.add(Buffer.from(`${redacted.replaceAll(/\s*[\r\n]\s*/g, ' ')}\n`));
      tally.add(redaction.tally);
      return 1;
    } catch (error) {
      if (!(error instanceof RequestRejection)) throw error;
      this.#reject(file, `line ${line}`, error.message);
      return 0;
    }
  }

  #request(file: string, request: ImportedRequest, number: number): void {
    const { folder, output, signing } = this.#context;
    const redaction = this.#redaction();
    try {
      const isRedacted = folder === undefined && request.redacted === contentDigest(request);
      const redacted = isRedacted ? request : redactRequest(request, redaction, signing);
      // The output has no other members, but a file that is checked has them.
      if (folder === undefined && request.others !== undefined) redactJson(request.others, redaction);
      const saved = folder?.save({ ...redacted, redacted: contentDigest(redacted) }, captureName(redacted));
      const { method, url, body } = redacted;
      output.add({
        file,
        saved: this.#shown(saved),
        what: `${method} ${url}`,
        bytes: body.length,
        tally: redaction.tally,
      });
    } catch (error) {
      if (!(error instanceof RequestRejection)) throw error;
      this.#reject(file, `request ${number} (${request.method} ${request.url})`, error.message);
    }
  }

  /** Rejects a request. Its URL and the reason can have personal data. */
  #reject(file: string, what: string, reason: string): void {
    const { output } = this.#context;
    try {
      const redaction = this.#redaction();
      const shown = what.replace(/\S*[/?]\S*?(?=\)?$)/, (url) => redaction.url(url));
      output.reject(file, shown, redaction.text(reason));
    } catch (error) {
      if (!(error instanceof RequestRejection)) throw error;
      output.reject(file, 'a request', error.message);
    }
  }

  #redaction(): Redaction {
    return new Redaction(this.#context.pseudonyms, this.#context.rules);
  }

  #shown(path: string | undefined): string | undefined {
    const shorter = path === undefined ? undefined : relative(this.#context.io.cwd, path);
    return shorter?.startsWith('..') ? path : shorter;
  }
}

function wrongTarget(isCheck: boolean): Error {
  return isCheck
    ? flagError(
        '--check',
        '`--check` and `--to` cannot be given together',
        'leave out --to: a check writes nothing',
      )
    : flagError(
        '--to',
        'Expected `--to` to name the folder of the redacted requests, got none',
        'add --to FOLDER, or --check to only look',
      );
}

/** Rejects a folder that has an input, because the redacted captures would look like the others. */
function rejectSameFolder(files: readonly string[], to: string, cwd: string): void {
  const same = files.find((file) => file !== STDIN && dirname(resolve(cwd, file)) === resolve(cwd, to));
  if (same === undefined) return;
  throw flagError(
    '--to',
    `Expected \`--to\` to be another folder than that of ${same}`,
    'name a new folder; a missing folder is created',
  );
}
