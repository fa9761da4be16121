import { readFileSync } from 'node:fs';

/** What the processes of storm.ts say in their log. */
export interface Told {
  readonly added: readonly string[];
  /** In the order in which they were made. */
  readonly posts: readonly string[];
  readonly ended: readonly string[];
  readonly rescheduled: readonly string[];
}

export function told(log: string): Told {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  const of = (word: string): string[] =>
    lines.filter((line) => line.startsWith(`${word} `)).flatMap((line) => line.split(' ').slice(1));
  return { added: of('added'), posts: of('post'), ended: of('end'), rescheduled: of('again') };
}

/** Attempts that were made and not recorded. */
export function duplicatesOf({ posts, ended, rescheduled }: Told): number {
  return posts.length - ended.length - rescheduled.length;
}
