import type { IncomingMessage, ServerResponse } from 'node:http';
import { ANY_ORIGIN, preflightHeaders, SOURCE_CONFIG } from '../../service/request/cross-origin.ts';
import { callName } from './tracking-call.ts';

const SETTINGS_PATH = /\/v1\/projects\/([^/?#]+)\/settings(?:$|[?])/;
const SOURCE_CONFIG_PATH = /\/sourceConfig\/?(?:$|[?])/;

/**
 * Responds to a browser tracking library's requests for its settings, which make the library send all calls to this
 * receiver, and to CORS preflights. Returns the kind of the request. Undefined for any other request, which gets no response
 * here.
 */
export function respondToBrowser(
  request: IncomingMessage,
  response: ServerResponse,
): 'settings' | 'preflight' | undefined {
  const { method, url = '' } = request;
  const settings = settingsFor(request);
  if (method === 'OPTIONS' && (settings ?? callName(url)) !== undefined) {
    request.resume();
    response.writeHead(204, preflightHeaders(request.headers)).end();
    return 'preflight';
  }
  if (settings === undefined || (method !== 'GET' && method !== 'HEAD')) return undefined;
  request.resume();
  const headers = { ...ANY_ORIGIN, 'content-type': 'application/json', 'cache-control': 'no-store' };
  response.writeHead(200, headers).end(JSON.stringify(settings));
  return 'settings';
}

function settingsFor(request: IncomingMessage): object | undefined {
  const { url = '' } = request;
  if (SOURCE_CONFIG_PATH.test(url)) return SOURCE_CONFIG;
  const [, writeKey] = SETTINGS_PATH.exec(url) ?? [];
  return writeKey === undefined ? undefined : settingsOf(request, decoded(writeKey));
}

/**
 * The settings that analytics.js loads before it sends: this receiver as the only destination, one request per call, and no
 * metrics about the library itself.
 */
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
