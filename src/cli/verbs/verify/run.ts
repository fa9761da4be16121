import { InputError, SignatureError, type HooksError } from '../../../errors.ts';
import { printable } from '../../../redact.ts';
import type { NoteCode } from '../../../signature/reasons.ts';
import { SignatureVerifier } from '../../../signature/signature-verifier.ts';
import type { CommandContext } from '../../command.ts';
import { errorSentence } from '../../error-text.ts';
import { ExitCode } from '../../exit-code.ts';
import { fitText } from '../../fit-text.ts';
import { isFromNullDevice, readBodyInput, type BodySource } from '../../flags/signature/body-input.ts';
import {
  START_BYTES,
  readAnyBody,
  readRawBody,
  readSignedRequest,
  requestFormat,
  type SignedInput,
} from '../../flags/signature/signed-input.ts';
import type { Io } from '../../io.ts';
import {
  presentedRequest,
  verificationOf,
  type PresentedRequest,
  type PrintedVerdict,
  type Verification,
  type VerifyFlags,
  type VerifyFormat,
} from './verification.ts';

/** Runs `hooks verify`. */
export async function verifyFiles(
  files: readonly string[],
  flags: VerifyFlags,
  context: CommandContext,
): Promise<void> {
  const [file, ...others] = files;
  if (others.length === 0) return verifyFile(file, flags, context);
  const verification = await verificationOf(flags, context);
  const codes: ExitCode[] = [];
  for (const each of files) codes.push(await verifyOneOf(each, verification));
  const worst = [ExitCode.unusable, ExitCode.negative].find((code) => codes.includes(code));
  if (worst !== undefined) context.exit(worst);
}

/** Prints the result of one of several files after its name. Returns the exit code for this file. */
async function verifyOneOf(file: string, verification: Verification): Promise<ExitCode> {
  const { flags, context } = verification;
  const { io } = context;
  const result = await fileResult(file, verification);
  if (flags.output === 'json') {
    const { hint } = result.error ?? {};
    const failed = result.error && { error: result.error.message, ...(hint !== undefined && { hint }) };
    io.out(`${JSON.stringify({ file, ...(result.verdict ?? { valid: false, ...failed }) })}\n`);
  } else if (flags.quiet !== true || result.verdict?.valid !== true) {
    const text = result.error
      ? `${io.color.red('invalid:')} ${errorSentence(result.error)}`
      : await printedVerdictText(result.verdict, result.bytes, io);
    io.out(`${fitText(`${printable(file)}: ${text.replaceAll('\n', '\n  ')}`, io.stdoutColumns)}\n`);
  }
  if (result.error) return result.error instanceof SignatureError ? ExitCode.negative : ExitCode.unusable;
  return result.verdict.valid ? ExitCode.ok : ExitCode.negative;
}

/** Verifies one of several files. Returns the error of a file that has no signature or cannot be read. */
async function fileResult(
  file: string,
  verification: Verification,
): Promise<
  | (VerifiedInput & { readonly error?: undefined })
  | { readonly error: HooksError; readonly verdict?: undefined }
> {
  try {
    return await verdictOn(file, verification);
  } catch (error) {
    if (error instanceof SignatureError || error instanceof InputError) return { error };
    throw error;
  }
}

async function verifyFile(file: BodySource, flags: VerifyFlags, context: CommandContext): Promise<void> {
  const { io } = context;
  const verification = await verificationOf(flags, context);
  const { verdict, bytes } = await verdictOn(file, { ...verification, showsDigest: true });
  if (bytes === 0 && !verdict.valid && isFromNullDevice(file, io)) throw nothingGiven();
  if (flags.output === 'json') io.out(`${JSON.stringify(verdict)}\n`);
  else if (!flags.quiet) {
    io.out(`${fitText(await printedVerdictText(verdict, bytes, io), io.stdoutColumns)}\n`);
  } else if (!verdict.valid) {
    io.note(await printedVerdictText(verdict, bytes, { color: io.errColor, named: io.named }));
  }
  if (!verdict.valid) context.exit(ExitCode.negative);
}

function nothingGiven(): InputError {
  return new InputError('There is no body: standard input is /dev/null', {
    hint: 'give it a file (< body.json), the output of a command (COMMAND |), or name a file',
  });
}

interface VerifiedInput {
  readonly verdict: PrintedVerdict;
  readonly bytes: number;
}

async function verdictOn(file: BodySource, verification: Verification): Promise<VerifiedInput> {
  const { flags, context, headers } = verification;
  // An empty variable counts as unset, as in a shell. An empty flag is an empty signature.
  const signature = flags.signature ?? (context.io.env['HOOKS_SIGNATURE'] || undefined);
  const isRaw = signature !== undefined || headers.length > 0;
  const format = flags.format ?? (isRaw ? 'raw' : undefined);
  if (format === 'raw' && isRaw) return verifyRaw(file, signature, verification);
  const input = await readInput(file, format, verification);
  if (input.bytes === 0 && isFromNullDevice(file, context.io)) throw nothingGiven();
  return verifyInput(input, signature, verification);
}

function readInput(
  file: BodySource,
  format: VerifyFormat | undefined,
  { secrets: [secret = ''], context: { io } }: Verification,
): Promise<SignedInput> {
  if (format === undefined) return readAnyBody(file, io, secret);
  if (format === 'raw') return readRawBody(file, io, { secret });
  return readSignedRequest(file, io, { format, secret });
}

async function verifyRaw(
  file: BodySource,
  signature: string | undefined,
  verification: Verification,
): Promise<VerifiedInput> {
  const { flags, context, headers } = verification;
  const presented = await presentedRequest({ headers, signature }, verification);
  if (presented === undefined) {
    const [secret = ''] = verification.secrets;
    return withoutSignature(await readRawBody(file, context.io, { secret, headers }), verification);
  }
  const verifier = new SignatureVerifier(presented.options);
  let start = Buffer.alloc(0);
  await readBodyInput(file, context.io, (chunk) => {
    verifier.update(chunk);
    if (start.length < START_BYTES) start = Buffer.concat([start, chunk.subarray(0, START_BYTES)]);
  });
  const verdict = await printedVerdict(verifier, presented, verification);
  const meant = flags.format === undefined && !verdict.valid ? requestFormat(start) : undefined;
  if (meant === undefined) return { verdict, bytes: verifier.bytes };
  if (isFromEnvironment(verification) && /"?x-signature"?\s*[:,]/i.test(start.toString('latin1'))) {
    return hiddenBy(verdict, verifier.bytes);
  }
  if (!flags.quiet) {
    context.io.note(`note: ${TAKEN_FOR_BODY}; --format ${meant} reads it as what it seems to be`);
  }
  return { verdict, bytes: verifier.bytes };
}

const TAKEN_FOR_BODY = 'a signature was given, so the input was taken for the body itself';

async function verifyInput(
  input: SignedInput,
  signature: string | undefined,
  verification: Verification,
): Promise<VerifiedInput> {
  const { bytes, request } = input;
  const headers = [...(request?.headers ?? []), ...verification.headers];
  const presented = request && (await presentedRequest({ ...request, headers, signature }, verification));
  if (request === undefined || presented === undefined) return withoutSignature(input, verification);
  const verifier = new SignatureVerifier(presented.options).update(request.body);
  const verdict = await printedVerdict(verifier, presented, verification);
  const isHidden =
    isFromEnvironment(verification) && request.headers.some(([name]) => name.toLowerCase() === 'x-signature');
  return isHidden ? hiddenBy(verdict, bytes) : { verdict, bytes };
}

async function withoutSignature(input: SignedInput, verification: Verification): Promise<never> {
  const { noSignature } = await import('./no-signature.ts');
  throw noSignature(input, verification);
}

/**
 * Returns the verdict. Loads the explanation of a mismatch only for a mismatch, because it is half of the command's code.
 */
async function printedVerdict(
  verifier: SignatureVerifier,
  { warning }: PresentedRequest,
  verification: Verification,
): Promise<PrintedVerdict> {
  const verdict = verifier.verdict();
  if (verdict.valid) return { ...verdict, ...(warning !== undefined && { warning }) };
  const { explainedVerdict } = await import('./mismatch.ts');
  return explainedVerdict(verifier, verification);
}

async function hiddenBy(verdict: PrintedVerdict, bytes: number): Promise<VerifiedInput> {
  const { hiddenByVariable } = await import('./mismatch.ts');
  return { verdict: hiddenByVariable(verdict, bytes), bytes };
}

function isFromEnvironment({ flags, context }: Verification): boolean {
  return flags.signature === undefined && Boolean(context.io.env['HOOKS_SIGNATURE']);
}

async function printedVerdictText(
  verdict: PrintedVerdict,
  bytes: number,
  { color, named }: Pick<Io, 'color' | 'named'>,
): Promise<string> {
  if (!verdict.valid) {
    const [what = '', ...fix] = (verdict.diagnosis?.hint ?? '').split(/(?<=\.) /);
    const { expected, got } = verdict;
    // A correct signature that is rejected because of its age is not printed twice.
    const both = [`${color.dim('expected:')} ${expected}`, `${color.dim('got:     ')} ${got}`];
    const lines = [
      `${color.red('invalid:')} ${what}`,
      ...(expected === undefined ? both.slice(1) : expected === got ? [] : both),
      `${color.dim('hint:   ')} ${named(fix.join(' '))}`,
    ];
    return lines.join('\n');
  }
  const { secret, over, note, scheme, partial, warning: lacks } = verdict;
  const bySchemes = scheme === undefined ? '' : ` by ${scheme}`;
  const warnings = [partial && `the signature ${partial}: treat the others as unsigned`, lacks];
  const warning = warnings
    .filter((each) => each !== undefined)
    .map((each) => `\n${color.yellow('warning:')} ${each}`)
    .join('');
  const what = over === 'bytes' ? `${bytes} bytes` : 'the JSON-stringified body';
  const why =
    note === undefined ? '' : `\n${color.dim('note: ')} the bytes differ: ${await meaningOf(note)} (${note})`;
  return `${color.green('valid:')} matches secret ${secret} over ${what}${bySchemes}${why}${warning}`;
}

async function meaningOf(note: NoteCode): Promise<string> {
  const { NOTES } = await import('../../../signature/reasons.ts');
  return NOTES[note];
}
