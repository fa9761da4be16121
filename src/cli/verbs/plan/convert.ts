import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { InputError } from '../../../errors.ts';
import { namesIn } from '../../../suggest.ts';
import { compilePlan, planFiles } from '../../../plan/plan.ts';
import { escapeInJson } from '../../../redact.ts';
import { unwritableFile } from '../../../report/output-file.ts';
import { openReplacing } from '../../../report/replacing-file.ts';
import { ExitCode } from '../../exit-code.ts';
import { flagError } from '../../flags/flag-values.ts';
import { readPlanFile } from '../../flags/plan-file.ts';
import type { Io } from '../../io.ts';
import type { ConvertFlags } from './options.ts';

/** Runs `hooks plan convert`. Writes to an empty or new folder only, so that no file of another plan stays beside the new ones. */
export async function convertPlan(plan: string, { to, out, quiet }: ConvertFlags, io: Io): Promise<ExitCode> {
  if (to === 'folder' && out === undefined) {
    throw flagError('--to', '`--to folder` writes files', 'name the folder: --out schemas');
  }
  const document = await readPlanFile(plan, io);
  // Rejects a plan that `lint` would reject.
  await compilePlan(document);
  const files = await planFiles(document, { form: to, isSplit: out !== undefined });
  if (out === undefined) {
    for (const { value } of files) io.verbatim.out(jsonText(value));
    return ExitCode.ok;
  }
  const folder = resolve(io.cwd, out);
  if (namesIn(folder).length > 0) {
    throw new InputError('Expected an empty or a new folder', {
      file: out,
      hint: 'name another one, or empty it',
    });
  }
  await mkdir(folder, { recursive: true }).catch((cause: unknown) => {
    throw unwritableFile(out, cause, folder);
  });
  for (const { name, value } of files) {
    const replacing = await openReplacing(join(folder, name), join(out, name));
    await replacing.commit(async (file) => file.add(Buffer.from(jsonText(value))));
  }
  const rules = document.rules.length;
  if (!quiet) {
    io.note(`${rules} rule${rules === 1 ? '' : 's'} in ${files.length} file${files.length === 1 ? '' : 's'}`);
  }
  return ExitCode.ok;
}

function jsonText(value: object): string {
  return `${escapeInJson(JSON.stringify(value, undefined, 2))}\n`;
}
