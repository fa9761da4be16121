import { defineVerbs } from './define-verbs.ts';

const AUDIENCE_EXAMPLES = `Examples:
  $ hooks audience sync 'High-Value Users (US)' members.csv
  $ hooks audience list
  $ hooks audience show high_value_users_us --members > members.ndjson
`;

const AUDIENCE_SYNC_EXAMPLES = `Examples:
  $ hooks audience sync 'High-Value Users (US)' members.csv
  $ hooks audience sync VIP members.csv --id-column customer_id --dry-run
  $ zcat ids.gz | hooks audience sync VIP - --queue    # hooks worker delivers
  $ hooks audience sync VIP members.csv --url http://localhost:3000/webhook
`;

const AUDIENCE_DETAILS = `
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
  examples: AUDIENCE_EXAMPLES,
  details: AUDIENCE_DETAILS,
  syncSummary: 'send who joined or left since the last sync',
  syncExamples: AUDIENCE_SYNC_EXAMPLES,
});

const TRAIT_EXAMPLES = `Examples:
  $ hooks trait sync 'Lifetime Value' values.csv
  $ hooks trait list
  $ hooks trait show lifetime_value --members > values.ndjson
`;

const TRAIT_SYNC_EXAMPLES = `Examples:
  $ hooks trait sync 'Lifetime Value' values.csv
  $ hooks trait sync 'Lifetime Value' values.csv --value-column ltv --dry-run
  $ hooks trait sync 'Zip Code' values.csv --text --queue   # for hooks worker
`;

const TRAIT_DETAILS = `
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
the users, or adds and removes more than half of them (and more than 100), is
rejected.
`;

export const defineTrait = defineVerbs({
  kind: 'trait',
  examples: TRAIT_EXAMPLES,
  details: TRAIT_DETAILS,
  syncSummary: 'send the values that changed since the last sync',
  syncExamples: TRAIT_SYNC_EXAMPLES,
});
