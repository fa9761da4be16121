import { defineVerbs } from './define-verbs.ts';

const EXAMPLES = `Examples:
  $ hooks audience sync 'High-Value Users (US)' members.csv
  $ hooks audience list
  $ hooks audience show high_value_users_us --members > members.ndjson
`;

const SYNC_EXAMPLES = `Examples:
  $ hooks audience sync 'High-Value Users (US)' members.csv
  $ hooks audience sync VIP members.csv --id-column customer_id --dry-run
  $ zcat ids.gz | hooks audience sync VIP - --queue    # hooks worker delivers
  $ hooks audience sync VIP members.csv --url http://localhost:3000/webhook
`;

const DETAILS = `
An identify with the trait high_value_users_us (the name in snake case) goes out
for each user who joined since the last sync (true) or left (false); the first
sync sends every member. The file is CSV with a header, NDJSON or one id a line,
gzipped or not, recognized by content; one bad line rejects it all.

What was sent is kept in the store (--store) for each name and each place: a
source of the config, the URLs of --url or HOOKS_URL, an endpoint. A change
counts once it was delivered or, with --queue, queued; what failed or was
interrupted is sent again by the next sync. A file that holds less than half of
the members, or changes more than half (and more than 100), is rejected.
`;

export const defineAudience = defineVerbs({
  kind: 'audience',
  examples: EXAMPLES,
  details: DETAILS,
  syncUsage: 'sync <name> <members>',
  syncSummary: 'send who joined or left since the last sync',
  syncExamples: SYNC_EXAMPLES,
});
