import { readFile } from 'node:fs/promises';
import type { Forwarding } from '../../../app/forwarding.ts';
import { replayReceived, signedAgain } from '../../../app/replaying.ts';
import { Inbox } from '../../../inbox/inbox.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
import type { FindViolations } from '../../flags/plan-file.ts';
import { expandUrl } from '../../flags/short-url.ts';
import type { Io } from '../../io.ts';
import type { ListenOptions } from './options.ts';

interface InboxContext {
  readonly secrets: readonly string[];
  /** The schemes of --scheme or the config. */
  readonly schemes: readonly SignatureScheme[] | undefined;
  readonly forwarding: Forwarding | undefined;
  /** Finds what a message violates in the plan of --plan. */
  readonly violations: FindViolations | undefined;
}

/** Opens the web inbox of `listen --ui`. */
export async function openInbox(
  options: ListenOptions,
  { secrets, schemes, forwarding, violations }: InboxContext,
  io: Pick<Io, 'named'>,
): Promise<Inbox> {
  const { host, selfSigned, respond } = options;
  const [scheme] = schemes ?? [];
  return new Inbox({
    host,
    scheme: selfSigned ? 'https' : 'http',
    page: { script: await readBuilt('page.js'), style: await readBuilt('page.css') },
    hasSecret: secrets.length > 0,
    ...(scheme !== undefined && { sendBy: scheme.name }),
    ...(forwarding !== undefined && { forwardUrl: forwarding.shownUrl }),
    respond,
    programName: io.named('hooks verify').replace(/ verify$/, ''),
    ...(violations !== undefined && {
      violations: (message) => violations(message).map(({ sentence }) => sentence),
    }),
    replay: (request, url) => replayReceived(request, { url: url && expandUrl(url), forwarding, secrets }),
    ...(secrets.length > 0 && { sign: (request) => signedAgain(request, { secrets, schemes }) }),
  });
}

/**
 * Reads a file that the build makes from inbox/page. The path starts at the built chunk of this module: dist/ holds the
 * folders `chunks` and `inbox`.
 */
function readBuilt(name: string): Promise<string> {
  return readFile(new URL(`../inbox/${name}`, import.meta.url), 'utf8');
}
