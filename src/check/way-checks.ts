import { signedTitles, type Check } from './check.ts';
import type { Sample } from './sample.ts';

const track = (sample: Sample, name: string) => [sample.signed(sample.body('track', name))];

/** About the way to the receiver. */
export const WAY_CHECKS: readonly Check[] = [
  {
    code: 'tls',
    title: 'a connection with a certificate that is checked',
    expects: 'secure',
    skip: ({ protocol }) => (protocol === 'https:' ? undefined : 'the URL is http://'),
    requests: (sample) => track(sample, 'tls'),
  },
  {
    code: 'redirect',
    title: 'a message to the very URL, redirects not followed',
    expects: 'direct',
    requests: (sample) => track(sample, 'redirect'),
  },
];

/** So many at once: what one user's click on a page may well send. */
const BURST = 10;

/** About how fast it answers. */
export const PACE_CHECKS: readonly Check[] = [
  {
    code: 'latency',
    ...signedTitles(`${BURST} messages at once`),
    expects: 'taken',
    atOnce: true,
    // Whoever needs more than half of the time on a quiet day does not keep it on a busy one.
    withinShare: 0.5,
    requests: (sample) =>
      Array.from({ length: BURST }, (_, index) => sample.signed(sample.body('track', `latency-${index}`))),
  },
];

/** What no request can find out. */
export const UNSEEN_CHECKS: readonly Check[] = [
  {
    code: 'constant-time',
    title: 'how signatures are compared',
    expects: 'answered',
    skip: () =>
      'cannot be seen from outside: read the code. crypto.timingSafeEqual, hmac.compare_digest, hmac.Equal and OpenSSL.secure_compare take constant time; == does not',
    requests: () => [],
  },
];
