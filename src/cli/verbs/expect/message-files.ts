import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isContinuousIntegration } from '../../../config/files/continuous-integration.ts';
import { InputError, ValidationError } from '../../../errors.ts';
import { readJson } from '../../../message/json/read-json.ts';
import {
  checkSchemas,
  checkSnapshot,
  readSnapshot,
  type ExpectationResult,
  type MessageCheck,
  type SnapshotUser,
} from '../../../expectation/expectation.ts';
import { compilePlan, planOfSchemas } from '../../../plan/plan.ts';
import type { JsonValue } from '../../../message/types.ts';
import { openReplacing, type ReplacingFile } from '../../../report/replacing-file.ts';
import { MOST_FILE_BYTES } from '../../../files.ts';
import { readInputFile } from '../../flags/input-file.ts';
import { planFlag } from '../../flags/plan-file.ts';
import type { Io } from '../../io.ts';
import type { ExpectOptions } from './options.ts';

/**
 * Makes the checks of `--schema` and `--plan`, and loads the validator if needed. Throws InputError for a file that cannot be
 * used.
 */
export async function schemaChecks(
  { schema, plan }: ExpectOptions,
  io: Io,
): Promise<readonly MessageCheck[]> {
  const checks: MessageCheck[] = [];
  if (schema !== undefined) checks.push(await schemaCheck(schema, io));
  if (plan !== undefined) {
    const violations = await planFlag(plan, io);
    checks.push(checkSchemas(({ value }) => violations(value), plan, 'plan'));
  }
  return checks;
}

async function schemaCheck(schema: string, io: Io): Promise<MessageCheck> {
  const bytes = await readFlagFile(schema, '--schema', io);
  const plan = await compilePlan(planOfSchemas(readSchemas(bytes, schema), schema));
  return checkSchemas(({ value }) => plan.violations(value), schema);
}

function readSchemas(bytes: Buffer, file: string): JsonValue {
  try {
    return readJson(bytes, { file });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const { message, hint = 'correct the file', cause } = error;
    throw new InputError(message, { file, hint, cause });
  }
}

interface OpenedSnapshot {
  readonly file: string;
  /** The messages of the snapshot file, to compare with. Undefined if there is no file yet, or --update is given. */
  readonly before: readonly SnapshotUser[] | undefined;
  /** The open replacement of the snapshot file. Undefined if that file must not be written. */
  readonly replacing: ReplacingFile | undefined;
  /** The permissions that the replaced snapshot file keeps. Undefined if no existing file is replaced. */
  readonly mode: number | undefined;
}

/** The file of `--snapshot`. It must be readable and writable before `hooks expect` starts its command. */
export class Snapshot {
  readonly check = checkSnapshot();
  readonly #opened: OpenedSnapshot;

  private constructor(opened: OpenedSnapshot) {
    this.#opened = opened;
  }

  /** Opens the file of --snapshot. A file that is no snapshot or is read-only is never overwritten: throws InputError. */
  static async open(
    { snapshot: file, update }: Pick<ExpectOptions, 'snapshot' | 'update'>,
    io: Io,
  ): Promise<Snapshot | undefined> {
    if (file === undefined) return undefined;
    const { cwd, env } = io;
    const bytes = existsSync(resolve(cwd, file)) ? await readFlagFile(file, '--snapshot', io) : undefined;
    const isReplaced = update === true;
    const before = bytes && readSnapshot(bytes.toString(), { file, isReplaced });
    const isWritten = isReplaced || (before === undefined && !isContinuousIntegration(env));
    const mode = isWritten ? await writableMode(file, cwd) : undefined;
    const replacing = isWritten ? await openReplacing(resolve(cwd, file), file) : undefined;
    return new Snapshot({ file, before: isReplaced ? undefined : before, replacing, mode });
  }

  /**
   * Compares the messages with the snapshot. Without a snapshot, writes one, but only if all other expectations are met:
   * otherwise the snapshot would contain the problem.
   */
  async conclude(others: readonly ExpectationResult[], unread?: string): Promise<ExpectationResult> {
    const { file, before, replacing, mode } = this.#opened;
    const about = { expectation: 'snapshot', filter: file } as const;
    const { count } = this.check;
    if (unread !== undefined) {
      await replacing?.abandon();
      return { ...about, isMet: false, said: unread };
    }
    if (before !== undefined) return this.check.compare(before, file);
    if (replacing === undefined) {
      const said = 'the file is missing, and CI is set: write it on your machine, and check it in';
      return { ...about, isMet: false, said };
    }
    const unmet = others.findLast(({ isMet }) => !isMet);
    if (unmet !== undefined || count === 0) {
      await replacing.abandon();
      const failed = unmet?.expectation === 'command' ? 'COMMAND failed' : 'another expectation is not met';
      const why = count === 0 ? 'no message came' : failed;
      return { ...about, isMet: false, said: `not written, because ${why}` };
    }
    const { text } = this.check;
    await replacing.commit(async (output) => {
      await output.share(mode);
      await output.add(Buffer.from(text));
    });
    return {
      ...about,
      isMet: true,
      said: `written: ${count} message${count === 1 ? '' : 's'}; review it, and check it in`,
    };
  }

  /** Discards the snapshot without writing its file. */
  async abandon(): Promise<void> {
    await this.#opened.replacing?.abandon();
  }
}

/** Returns the permissions for the file's replacement. Throws InputError if read-only, which replacing would ignore. */
async function writableMode(file: string, cwd: string): Promise<number | undefined> {
  const found = await stat(resolve(cwd, file)).catch(() => undefined);
  if (found?.isFile() !== true) return undefined;
  const mode = found.mode & 0o777;
  if ((mode & 0o200) !== 0) return mode;
  throw new InputError('Cannot be written: it is read-only', {
    file,
    hint: 'make it writable for its owner: chmod u+w',
  });
}

function readFlagFile(file: string, flag: string, io: Io): Promise<Buffer> {
  const hint = 'name a readable file';
  return readInputFile(file, { flag, limitBytes: MOST_FILE_BYTES, hint }, io);
}
