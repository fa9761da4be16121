/** Functions to probe the route to a webhook, for commands, which may not import the transport directly. */
export { whyPrivateHost, whyPrivateName } from '../transport/route/public-address.ts';
export { probe as probeWebhook, type Probe } from '../transport/probe.ts';
export { connectionKeyOf } from '../transport/undici-transport.ts';
export { loadCaFile } from '../transport/route/trust.ts';
export { proxyVariable, proxyFor } from '../transport/route/proxy.ts';
