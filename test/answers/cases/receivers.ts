import type { AnswerTheme } from '../answer-case.ts';
import { responds } from '../counterparts.ts';

const SEND = ['send', 'track', '--event', 'Signup', '--user-id', 'u1', '--url', '{url}', '--retry-for', '0'];

/** What a receiver answers to a message. */
export const RECEIVERS: AnswerTheme = {
  title: 'The receiver responds, but does not take the message',
  cases: [
    {
      id: 'send-404',
      title: 'nothing is routed at the path of the URL',
      given: { receiver: responds(404, 'Not Found') },
      argv: SEND,
      cause: 'Delivery rejected: 404 Not Found from {url}',
      fix: 'check the path of the URL',
      exitCode: 1,
    },
  ],
};
