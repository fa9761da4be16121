import { signedTitles, type Check } from './check.ts';
import type { Sample } from './sample.ts';

const track = (sample: Sample, name: string) => [sample.signed(sample.body('track', name))];

/** Checks of the connection to the receiver. */
export const CONNECTION_CHECKS: readonly Check[] = [
  {
    code: 'tls',
    title: 'a connection with a verified certificate',
    expects: 'secure',
    skip: ({ protocol }) => (protocol === 'https:' ? undefined : 'the URL is http://'),
    requests: (sample) => track(sample, 'tls'),
  },
  {
    code: 'redirect',
    title: 'a message to exactly this URL, redirects not followed',
    expects: 'direct',
    requests: (sample) => track(sample, 'redirect'),
  },
];

/** Number of messages sent at once: as many as one click of a user on a page may cause. */
const BURST = 10;

/** Checks of how fast the receiver responds. */
export const PACE_CHECKS: readonly Check[] = [
  {
    code: 'latency',
    ...signedTitles(`${BURST} messages at once`),
    expects: 'taken',
    atOnce: true,
    // A receiver that needs more than half of the timeout on a quiet day exceeds it on a busy one.
    withinShare: 0.5,
    requests: (sample, round = 0) =>
      Array.from({ length: BURST }, (_, index) =>
        sample.signed(sample.body('track', `latency-${round * BURST + index}`)),
      ),
  },
];

/** Requirements that requests cannot check. Their checks are always skipped, with advice as the reason. */
export const UNSEEN_CHECKS: readonly Check[] = [
  {
    code: 'constant-time',
    title: 'how signatures are compared',
    expects: 'decided',
    skip: () =>
      'cannot be seen from outside: check the code. crypto.timingSafeEqual, hmac.compare_digest, hmac.Equal and OpenSSL.secure_compare take constant time; == does not',
    requests: () => [],
  },
];
