import { defineVerbs } from './define-verbs.ts';

const EXAMPLES = `Examples:
  $ hooks trait sync 'Lifetime Value' values.csv
  $ hooks trait list
  $ hooks trait show lifetime_value --members > values.ndjson
`;

const SYNC_EXAMPLES = `Examples:
  $ hooks trait sync 'Lifetime Value' values.csv
  $ hooks trait sync 'Lifetime Value' values.csv --value-column ltv --dry-run
  $ hooks trait sync 'Zip Code' values.csv --text --queue   # for hooks worker
`;

const DETAILS = `
An identify with the trait lifetime_value (the name in snake case) goes out for
every user whose value changed since the last sync; the first sync sends every
value. The file is CSV with a header (userId,value) or NDJSON, gzipped or not,
recognized by content; one bad line rejects it all. A value in CSV is sent as
JSON where it is JSON (27.5, true), else as text; an empty one, and that of a
user who is no longer in the file, is sent as null.

What was sent is kept in the store (--store) for each name and each place: a
source of the config, the URLs of --url or HOOKS_URL, an endpoint. A change
counts once it was delivered or, with --queue, queued; what failed or was
interrupted is sent again by the next sync. A file that holds less than half of
the users, or of which more than half (and more than 100) are others, is
rejected.
`;

export const defineTrait = defineVerbs({
  kind: 'trait',
  examples: EXAMPLES,
  details: DETAILS,
  syncUsage: 'sync <name> <values>',
  syncSummary: 'send the values that changed since the last sync',
  syncExamples: SYNC_EXAMPLES,
});
