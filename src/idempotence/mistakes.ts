/** Code of a mistake that the states of a receiver show. */
export type IdempotenceMistakeCode = keyof typeof IDEMPOTENCE_MISTAKES;

const ONE_TRANSACTION =
  'write the message id and the effect in one transaction, the id first under a unique key, and do nothing when it is there (INSERT … ON CONFLICT DO NOTHING); for an effect outside the database write an outbox row instead';

/** For each mistake, a sentence about the receiver (`it …`, without a full stop) and how to fix it. */
export const IDEMPOTENCE_MISTAKES = {
  'cuts-ids-off': {
    says: 'it compares only a part or a short checksum of the message id: a message whose id looks the same is lost',
    fix: 'compare the whole id: no substring, no checksum, and a column of 255 characters or of any length',
  },
  'dedupes-by-content': {
    says: 'it recognizes messages by their content: a message with the same content as an earlier one is lost',
    fix: 'use messageId (or the header Idempotency-Key) as the key, not a hash of the body, the event or a time: a user may do the same thing twice',
  },
  'dedupes-by-user': {
    says: 'it recognizes messages by their user: further messages of the same user are lost',
    fix: 'use messageId (or the header Idempotency-Key) alone as the key, not the user id',
  },
  'no-dedupe': {
    says: 'it does the work again when a message is sent again',
    fix: 'remember each messageId (or the header Idempotency-Key) in a table with a unique key, write it in the transaction of the effect, and do nothing when it is there; or set values instead of adding to them',
  },
  'remembers-last': {
    says: 'it remembers a message only until the next one arrives',
    fix: 'keep the id of every message in a table with a unique key, not only the last one of each user: a message may be sent again hours after others',
  },
  'skips-numbers': {
    says: 'only a number differs, which looks like a running number (AUTOINCREMENT, a sequence): a message that is sent again uses up a number too',
    fix: 'is it a running number? leave it out of --state; if no number may be skipped (invoices), look the messageId up before you insert',
  },
  'folds-ids': {
    says: 'it ignores case or punctuation in message ids: a message whose id differs only in these is lost',
    fix: 'compare ids byte for byte: a binary collation (utf8mb4_bin, not NOCASE), no lowercasing, no characters removed',
  },
  'overwrites-newer': {
    says: 'an older message that is sent again replaces what a newer one wrote, or restores what it deleted',
    fix: 'do nothing for a messageId that you know, and keep the ids when a user is deleted; or compare the timestamp of the message with the stored one, keep the newer, and store it for deletions too',
  },
  'refuses-duplicates': {
    says: 'it rejects a message that it has accepted before: a sender that lost the response marks the message as undeliverable',
    fix: 'respond with 2xx to a messageId that you know, and do nothing',
  },
  'fails-on-duplicates': {
    says: 'it fails on a message that it has accepted before (a unique key in its database?): the message is sent again for 4 hours',
    fix: 'respond with 2xx to a messageId that you know, and do nothing: INSERT … ON CONFLICT DO NOTHING, or catch the error of the unique key',
  },
  'stays-busy': {
    says: 'it still responds with 409 to a message whose work is done: to a sender that means "in progress, try again", so the message is sent again for 4 hours',
    fix: 'respond with 409 only while the first request of a messageId is in progress, and with 2xx when that is done; release the lock when the work fails',
  },
  'hangs-on-duplicates': {
    says: 'it does not respond to a message that it knows: the sender waits for the timeout, and sends the message again for 4 hours',
    fix: 'respond with 2xx to a messageId that you know, and do nothing: never return without a response',
  },
  'keeps-lock': {
    says: 'its lock on a message outlives a crash or its own 5xx: it responds with 409 from then on, and the work is never done',
    fix: 'let the lock expire after some seconds and release it when the work fails; or take the lock in the transaction of the effect, so that a rollback undoes both',
  },
  'fails-at-once': {
    says: 'it does not accept a message that arrives twice at the same moment, not even when the message is sent again',
    fix: 'respond with 409 while the first request of a messageId is in progress and 2xx when it is done, and release its lock when it fails',
  },
  'check-then-act': {
    says: 'it checks first and writes later: two requests at the same moment both pass the check',
    fix: 'let the database decide: insert the messageId under a unique key first, in the transaction of the effect, and do nothing when it is there; or hold a lock for each messageId, and respond with 409 while it is held',
  },
  'works-after-response': {
    says: 'it responds before the work is done, and remembers the message only afterwards: the work is also done for a copy that arrives in between',
    fix: 'insert the messageId into an inbox table under a unique key before you respond with 2xx, and let the work take each row once; or respond when the work is done and recorded',
  },
  'records-after-response': {
    says: 'it remembers a message only after its response has arrived',
    fix: 'remember the messageId in the transaction of the effect, before you respond, whether or not the connection lasts',
  },
  'effect-despite-5xx': {
    says: 'it does the work and then responds with 5xx: the sender tries again, and the work is done again',
    fix: 'undo everything when you respond with 5xx: one transaction for the effect and the messageId, and calls to other services from an outbox after it',
  },
  'keeps-id-after-failure': {
    says: 'it keeps the id of a message that it does not accept (its response is 5xx or 429): when the message is sent again, it does nothing',
    fix: 'undo everything when the work fails: one transaction for the effect and the messageId; or delete the id before you respond',
  },
  'depends-on-other-users': {
    says: 'the result depends on the order in which messages of different users arrive',
    fix: 'keep the data of users apart, and compare the timestamps of messages where order counts. Leave running numbers out of --state, and let it print one item per line',
  },
  'loses-updates': {
    says: 'it loses a change when messages of different users arrive at the same moment',
    fix: 'change shared values in the database in one step (UPDATE … SET n = n + 1), or in a transaction that locks the row, not by reading, adding and writing',
  },
  'window-too-short': {
    says: 'it forgets a message too soon, and does the work again when the message is sent again late',
    fix: 'remember each messageId for longer than senders retry: at least 4 hours, better for days',
  },
  'dedupe-in-memory': {
    says: 'it remembers messages in memory only: after a crash it does the work again when a message is sent again',
    fix: 'keep the ids of messages where the effect is, in the same database and the same transaction',
  },
  'dedupe-per-process': {
    says: 'each of its processes remembers only its own messages: a message that is sent again to another process is processed again',
    fix: 'keep the ids of messages where the effect is, in the same database and the same transaction: all processes must see them',
  },
  'effect-and-record-apart': {
    says: 'it writes the effect and remembers the message in two steps: after a crash in between it does the work again',
    fix: ONE_TRANSACTION,
  },
  'record-before-effect': {
    says: 'it remembers a message before its effect is written: after a crash in between the message is lost',
    fix: ONE_TRANSACTION,
  },
  'responds-before-storing': {
    says: 'it responds with 2xx before the message or its effect is stored: a crash right after it loses the message',
    fix: 'write the effect to disk (commit) before you respond with 2xx; or write the message, for a worker that resumes with it after a crash',
  },
  'does-not-restart': {
    says: 'it does not start again after it was killed',
    fix: 'start despite what a crash leaves behind (a lock file, a pid file, a half-written file); the output of the receiver says more',
  },
  'goes-by-arrival': {
    says: 'the message that arrives last wins, though another one is newer',
    fix: 'compare the timestamp of the message with the stored one, and keep the newer; store amounts that must be added up per messageId',
  },
  'never-settles': {
    says: 'its state has everything that it must have, but keeps changing although nothing is sent',
    fix: 'find the work that never ends: a message that is processed again and again?',
  },
  'dies-on-duplicates': {
    says: 'it exits when a message arrives that it knows',
    fix: 'read its output above; respond with 2xx to a messageId that you know, and do nothing',
  },
  died: {
    says: 'it exited',
    fix: 'read its output',
  },
} as const satisfies Readonly<Record<string, { readonly says: string; readonly fix: string }>>;
