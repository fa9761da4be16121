import { readFileSync } from 'node:fs';

/** A request that is signed wrongly, with the diagnosis that it must get. */
export interface WrongSender {
  readonly code: string;
  readonly name: string;
  /** In base64. */
  readonly body: string;
  readonly signature: string;
  readonly secret: string;
}

/** As Python printed them (wrong-senders.py > wrong-senders.json), so that our own spelling and signing have no part in it. */
export function wrongSenders(): readonly WrongSender[] {
  const file = new URL('wrong-senders.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as readonly WrongSender[]; // what the script prints
}
