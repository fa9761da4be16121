import { Option, type Command } from 'commander';
import { InputError, SignatureError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { Deadline, type DiagnosisBudget } from '../../signature/diagnosis/deadline.ts';
import { REASONS } from '../../signature/diagnosis/reasons.ts';
import { Verifier, type VerifyResult, type VerifyOptions } from '../../signature/verify.ts';
import { signatureHeadersText } from '../../signature/signature-headers.ts';
import { isFromNullDevice, readBodyInput, type BodySource } from '../flags/signature/body-input.ts';
import type { CommandContext, Define, GlobalOptions } from '../command.ts';
import { ExitCode } from '../exit-code.ts';
import { given } from '../flags/flag-values.ts';
import { knownSecrets } from '../flags/signature/known-secrets.ts';
import type { Io } from '../io.ts';
import { addSecretFlags, requiredSecrets, type SecretFlags } from '../flags/signature/secret-flags.ts';
import {
  readAnyBody,
  readRawBody,
  readSignedRequest,
  requestFormat,
  START_BYTES,
  type SignedInput,
} from '../flags/signature/signed-input.ts';

const EXAMPLES = `Examples:
  $ hooks verify --secret s3cret < capture.json
  $ hooks verify --secret s3cret --signature "$HTTP_X_SIGNATURE" body.json
  $ hooks verify --secret new --secret old -o json < request.http
`;

type Format = 'raw' | 'capture' | 'http';

interface VerifyFlags extends SecretFlags, GlobalOptions {
  readonly signature?: string;
  readonly format?: Format;
  readonly exact?: true;
}

export const defineVerify: Define = (command, context) => {
  command
    .argument('[file]', 'read a body, capture or HTTP request; - is standard input', given)
    .option('--signature <hex>', 'check HEX (HOOKS_SIGNATURE), not the one in the input')
    .addOption(
      new Option('--format <format>', 'set the format of the input (default: by its content)').choices([
        'raw',
        'capture',
        'http',
      ]),
    )
    .option('--exact', 'accept the exact bytes only, not the JSON-stringified body')
    .action(async (file: BodySource, _flags: unknown, self: Command) => {
      await verifyFile(file, self.optsWithGlobals(), context);
    })
    .addHelpText('before', EXAMPLES);
  addSecretFlags(command, 'verify');
};

async function verifyFile(file: BodySource, flags: VerifyFlags, context: CommandContext): Promise<void> {
  const secrets = await requiredSecrets(flags, 'verify', context.io);
  const { io } = context;
  const { verdict, bytes } = await verdictOn(file, { flags, secrets, context });
  if (bytes === 0 && !verdict.valid && isFromNullDevice(file, io)) throw nothingGiven();
  if (flags.output === 'json') io.out(`${JSON.stringify(verdict)}\n`);
  else if (!flags.quiet) io.out(`${verdictText(verdict, bytes, io.color)}\n`);
  else if (!verdict.valid) io.note(verdictText(verdict, bytes, io.errColor));
  if (!verdict.valid) context.exit(ExitCode.negative);
}

function nothingGiven(): InputError {
  return new InputError('There is no body: standard input is /dev/null', {
    hint: 'give it a file (< body.json), the output of a command (COMMAND |), or name a file',
  });
}

interface Verification {
  readonly flags: VerifyFlags;
  readonly secrets: readonly string[];
  readonly context: CommandContext;
}

/** A verdict as it is printed: a mismatch with both signatures, for the person who runs the command. */
type PrintedVerdict = VerifyResult & { readonly expected?: string; readonly got?: string };

interface VerifiedInput {
  readonly verdict: PrintedVerdict;
  readonly bytes: number;
}

async function verdictOn(file: BodySource, verification: Verification): Promise<VerifiedInput> {
  const { flags, context } = verification;
  // An empty variable is how a shell says that there is none; an empty flag is an empty signature.
  const signature = flags.signature ?? (context.io.env['HOOKS_SIGNATURE'] || undefined);
  const format = flags.format ?? (signature === undefined ? undefined : 'raw');
  if (format === 'raw' && signature !== undefined) {
    return verifyRaw(file, signature, verification);
  }
  const input = await readInput(file, format, verification);
  if (input.bytes === 0 && isFromNullDevice(file, context.io)) throw nothingGiven();
  return verifyInput(input, signature, verification);
}

function readInput(
  file: BodySource,
  format: Format | undefined,
  { secrets: [secret = ''], context: { io } }: Verification,
): Promise<SignedInput> {
  if (format === undefined) return readAnyBody(file, io, secret);
  if (format === 'raw') return readRawBody(file, io, secret);
  return readSignedRequest(file, io, { format, secret });
}

/**
 * The budget of the contract keeps a service responsive. Here one person waits for one result, from code that runs for the
 * first time, perhaps on a busy machine: 20 ms would leave out much that 200 find.
 */
const PATIENT_BUDGET: DiagnosisBudget = () => new Deadline(2_000);

async function verifyRaw(
  file: BodySource,
  signature: string,
  verification: Verification,
): Promise<VerifiedInput> {
  const { flags, context } = verification;
  const verifier = new Verifier(optionsOf(signature, verification), PATIENT_BUDGET);
  let start = Buffer.alloc(0);
  await readBodyInput(file, context.io, (chunk) => {
    verifier.update(chunk);
    if (start.length < START_BYTES) start = Buffer.concat([start, chunk.subarray(0, START_BYTES)]);
  });
  const verdict = await printedVerdict(verifier, signature, verification);
  const meant = flags.format === undefined && !verdict.valid ? requestFormat(start) : undefined;
  if (meant !== undefined && !flags.quiet) {
    context.io.note(`note: ${TAKEN_FOR_BODY}; --format ${meant} reads it as what it seems to be`);
  }
  return { verdict, bytes: verifier.bytes };
}

const TAKEN_FOR_BODY = 'a signature was given, so the input was taken for the body itself';

async function verifyInput(
  input: SignedInput,
  fromOutside: string | undefined,
  verification: Verification,
): Promise<VerifiedInput> {
  const { bytes, request } = input;
  const signature = fromOutside ?? request?.signature;
  if (request === undefined || signature === undefined) throw noSignature(input, verification);
  const verifier = new Verifier(optionsOf(signature, verification), PATIENT_BUDGET).update(request.body);
  return { verdict: await printedVerdict(verifier, signature, verification), bytes };
}

/** Longer values are no signatures, and would fill the screen. */
const MAX_SHOWN_SIGNATURE = 200;

/** Looks for other secrets, in HOOKS_SECRET and the config, only after a mismatch. */
async function printedVerdict(
  verifier: Verifier,
  signature: string,
  { flags, secrets, context: { io } }: Verification,
): Promise<PrintedVerdict> {
  const verdict = verifier.verdict();
  if (verdict.valid) return verdict;
  const diagnosis = verifier.explain(await knownSecrets(flags, io, secrets));
  return {
    valid: false,
    diagnosis,
    expected: verifier.expected,
    got: printable(signature, MAX_SHOWN_SIGNATURE),
  };
}

function optionsOf(signature: string, { flags, secrets }: Verification): VerifyOptions {
  return { signature, secrets, exact: flags.exact ?? false, diagnose: true };
}

/** Prints the digest, which is data and may be compared by eye, and returns the error. */
function noSignature(
  { digest: signature, bytes, seems, request }: SignedInput,
  { flags, context: { io } }: Verification,
): SignatureError {
  if (flags.output === 'json') io.out(`${JSON.stringify({ signature, bytes })}\n`);
  else io.out(`${signature}\n`);
  const headers = request === undefined ? undefined : signatureHeadersText(request.headerNames);
  return new SignatureError(
    `There is no signature to compare with${headers === undefined ? '' : `: ${headers}`}`,
    {
      reason: 'missing',
      hint:
        seems === undefined
          ? 'give --signature HEX or HOOKS_SIGNATURE, or a capture or raw HTTP request that has an X-Signature header'
          : `add --format ${seems}: an input of more than 8 MiB is taken for the body itself`,
    },
  );
}

function verdictText(verdict: PrintedVerdict, bytes: number, color: Io['color']): string {
  if (!verdict.valid) {
    const [what = '', ...fix] = (verdict.diagnosis?.hint ?? '').split(/(?<=\.) /);
    const lines = [
      `${color.red('invalid:')} ${what}`,
      `${color.dim('expected:')} ${verdict.expected}`,
      `${color.dim('got:     ')} ${verdict.got}`,
      `${color.dim('hint:   ')} ${fix.join(' ')}`,
    ];
    return lines.join('\n');
  }
  const { secret, over, note } = verdict;
  const what = over === 'bytes' ? `${bytes} bytes` : 'the JSON-stringified body';
  const why =
    note === undefined ? '' : `\n${color.dim('note: ')} the bytes differ: ${REASONS[note].means} (${note})`;
  return `${color.green('valid:')} matches secret ${secret} over ${what}${why}`;
}
