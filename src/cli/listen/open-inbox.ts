import { readFile } from 'node:fs/promises';
import type { Forwarding } from '../../pipeline/forwarding.ts';
import { replayReceived } from '../../pipeline/replaying.ts';
import { Inbox } from '../../receiver/inbox/inbox.ts';
import type { ListenOptions } from './options.ts';

interface Surroundings {
  readonly hasSecret: boolean;
  readonly forwarding: Forwarding | undefined;
}

/** The web inbox of `listen --ui`. */
export async function openInbox(
  { host, selfSigned }: ListenOptions,
  { hasSecret, forwarding }: Surroundings,
): Promise<Inbox> {
  return new Inbox({
    host,
    scheme: selfSigned ? 'https' : 'http',
    page: { script: await readBuilt('page.js'), style: await readBuilt('page.css') },
    hasSecret,
    ...(forwarding !== undefined && { forwardUrl: forwarding.shownUrl }),
    replay: (request, url) => replayReceived(request, { url, forwarding }),
  });
}

/** Of what the build makes of receiver/inbox/page; every chunk of it lies one folder below. */
function readBuilt(name: string): Promise<string> {
  return readFile(new URL(`../inbox/${name}`, import.meta.url), 'utf8');
}
