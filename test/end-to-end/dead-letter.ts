import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hooks, startHooks } from './hooks.ts';
import { receiving } from './receiving.ts';
import { nextJson } from './running-command.ts';

/** Adds a delivery that its receiver rejects to the queue in a data folder. Returns its id. */
export async function deadLetter(cwd: string, dataDir: string): Promise<string> {
  const refusing = await receiving({ respond: '400' });
  const config = join(cwd, 'refusing.yaml');
  await writeFile(config, `webhooks: [${refusing.url}]\n`);
  const place = { cwd, env: { HOOKS_DATA_DIR: dataDir } };
  await hooks(['send', 'track', '--event', 'Signup', '--queue', '-c', config], place);
  const worker = startHooks(['worker', '--allow-private', '-o', 'json', '-c', config], place);
  await worker.lines.next();
  const { id } = await nextJson<{ id: string }>(worker);
  await worker.stop();
  return id;
}
