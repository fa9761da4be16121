import { createHmac } from 'node:crypto';
import type { Command } from 'commander';
import { InputError } from '../../errors.ts';
import { utf8TextOf, stringified } from '../../signature/diagnosis/json/json-text.ts';
import { sign } from '../../signature/sign.ts';
import { isStdin, readBodyInput, readWholeBody, type BodySource } from '../flags/signature/body-input.ts';
import type { CommandContext, Define, GlobalOptions } from '../command.ts';
import { given } from '../flags/flag-values.ts';
import { addSecretFlags, requiredSecrets, type SecretFlags } from '../flags/signature/secret-flags.ts';

const EXAMPLES = `Examples:
  $ hooks sign --secret s3cret < body.json
  $ curl -H "$(hooks sign --secret s3cret --as-header body.json)" \\
      --data-binary @body.json http://localhost:3000/webhook
  $ hooks sign --secret-file secret.txt --stringify body.json
`;

interface SignFlags extends SecretFlags, GlobalOptions {
  readonly stringify?: true;
  readonly asHeader?: true;
}

export const defineSign: Define = (command, context) => {
  command
    .argument('[file]', 'read the body from this file, or from standard input (-)', given)
    .option('--stringify', 'sign the JSON-stringified body, as send does')
    .option('--as-header', 'print the whole header, X-Signature: HEX')
    .action(async (file: BodySource, _flags: unknown, self: Command) => {
      await signFile(file, self.optsWithGlobals(), context);
    })
    .addHelpText('before', EXAMPLES);
  addSecretFlags(command, 'sign');
};

async function signFile(file: BodySource, flags: SignFlags, context: CommandContext): Promise<void> {
  const [secret] = await requiredSecrets(flags, 'sign', context.io);
  const signBody = flags.stringify ? signStringified : signBytes;
  const { signature, bytes, remark } = await signBody(file, secret, context);
  if (remark !== undefined && !flags.quiet) context.io.note(`note: ${remark}`);
  const text = flags.asHeader ? `X-Signature: ${signature}` : signature;
  context.io.out(`${flags.output === 'json' ? JSON.stringify({ signature, bytes }) : text}\n`);
}

interface SignedBody {
  readonly signature: string;
  /** The number of bytes that were signed. */
  readonly bytes: number;
  readonly remark?: string;
}

async function signBytes(file: BodySource, secret: string, { io }: CommandContext): Promise<SignedBody> {
  const hmac = createHmac('sha1', secret);
  let bytes = 0;
  let last: number | undefined;
  const kept: Uint8Array[] = [];
  await readBodyInput(file, io, (chunk) => {
    hmac.update(chunk);
    bytes += chunk.length;
    last = chunk.at(-1) ?? last;
    if (bytes <= LARGEST_PARSED_BYTES) kept.push(new Uint8Array(chunk));
  });
  const isJson = (): boolean => bytes <= LARGEST_PARSED_BYTES && jsonOf(Buffer.concat(kept)) !== undefined;
  return { signature: hmac.digest('hex'), bytes, ...remarkOn(last, isJson) };
}

function remarkOn(lastByte: number | undefined, isJson: () => boolean): { remark?: string } {
  if (lastByte === undefined) return { remark: 'the body is empty; that is what was signed' };
  if (lastByte !== 0x0a) return {};
  const remark = 'the body ends with a newline, which is signed too';
  return { remark: isJson() ? `${remark}; --stringify leaves it out` : remark };
}

/** Beyond this size the remark does not say whether the body is JSON: signing takes constant memory. */
const LARGEST_PARSED_BYTES = 1024 * 1024;

/** The text that `--stringify` signs; undefined when the body is no JSON. */
function jsonOf(body: Buffer): string | undefined {
  const text = utf8TextOf(body);
  return text === undefined ? undefined : stringified(text.replace(/^\ufeff/, ''));
}

/** Beyond this size a text no longer fits into a string. */
const LARGEST_TEXT_BYTES = 256 * 1024 * 1024;

async function signStringified(
  file: BodySource,
  secret: string,
  { io }: CommandContext,
): Promise<SignedBody> {
  const json = jsonOf(await readWholeBody(file, io, LARGEST_TEXT_BYTES));
  if (json === undefined) {
    const name = isStdin(file) ? 'Standard input' : file;
    throw new InputError(
      `${name} is not JSON in UTF-8, at most 512 levels deep, so it cannot be stringified`,
      {
        hint: 'leave --stringify out to sign the bytes as they are',
      },
    );
  }
  return { signature: sign(json, secret), bytes: Buffer.byteLength(json) };
}
