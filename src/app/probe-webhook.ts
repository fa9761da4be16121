/** The seam by which a command may look at the way to a webhook: transport itself is not for commands. */
export { whyPrivateHost, whyPrivateName } from '../transport/route/public-address.ts';
export { probe as probeWebhook, type Probe } from '../transport/probe.ts';
export { connectionKeyOf } from '../transport/undici-transport.ts';
export { loadCaFile } from '../transport/route/trust.ts';
export { proxyVariable, proxyFor } from '../transport/route/proxy.ts';
