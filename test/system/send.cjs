// Sends messages by a real client library, of which only the host is set: `node send.cjs CLIENT BUG`.
const { createServer } = require('node:http');
const { execFileSync } = require('node:child_process');
const { readFileSync } = require('node:fs');
const path = require('node:path');

const HOST = process.env.HOOKS_URL;
const WRITE_KEY = process.env.HOOKS_WRITE_KEY ?? 'k';
const [, , client, bug = 'none'] = process.argv;

const track = (fields = {}) => ({
  type: 'track',
  userId: 'u1',
  event: 'Signup',
  ...fields,
  properties: { plan: 'pro', total: 12.5, ...fields.properties },
});

const RIGHT = [
  { type: 'identify', userId: 'u1', traits: { plan: 'pro' } },
  track(),
  { type: 'page', userId: 'u1', name: 'Home', properties: { url: 'http://localhost:3000/' } },
  { type: 'group', userId: 'u1', groupId: 'g1', traits: { name: 'Shop' } },
  { type: 'alias', userId: 'u1', previousId: 'visitor' },
];

const withTrack = (...tracks) => [RIGHT[0], ...tracks, ...RIGHT.slice(2)];

/** Changes the messages for each bug. */
const BUGS = {
  none: RIGHT,
  renamed: withTrack(track({ event: 'Sign Up' })),
  'missing-property': withTrack({ ...track(), properties: { total: 12.5 } }),
  'number-as-text': withTrack(track({ properties: { total: '12.5' } })),
  twice: withTrack(track(), track()),
  lost: RIGHT,
  'too-large': withTrack(track({ properties: { text: 'x'.repeat(40_000) } })),
  'no-user': [{ ...track(), userId: undefined, anonymousId: 'visitor' }],
  'wrong-case': withTrack(track({ integrations: { salesforce: false } })),
  'personal-data': withTrack(track({ properties: { email: 'ada@example.com' } })),
  'late-identify': [RIGHT[1], RIGHT[0], ...RIGHT.slice(2)],
  'old-timestamp': withTrack(track({ timestamp: new Date('2019-05-01T10:00:00Z') })),
  'unknown-event': withTrack(track({ event: 'Signup Strated' })),
};

/** Sends the messages one by one, like a program that calls its library. */
function sendBy(library, messages) {
  for (const { type, ...fields } of messages) library[type](fields);
}

const CLIENTS = {
  async segment(messages) {
    const { Analytics } = require('@segment/analytics-node');
    const library = new Analytics({ writeKey: 'k', host: HOST });
    sendBy(library, messages);
    if (bug === 'lost') process.exit(0);
    await library.closeAndFlush();
  },
  async legacy(messages) {
    const Analytics = require('analytics-node');
    const library = new Analytics('k', { host: HOST, flushAt: 20 });
    sendBy(library, messages);
    if (bug === 'lost') process.exit(0);
    await library.flush();
  },
  async rudder(messages) {
    const {
      default: RudderAnalytics = require('@rudderstack/rudder-sdk-node'),
    } = require('@rudderstack/rudder-sdk-node');
    const library = new RudderAnalytics('k', { dataPlaneUrl: HOST, flushAt: 20 });
    sendBy(library, messages);
    if (bug === 'lost') process.exit(0);
    await library.flush();
  },
  browser: (messages) => sendByPage('@segment/analytics-next/dist/umd/index.js', bySegment, messages),
  'rudder-browser': (messages) =>
    sendByPage('@rudderstack/analytics-js/dist/npm/modern/bundled/umd/index.js', byRudderStack, messages),
};

/** Opens a page of another origin with the library, and waits for the response to each message. */
async function sendByPage(library, sendInPage, messages) {
  const { chromium } = require('@playwright/test');
  const script = readFileSync(path.join(__dirname, 'node_modules', library));
  const server = createServer((request, response) =>
    request.url === '/'
      ? response.setHeader('content-type', 'text/html').end('<script src=/analytics.js></script>')
      : response.end(request.url === '/analytics.js' ? script : ''),
  );
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const executablePath = execFileSync('sh', ['-c', 'command -v chromium || command -v google-chrome'])
    .toString()
    .trim();
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const page = await browser.newPage();
  page.on('console', (message) => process.stderr.write(`${message.text()}\n`));
  await page.goto(`http://localhost:${server.address().port}/`);
  const posts = [];
  page.on('response', (response) => response.request().method() === 'POST' && posts.push(response.status()));
  await page.evaluate(sendInPage, { messages, host: HOST, writeKey: WRITE_KEY });
  const deadline = Date.now() + 20_000;
  while (posts.length < messages.length && Date.now() < deadline) await page.waitForTimeout(20);
  await browser.close();
  server.close();
}

/** Runs in the page. */
async function bySegment({ messages, host, writeKey }) {
  const analytics = window.AnalyticsNext.AnalyticsBrowser.load({ writeKey, cdnURL: host });
  const calls = {
    identify: ({ userId, traits }) => analytics.identify(userId, traits),
    track: ({ event, properties, integrations, timestamp }) =>
      analytics.track(event, properties, {
        ...(integrations && { integrations }),
        ...(timestamp && { timestamp }),
      }),
    page: ({ name, properties }) => analytics.page(name, properties),
    group: ({ groupId, traits }) => analytics.group(groupId, traits),
    alias: ({ userId, previousId }) => analytics.alias(userId, previousId),
  };
  for (const { type, ...fields } of messages) await calls[type](fields);
}

/** Runs in the page. */
function byRudderStack({ messages, host, writeKey }) {
  const analytics = new window.rudderanalytics.RudderAnalytics();
  analytics.load(writeKey, host, { configUrl: host });
  const calls = {
    identify: ({ userId, traits }) => analytics.identify(userId, traits),
    track: ({ event, properties }) => analytics.track(event, properties),
    page: ({ name, properties }) => analytics.page(name, properties),
    group: ({ groupId, traits }) => analytics.group(groupId, traits),
    alias: ({ userId, previousId }) => analytics.alias(userId, previousId),
  };
  for (const { type, ...fields } of messages) calls[type](fields);
}

module.exports = { BUGS, sendBy };

if (require.main === module) {
  CLIENTS[client](BUGS[bug]).catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exitCode = 1;
  });
}
