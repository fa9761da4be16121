import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deadLetter } from '../end-to-end/dead-letter.ts';
import { startServer } from '../stores/server/servers.ts';
import type { Preparation } from './follow.ts';

const DATA = '.local/share/hooks';

/** Gets ready what an operator has: a queue with a dead letter, a config of the service in /etc, and a server for the queue. */
export const asOperator: Preparation = async ({ session, addresses, home }) => {
  const dataDir = join(home, DATA);
  const service = { config: join(home, 'config'), data: join(home, 'service') };
  for (const folder of [dataDir, service.config, service.data]) await mkdir(folder, { recursive: true });
  for (const data of [dataDir, service.data]) await deadLetter(session.cwd, data);
  await writeFile(
    join(service.config, 'config.yaml'),
    addresses.mapped('webhooks: [https://a.example/hook]\n'),
  );
  addresses.add('/etc/hooks', service.config);
  addresses.add('/var/lib/hooks', service.data);
  addresses.add('redis://queue.internal:6379/0', (await startServer('redis')).url);
};
