import { hedged } from '../../confidence.ts';
import type { NetworkCause } from '../../transport/cause.ts';

/** Explains a failure without a response: templates over `CauseFacts`. */
type NetworkCauseText = Omit<NetworkCause, 'code'>;

/** Returns the explanation of an error code or cause. Undefined for an unknown one. */
export function networkCauseText(code: string): NetworkCauseText | undefined {
  const row = Object.hasOwn(NETWORK_CAUSES, code) ? NETWORK_CAUSES[code] : undefined;
  if (row === undefined) return undefined;
  const part = (name: string): string | undefined => new RegExp(`^ *${name}: (.+)$`, 'm').exec(row)?.[1];
  const confidence = (['likely', 'possible'] as const).find((level) => part(level)) ?? 'proved';
  const [says, fix = ''] = [part(confidence), part('fix')];
  return {
    says: says && hedged(says, confidence),
    confidence,
    fix,
    receiverFix: part('receiver') ?? fix,
  };
}

const ISSUER = 'name its issuer: --ca FILE, or in the config: delivery: { ca: ./ca.pem }';
const OTHER_TLS = 'let it speak TLS 1.2 or later, or put a proxy with TLS in front of it';
const START_IT =
  'start the receiver, wait until it listens (hooks test URL -- COMMAND does both), and check the port';
const DIRECT = 'or go direct: NO_PROXY={hostname}';
const CHECK_PROXY = `check {proxy}: host, port, and http:// or https://; ${DIRECT}`;

/**
 * Explanations by the error code of a failed attempt (`timeout`), or by its more exact cause (`headers-unfinished`). Each
 * line has a name: `proved`, `likely` or `possible` is the sentence with its confidence, `fix` the fix for the sender,
 * `receiver` the fix for the receiver's author (by default the same).
 */
const NETWORK_CAUSES: Readonly<Record<string, string>> = {
  timeout: `fix: let the receiver respond first and work later; --timeout waits longer, up to 30s
    receiver: respond with 2xx first and do the work later: put the message into a queue`,
  'headers-unfinished': `proved: it began its response, but did not end the headers in time
    fix: let the receiver send status and headers at once (an empty line ends them), and work later; --timeout waits longer, up to 30s
    receiver: send status and headers at once (an empty line ends them), and do the work later`,
  'handler-silent': `proved: the server responds to OPTIONS {path}, but not to this message: its handler works too long, or never ends the response
    fix: let the handler respond first and work later, and end its response on every path (res.end(), done, await); --timeout waits longer, up to 30s
    receiver: respond first and do the work later, and end the response on every path of the handler (res.end(), done, await)`,
  'port-silent': `proved: the port accepts connections, but not even OPTIONS gets a response in time: the program is still starting, is busy (perhaps with this message), or hangs
    fix: wait until it responds to curl -i, then send again; if it works long on each message, let it respond first and work later; --timeout waits longer, up to 30s; if it stays silent, look into its log
    receiver: look into its log; start its workers before it listens, respond with 2xx first, and do the work later`,
  'no-connection-in-time': `proved: no connection could be made in time: a firewall drops the packets to this port, the address is wrong, the host is off, or the program there hangs
    fix: let the firewalls of that machine and in between accept this port (ufw allow, security groups); then check its address, that it is up, and that its program accepts connections`,
  'not-accepting': `likely: a program listens at {host}, but does not accept connections: it is overloaded, hangs, or is stopped (Ctrl-Z, a debugger)
    fix: look into the log of the program, let it continue, or start it again`,
  refused: `fix: ${START_IT}; hooks listen starts a receiver that shows each request`,
  'refused-there': `proved: the host {location} was reached, and rejects this port: nothing listens at it, or only for that machine itself (127.0.0.1), or a firewall there rejects it
    fix: check on that host that the receiver runs, its port, and that it listens at 0.0.0.0 instead of 127.0.0.1 (Docker: the published port; Kubernetes: the targetPort of the service, and its pods); then the rules of its firewall (REJECT)`,
  'no-network': `proved: this machine has no network route to it, or a router rejects the connection
    fix: check the network of this machine; an IPv6 address needs IPv6`,
  unreachable: `proved: no route leads to {host}, or a firewall on the way or there rejects the connection
    fix: check the address, the network and VPN of this machine, and the rules of the firewalls (REJECT) for this port`,
  'no-ports': 'fix: wait, or lower --concurrency: the ports of this machine are used up',
  'too-many-files': 'fix: raise the limit (ulimit -n), or lower --concurrency',
  'not-allowed': 'fix: allow it in the firewall or sandbox of this machine',
  dns: 'fix: check the host name in the URL',
  'dns-for-now': 'fix: check the network and the name server of this machine (/etc/resolv.conf, VPN)',
  'near-host': `likely: its host name is a typing error for that of {location}
    fix: correct the host name: {location}`,
  'docker-host': `proved: host.docker.internal is a name inside containers only
    fix: give localhost here; in a container on Linux start it with --add-host=host.docker.internal:host-gateway`,
  'service-name': `likely: {hostname} is the name of a container: names without a dot are known only inside the network of the containers
    fix: give localhost with the published port, or run hooks inside the same network`,
  'kubernetes-name': `proved: the namespace {location}, in which this pod runs, has no service {hostname}
    fix: give the namespace of the service in the URL: {hostname}.NAMESPACE; kubectl get services -A lists all`,
  reset: `fix: look into the log of the receiver: it may have crashed on this message, or a proxy in front of it closed the connection
    receiver: look into the receiver's log: it has crashed, or a limit closed the connection`,
  died: `likely: the receiver crashed on the message: it closed the connection and refuses new ones since
    fix: look into the log of the receiver, repair the error, and start it again`,
  protocol: `fix: check the port: does something other than HTTP listen there?
    receiver: check that the port speaks HTTP`,
  'malformed-http':
    'fix: let the receiver, or the proxy in front of it, send correct HTTP; the port itself is right',
  silent: `proved: the port closes each connection without a response: a container runtime, proxy or tunnel publishes it and nothing listens behind it, or it speaks another protocol than HTTP (as a database does), or fails before it responds
    fix: check the port; let the program in the container run and listen at 0.0.0.0, not at 127.0.0.1; else look into the log of the receiver`,
  'proxy-protocol': `proved: the port speaks HTTP only after a line of the PROXY protocol, as a load balancer sends it
    fix: give the URL of the load balancer, or let the server take requests without that line (nginx: listen without proxy_protocol)`,
  'closes-host': `proved: the server closes every request for {host}{path} without a response, but responds to others
    fix: look into the log of the receiver; if it knows only certain host names (nginx: return 444 to others), give one of them in place of {hostname}`,
  'no-address': `proved: the name {hostname} leads to {location}, which is no host: a name server with a block list, or the hosts file, gives this address
    fix: ask another name server (nslookup {hostname} 1.1.1.1), and take the name off the block list`,
  'slow-names': `proved: the name server of this machine does not respond in time when asked for {hostname}
    fix: check the name servers of this machine (/etc/resolv.conf, VPN); the receiver was not asked`,
  'hosts-file': `proved: the name {hostname} has its address from {location}
    fix: correct that line if the address is an old one; else check that host, its port and its firewall`,
  placeholder: `proved: {hostname} is a placeholder in the URL that was not filled in
    fix: put the name of the host in its place`,
  'all-proxy': `proved: ALL_PROXY is set, but not used: only HTTPS_PROXY and HTTP_PROXY are, so the connection was direct
    fix: if the proxy is needed, set {proxy}=http://HOST:PORT; else check the host name and port of the URL`,
  'unasked-response':
    'fix: let the receiver send one response to each request, and 100 Continue only to a request with Expect',
  'unasked-upgrade':
    'fix: let this path respond without an upgrade (101): webhooks do not ask for WebSocket or HTTP/2',
  'headers-overflow': 'fix: let the receiver send fewer or shorter headers and cookies: 16 KB are read',
  'speaks-tls': `proved: the port speaks TLS: {location}
    fix: give the URL with https: {location}`,
  'speaks-http': `proved: the port speaks plain HTTP: {location}
    fix: give the URL with http: {location}; or give the receiver a certificate`,
  'speaks-other': `proved: the port speaks {location}
    fix: give the port of the receiver`,
  'speaks-http2': `proved: the port speaks HTTP/2 without TLS only (h2c, as gRPC does), and messages are sent in HTTP/1.1
    fix: let the server speak HTTP/1.1 at this port (Node: http.createServer), or put a proxy in front of it that does`,
  'other-loopback': `proved: nothing listens at {host}, but something does at {location}
    fix: give that address in the URL, or let the receiver listen on both (::)`,
  container: `proved: nothing listens at {host} in this container: inside it, {hostname} is the container itself
    fix: ${START_IT}; if it runs outside this container, give host.docker.internal or the name of its container in place of {hostname}`,
  'tls-self-signed': `fix: ${ISSUER}
    receiver: get a certificate from a public issuer (Let's Encrypt); senders send nothing to a self-signed one`,
  'tls-default': `proved: the certificate is not for {hostname} either: the server has none for this name, and sends its default one
    fix: give the server or ingress a certificate for {hostname} (Kubernetes: its host and secret under spec.tls), or correct the name; trusting this certificate (--ca) does not help`,
  'tls-private': `likely: the issuer is a private one (mkcert, a company, a test), which this machine does not trust
    fix: name its root certificate: --ca FILE, or in the config: delivery: { ca: ./ca.pem } (mkcert: $(mkcert -CAROOT)/rootCA.pem); if that is not enough, let the receiver send its intermediate certificates too (fullchain.pem)
    receiver: get a certificate from a public issuer (Let's Encrypt); senders do not trust a private one`,
  'tls-expired':
    'fix: renew the certificate; if it is renewed already, let the server load it (nginx -s reload); if that date is still to come, correct the clock of this machine',
  'tls-early':
    'fix: check the clock of this machine (date); if it is right, give the server a certificate that is valid today',
  'tls-hostname': `fix: use a name that the certificate is for (a wildcard stands for one label), or let the receiver get one for this name
    receiver: get a certificate for this name, or use a name that it is for (a wildcard stands for one label)`,
  'tls-untrusted': `fix: ${ISSUER}; or let the receiver send its intermediate certificates too (fullchain.pem)
    receiver: send the intermediate certificates too (fullchain.pem), or get a certificate from a public issuer`,
  'tls-rejected':
    'fix: give the server another certificate: for servers (serverAuth), signed with SHA-256, by an issuer that may issue it',
  'tls-chain': `likely: the receiver does not send its intermediate certificate: it sends only its own, whose issuer is not trusted here
    fix: let the receiver send the intermediate certificates too (fullchain.pem); if the issuer is yours, ${ISSUER}`,
  'tls-chain-between': `likely: the chain between the certificate and the file of --ca is missing: the receiver sends only its own certificate, and that file does not have its issuer
    fix: let the receiver send the intermediate certificates too (fullchain.pem), or add them to the file; else name the file of its issuer`,
  'tls-no-http1': `proved: the server rejects HTTP/1.1 in TLS (ALPN), in which messages are sent, as a server that speaks only HTTP/2 does
    fix: let it speak HTTP/1.1, too (Node: http2.createSecureServer({ allowHTTP1: true, … })), or put a proxy in front of it that does`,
  'tls-13': `proved: the server accepts a handshake of TLS 1.2 without ALPN, but not one of TLS 1.3 with ALPN (http/1.1)
    fix: update the server, or the device in between that inspects TLS; let it accept http/1.1 in ALPN`,
  'tls-alert': `proved: the port speaks TLS, but the handshake with it failed
    fix: look into the log of the server for the reason: its certificate for {hostname}, its TLS versions and ciphers`,
  'tls-by-address': `likely: the server chooses its certificate by the server name (SNI), and there is none: {hostname} is an IP address
    fix: give the host name of the receiver in the URL, in place of {hostname}`,
  tls: `fix: check the certificate, the TLS versions and the ciphers of the server; http:// does without TLS
    receiver: check that the port speaks TLS 1.2 or later`,
  'no-tls': `likely: the port speaks plain HTTP, because its response to TLS is not TLS
    fix: check that the port speaks TLS; http:// does without it`,
  'tls-unfinished': `proved: the TLS handshake did not finish, so no message was sent
    fix: check the host and port of the URL, and what stands in front of the receiver (a load balancer, a firewall)`,
  'tls-old': `proved: the server speaks only TLS 1.0 or 1.1, which is no longer used
    fix: ${OTHER_TLS}`,
  'tls-name': `proved: the server has no certificate for {hostname}
    fix: check the host name in the URL, and let the server have a certificate for it`,
  'tls-weak': `proved: the key or hash of the certificate is too weak
    fix: get a certificate with 2048 bits and SHA-256`,
  'tls-handshake': `proved: the server rejected the TLS handshake: it has no version or cipher in common, or wants a client certificate
    fix: let it accept TLS 1.2 or later with a cipher for its kind of certificate (RSA, ECDSA), and requests without a client certificate`,
  'client-certificate': `proved: it wants a client certificate (mutual TLS), which webhooks do not have
    fix: exempt this path from it (ssl_verify_client optional), or give another host name; the signature proves the sender`,
  'proxy-authentication': `proved: the proxy wants a user and a password (407)
    fix: give them: {proxy}=http://USER:PASSWORD@HOST:PORT; ${DIRECT}`,
  'proxy-ntlm': `proved: the proxy wants a login by NTLM or Kerberos (407), for which a user and a password in {proxy} do not work
    fix: run a proxy on this machine that logs in there (cntlm, px), and name that one: {proxy}=http://127.0.0.1:3128; ${DIRECT}`,
  'proxy-forbids': `proved: the proxy does not allow the connection to {host}
    fix: let the proxy allow it, ${DIRECT}`,
  'proxy-failed': `proved: the proxy could not connect to {host}
    fix: check the host and port of the URL; a proxy cannot reach names that exist only on this machine: NO_PROXY={hostname} goes direct`,
  'proxy-unreachable': `proved: the proxy itself cannot be reached; nothing was asked of {host}
    fix: check {proxy}, ${DIRECT}`,
  'proxy-silent': `proved: the proxy accepted the connection, but no TLS handshake with {host} through it finished in time
    fix: ${CHECK_PROXY}`,
  'proxy-garbage': `proved: the server in {proxy} does not respond like a proxy
    fix: ${CHECK_PROXY}`,
  'proxy-speaks-tls': `proved: the port in {proxy} speaks TLS: {location}
    fix: set {proxy}={location}, or the port at which the proxy speaks plain HTTP`,
  'proxy-speaks-http': `proved: the port in {proxy} speaks plain HTTP: {location}
    fix: set {proxy}={location}`,
  'proxy-speaks-other': `proved: the port in {proxy} speaks {location}
    fix: ${CHECK_PROXY}`,
  'no-proxy': `proved: the server in {proxy} is no proxy: it {location} CONNECT
    fix: ${CHECK_PROXY}`,
  'tunnel-no-tls': `proved: the response through the proxy in {proxy} is not TLS: the proxy does not make a tunnel, or the port of {host} does not speak TLS
    fix: ${CHECK_PROXY}`,
  'blocked-address': `fix: allow it with --allow-private or delivery.allowPrivate, if it is yours
    receiver: use an address that may be connected to`,
  aborted: 'fix: try again',
};
