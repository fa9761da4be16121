import { QUEUE_TABLES } from './queue/queue-tables.ts';
import { AUDIENCE_TABLES } from './sqlite-audience-store.ts';
import { DELETION_TABLES } from './sqlite-deletion-store.ts';
import { SEEN_TABLES } from './sqlite-seen.ts';

/** SQL for the tables of every file. A file has all of them, even if it is used, for example, only for audiences. */
export const TABLES: readonly string[] = [QUEUE_TABLES, SEEN_TABLES, DELETION_TABLES, AUDIENCE_TABLES];
