import { join, relative, resolve } from 'node:path';
import { CaptureFolder } from '../../../capture/capture-folder.ts';
import { captureName } from '../../../capture/capture-name.ts';
import { HarNotes } from '../../../capture/import/har-notes.ts';
import type { Imported, ImportedRequest } from '../../../capture/import/imported.ts';
import { InputError } from '../../../errors.ts';
import { formatCount } from '../../../message/limits.ts';
import { printable, redactUrl } from '../../../redact.ts';
import { expandInputs } from '../../../replay/reading/expand-inputs.ts';
import { openInputs, STDIN } from '../../../replay/reading/inputs.ts';
import type { GlobalOptions } from '../../command.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import { importedRequests } from '../../flags/imported-requests.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { claimStdin } from '../../stdin.ts';

/** The options of `hooks import`. */
export interface ImportFlags extends GlobalOptions {
  /** Folder of the captures. */
  readonly to: string;
}

/** Runs `hooks import`: writes a capture for each request with a body. */
export async function importFiles(
  patterns: readonly string[],
  options: ImportFlags,
  io: Io,
): Promise<ExitCode> {
  const files = await expandInputs(patterns, io.cwd);
  const stdin = files.includes(STDIN) ? claimStdin(io, 'the input -') : io.stdin;
  const inputs = await openInputs(files, { cwd: io.cwd, stdin });
  const notes = new HarNotes();
  const output = new ImportOutput(new CaptureFolder(resolve(io.cwd, options.to), '--to'), options, io);
  for (const input of inputs) {
    let number = 0;
    try {
      for await (const found of importedRequests(input, io, {
        onSanitized: () => notes.sanitize(input.name),
      })) {
        if (io.signal.aborted) break;
        output.add(input.name, found, ++number);
      }
    } catch (error) {
      // The only file is the error of the command; one of several does not keep the others from being read.
      if (!(error instanceof InputError) || inputs.length === 1) throw error;
      output.add(input.name, { kind: 'rejected', what: 'the file', reason: error.message }, number);
    }
  }
  if (notes.sanitized !== undefined && !options.quiet) io.note(`note: ${notes.sanitized}`);
  return interruptedCode(io) ?? output.finish();
}

/** Prints what became of each request, and writes the captures. */
class ImportOutput {
  readonly #folder: CaptureFolder;
  readonly #options: ImportFlags;
  readonly #io: Io;
  #saved = 0;
  #rejected = 0;
  #skipped = 0;

  constructor(folder: CaptureFolder, options: ImportFlags, io: Io) {
    this.#folder = folder;
    this.#options = options;
    this.#io = io;
  }

  /** Adds a request of a file. `number` counts the requests of the file from 1. */
  add(name: string, found: Imported, number: number): void {
    if (found.kind === 'skipped') this.#skipped++;
    else if (found.kind === 'rejected') this.#addRejected(name, found, number);
    else this.#save(name, found.request);
  }

  finish(): ExitCode {
    const { quiet, output } = this.#options;
    const [saved, rejected, skipped] = [this.#saved, this.#rejected, this.#skipped];
    if (output === 'json') this.#io.out(jsonLine({ summary: { saved, rejected, skipped } }));
    else if (!quiet) this.#io.out(`${summaryText({ saved, rejected, skipped })}\n`);
    if (rejected > 0) return ExitCode.negative;
    if (saved > 0) return ExitCode.ok;
    throw new InputError('Nothing to import: no file has a request with a body', {
      hint: 'record them with their headers and bodies; hooks replay --exact sends a body alone, such as an event that the Stripe CLI prints',
    });
  }

  #save(name: string, request: ImportedRequest): void {
    this.#saved++;
    const path = this.#folder.save(request, captureName(request));
    const file = join(this.#options.to, relative(resolve(this.#io.cwd, this.#options.to), path));
    const { method, body } = request;
    const url = redactUrl(request.url);
    if (this.#options.output === 'json') {
      this.#io.out(jsonLine({ file: name, saved: file, method, url, bytes: body.length }));
    } else if (!this.#options.quiet) {
      this.#io.out(
        `${printable(file)}  ${printable(`${method} ${url}`, 200)}  ${formatCount(body.length)} bytes\n`,
      );
    }
  }

  #addRejected(
    file: string,
    { what, reason }: Extract<Imported, { kind: 'rejected' }>,
    number: number,
  ): void {
    this.#rejected++;
    // A part of a file has its line already.
    const shown = /^[A-Z]+ /.test(what) ? `request ${number} (${redactUrl(what)})` : what;
    if (this.#options.output === 'json') this.#io.out(jsonLine({ file, rejected: shown, reason }));
    else this.#io.note(`${printable(file)}: ${printable(shown, 200)} is rejected: ${printable(reason, 500)}`);
  }
}

function summaryText({ saved, rejected, skipped }: Readonly<Record<string, number>>): string {
  const counts = [
    `${formatCount(saved ?? 0)} saved`,
    `${formatCount(rejected ?? 0)} rejected`,
    `${formatCount(skipped ?? 0)} without a body skipped`,
  ];
  return counts.filter((count, index) => index === 0 || !count.startsWith('0 ')).join(', ');
}
