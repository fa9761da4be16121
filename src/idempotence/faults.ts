/** What a receiver does wrong, as far as its states show it. */
export type IdempotenceFaultCode = keyof typeof IDEMPOTENCE_FAULTS;

const ONE_TRANSACTION =
  'write the message id and the effect in one transaction, the id first under a unique key, and do nothing when it is there (INSERT … ON CONFLICT DO NOTHING); for an effect outside the database write an outbox row instead';

/** Sentences about the receiver without their full stop, and how to fix it. */
export const IDEMPOTENCE_FAULTS = {
  'cuts-ids-off': {
    says: 'it keeps only a part of the message id, or a short checksum: a message is lost that it takes for another one',
    fix: 'compare the whole id: no substring, no checksum, and a column of 255 characters or of any length',
  },
  'dedupes-by-content': {
    says: 'it goes by the content: a message that says the same as an earlier one is lost',
    fix: 'use messageId (or the header Idempotency-Key) as the key, not a hash of the body, the event or a time: a user may do the same thing twice',
  },
  'dedupes-by-user': {
    says: 'it goes by the user: further messages of the same user are lost',
    fix: 'use messageId (or the header Idempotency-Key) alone as the key, not the user id',
  },
  'no-dedupe': {
    says: 'it does the work again when a message comes again',
    fix: 'remember each messageId (or the header Idempotency-Key) in a table with a unique key, write it in the transaction of the effect, and do nothing when it is there; or set values instead of adding to them',
  },
  'remembers-last': {
    says: 'it knows a message again only until another one comes',
    fix: 'keep the id of every message in a table with a unique key, not the last one of each user: a message may come again hours after others',
  },
  'skips-numbers': {
    says: 'only a number differs, which looks like a running number (AUTOINCREMENT, a sequence): a message that comes again takes one too',
    fix: 'is it a running number? leave it out of --state; where none may be skipped (invoices), look the messageId up before you insert',
  },
  'folds-ids': {
    says: 'it compares message ids without their case or punctuation: a message whose id differs only in these is lost',
    fix: 'compare ids byte for byte: a binary collation (utf8mb4_bin, not NOCASE), no lower case, no character left out',
  },
  'overwrites-newer': {
    says: 'an older message that comes again replaces what a newer one wrote, or brings back what it deleted',
    fix: 'do nothing for a messageId that you know, and keep the ids when a user is deleted; or compare the timestamp of the message with the one stored, which a deletion leaves too, and keep the newer',
  },
  'refuses-duplicates': {
    says: 'it rejects a message that it has taken before: a sender whose response was lost takes it for undeliverable',
    fix: 'respond with 2xx to a messageId that you know, and do nothing',
  },
  'fails-on-duplicates': {
    says: 'it fails on a message that it has taken before (a unique key in its database?): the message is sent again for 4 hours',
    fix: 'respond with 2xx to a messageId that you know, and do nothing: INSERT … ON CONFLICT DO NOTHING, or catch the error of the unique key',
  },
  'stays-busy': {
    says: 'it still responds with 409 to a message whose work is done: to a sender that means "at work, come again", and it comes again for 4 hours',
    fix: 'respond with 409 only while the first request of a messageId is at work, and with 2xx when that is done; release the lock when the work fails',
  },
  'hangs-on-duplicates': {
    says: 'it does not respond to a message that it knows: the sender waits for the timeout, and sends it again for 4 hours',
    fix: 'respond with 2xx to a messageId that you know, and do nothing: no return without a response',
  },
  'keeps-lock': {
    says: 'its lock on a message outlives a crash or a 5xx of its own: it responds with 409 from then on, and the work is never done',
    fix: 'let the lock expire after some seconds and release it when the work fails; or put it in the transaction of the effect, which undoes both',
  },
  'fails-at-once': {
    says: 'it does not take a message that came twice at the same moment, not even when that is sent again',
    fix: 'respond with 409 while the first request of a messageId is at work and 2xx when it is done, and release its lock when it fails',
  },
  'check-then-act': {
    says: 'it checks first and writes later: two requests at the same moment both pass the check',
    fix: 'let the database decide: insert the messageId under a unique key first, in the transaction of the effect, and do nothing when it is there; or hold a lock for each messageId, and respond with 409 while it is held',
  },
  'works-after-response': {
    says: 'it responds before the work is done, and remembers the message only afterwards: a copy that comes meanwhile is worked on as well',
    fix: 'insert the messageId into an inbox table under a unique key before you respond with 2xx, and let the work take each row once; or respond when the work is done and recorded',
  },
  'records-after-response': {
    says: 'it remembers a message only when its response has arrived',
    fix: 'remember the messageId in the transaction of the effect, before you respond, whatever becomes of the connection',
  },
  'effect-despite-5xx': {
    says: 'it does the work and then responds with 5xx: the sender tries again, and it does the work again',
    fix: 'undo everything when you respond with 5xx: one transaction for the effect and the messageId, and calls to others from an outbox after it',
  },
  'keeps-id-after-failure': {
    says: 'it keeps the id of a message that it does not take (its response is 5xx or 429): when the message is sent again, it does nothing',
    fix: 'undo everything when the work fails: one transaction for the effect and the messageId; or delete the id before you respond',
  },
  'depends-on-other-users': {
    says: 'the result depends on the order in which messages of different users come',
    fix: 'keep what belongs to a user apart from others, and go by the timestamp of the message where order counts. Leave running numbers out of --state, and let it print one thing a line',
  },
  'loses-updates': {
    says: 'it loses a change when messages of different users come at the same moment',
    fix: 'change shared values in the database in one step (UPDATE … SET n = n + 1), or in a transaction that locks the row, not by reading, adding and writing',
  },
  'window-too-short': {
    says: 'it forgets a message too soon, and does the work again when it comes late',
    fix: 'remember each messageId for longer than it is sent again: 4 hours at the least, better for days',
  },
  'dedupe-in-memory': {
    says: 'it remembers messages in memory: after a crash it does the work of one that comes again a second time',
    fix: 'keep the ids of messages where the effect is, in the same database and the same transaction',
  },
  'dedupe-per-process': {
    says: 'each of its processes remembers messages for itself: one that comes again to another process is worked on again',
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
    fix: 'write the effect, or the message for a worker that starts again with it, to disk (commit) before you respond with 2xx',
  },
  'does-not-restart': {
    says: 'it does not start again after it was killed',
    fix: 'let nothing that a crash leaves behind (a lock file, a pid file, a half-written file) stop the start; its output says more',
  },
  'goes-by-arrival': {
    says: 'the message that comes last wins, though another one is newer',
    fix: 'compare the timestamp of the message with the one stored, and keep the newer; add up per messageId what must be added up',
  },
  'never-settles': {
    says: 'its state has all that it must have, and goes on changing though nothing is sent',
    fix: 'find what works on forever: a message that is taken again and again?',
  },
  'dies-on-duplicates': {
    says: 'it ends by itself when a message comes that it knows',
    fix: 'read its output above; respond with 2xx to a messageId that you know, and do nothing',
  },
  died: {
    says: 'it ended by itself',
    fix: 'read its output',
  },
} as const satisfies Readonly<Record<string, { readonly says: string; readonly fix: string }>>;
