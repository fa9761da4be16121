import { readFileSync } from 'node:fs';

/** The lines that the processes of storm.ts write to their log. */
export interface Told {
  readonly added: readonly string[];
  /** The attempts, in order. */
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

/** Attempts without a record. */
export function duplicatesOf({ posts, ended, rescheduled }: Told): number {
  return posts.length - ended.length - rescheduled.length;
}
