import type { IncomingMessage, ServerResponse } from 'node:http';
import { PREFLIGHT_HEADERS } from '../../service/request/message-paths.ts';
import { callName } from './tracking-call.ts';

const SETTINGS_PATH = /\/v1\/projects\/([^/?#]+)\/settings(?:$|[?])/;

/**
 * Responds to what the tracking library of a browser asks besides its calls: the settings, which make it send everything here, and the
 * preflight of a call. Returns false for any other request.
 */
export function respondToBrowser(request: IncomingMessage, response: ServerResponse): boolean {
  const { method, url = '' } = request;
  const [, writeKey] = SETTINGS_PATH.exec(url) ?? [];
  const asksSettings = writeKey !== undefined && (method === 'GET' || method === 'HEAD');
  if (!asksSettings && !(method === 'OPTIONS' && (writeKey ?? callName(url)) !== undefined)) return false;
  request.resume();
  for (const [name, value] of PREFLIGHT_HEADERS) response.setHeader(name, value);
  // A page of the public web asks before it sends to an address of this machine.
  if (request.headers['access-control-request-private-network'] === 'true') {
    response.setHeader('access-control-allow-private-network', 'true');
  }
  if (!asksSettings) response.writeHead(204).end();
  else {
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(settingsOf(request, decoded(writeKey))));
  }
  return true;
}

/** What analytics.js reads before it sends: one destination, this receiver, to which calls go one by one; metrics about itself off. */
function settingsOf({ headers, socket }: IncomingMessage, writeKey: string): object {
  return {
    integrations: {
      'Segment.io': {
        apiKey: writeKey,
        apiHost: `${headers.host ?? ''}/v1`,
        protocol: 'encrypted' in socket ? 'https' : 'http',
        unbundledIntegrations: [],
        addBundledMetadata: true,
        deliveryStrategy: { strategy: 'standard' },
      },
    },
    plan: {
      track: { __default: { enabled: true, integrations: {} } },
      identify: { __default: { enabled: true } },
      group: { __default: { enabled: true } },
    },
    edgeFunction: {},
    analyticsNextEnabled: true,
    middlewareSettings: {},
    enabledMiddleware: {},
    metrics: { sampleRate: 0 },
    legacyVideoPluginsEnabled: false,
    remotePlugins: [],
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
