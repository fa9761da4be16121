// The planted bugs in a test runner: each sends messages with the bug, and checks them like the page in docs/.
const { Analytics } = require('@segment/analytics-node');
const { matchers } = require('hooks-cli/testing');
const { BUGS, sendBy } = require('./send.cjs');

const SCHEMA = {
  Signup: { properties: { properties: { properties: { total: { type: 'number' } } } } },
};

/** The matcher that finds each bug, with its arguments. */
const CHECKS = {
  renamed: ['toHaveReceived', 'type=track,event=Signup'],
  'missing-property': ['toHaveReceived', 'event=Signup,properties.plan?'],
  'number-as-text': ['toMatchSchema', SCHEMA],
  twice: ['toHaveReceived', '1x event=Signup'],
  lost: ['toHaveReceived', '5x messageId?'],
  'too-large': ['toHaveReceived', 'event=Signup'],
  'no-user': ['toHaveReceived', '0x userId!?'],
  'wrong-case': ['toHaveReceived', '0x integrations.salesforce?'],
  'personal-data': ['toHaveReceived', '0x properties.email?'],
  'late-identify': ['toHaveReceivedInOrder', ['type=identify', 'type=track']],
  'old-timestamp': ['toHaveReceived', '0x timestamp<now-1h'],
  'unknown-event': ['toMatchSchema', SCHEMA],
};

async function send(bug, receiver) {
  receiver.clear();
  const library = new Analytics({ writeKey: receiver.writeKey, host: receiver.host });
  sendBy(library, BUGS[bug]);
  // A program that ends now loses its unsent messages.
  if (bug !== 'lost') await library.closeAndFlush();
}

/** Checks by the `expect` of a runner with the matchers, or without one by the plain functions. */
function check(bug, receiver, expect) {
  const [matcher, given] = CHECKS[bug];
  if (expect !== undefined) {
    expect(receiver)[matcher](given);
    return;
  }
  const { pass, message } = matchers[matcher](receiver, given);
  if (!pass) throw new Error(message());
}

/** Plants each bug in a test of its name, which fails. `right` has no bug. */
module.exports = function plant(test, receiver, expect) {
  for (const bug of Object.keys(CHECKS)) {
    test(`bug ${bug}`, async () => {
      await send(bug, receiver());
      check(bug, receiver(), expect);
    });
    test(`right ${bug}`, async () => {
      await send('none', receiver());
      check(bug, receiver(), expect);
    });
  }
};
