const ISSUER = 'name its issuer: --ca FILE, or in the config: delivery: { ca: ./ca.pem }';
const OTHER_TLS = 'let it speak TLS 1.2 or later, or put a proxy with TLS in front of it';
export const START_IT =
  'start the receiver, wait until it listens (hooks test URL -- COMMAND does both), and check the port';
export const DIRECT = 'or go direct: NO_PROXY={hostname}';
export const CHECK_PROXY = `check {proxy}: host, port, and http:// or https://; ${DIRECT}`;

/**
 * Explanations of error codes and causes that are known without further tests. Each line begins with its name:
 * `proved`, `likely` or `possible` says what happened, with this confidence; `fix` is the fix.
 */
export const TOLD_CAUSES: Readonly<Record<string, string>> = {
  timeout: 'fix: let the receiver respond with 2xx first and work later; --timeout waits longer, up to 30s',
  'headers-unfinished': `proved: it began its response, but did not end the headers in time
    fix: let the receiver send status and headers at once (an empty line ends them), and work later; --timeout waits longer, up to 30s`,
  'no-connection-in-time': `proved: no connection could be made in time: {host} neither accepted nor rejected it
    fix: try nc -vz with this host and port on that machine itself: if it connects, let the firewalls there and in between accept the port (ufw allow, security groups); else check the address, and that the host is up and its program runs`,
  refused: `fix: ${START_IT}; hooks listen starts a receiver that shows each request`,
  'no-network': `proved: this machine has no network route to it, or a router rejects the connection
    fix: check the network of this machine; an IPv6 address needs IPv6`,
  unreachable: `proved: no route leads to {host}, or a firewall on the way or there rejects the connection
    fix: check the address, the network and VPN of this machine, and the rules of the firewalls (REJECT) for this port`,
  'no-ports': 'fix: wait, or lower --concurrency: the ports of this machine are used up',
  'too-many-files': 'fix: raise the limit (ulimit -n), or lower --concurrency',
  'not-allowed': 'fix: allow it in the firewall or sandbox of this machine',
  dns: 'fix: check the host name in the URL',
  'dns-for-now': 'fix: check the network and the name server of this machine (/etc/resolv.conf, VPN)',
  reset:
    'fix: look into the log of the receiver: it may have crashed on this message, or a limit of it or of a proxy in front of it closed the connection',
  protocol: 'fix: check the port: does something other than HTTP listen there?',
  'malformed-http':
    'fix: let the receiver, or the proxy in front of it, send correct HTTP: one response to each request, without an upgrade (101) or a 100 Continue that was not asked for',
  'headers-overflow': 'fix: let the receiver send fewer or shorter headers and cookies: 16 KB are read',
  'tls-self-signed': `fix: ${ISSUER}; for senders that cannot, get a certificate from a public issuer (Let's Encrypt)`,
  'tls-default': `proved: the certificate is not for {hostname} either: the server has none for this name, and sends its default one
    fix: give the server or ingress a certificate for {hostname} (Kubernetes: its host and secret under spec.tls), or correct the name; trusting this certificate (--ca) does not help`,
  'tls-private': `likely: the issuer is a private one (mkcert, a company, a test), which this machine does not trust
    fix: name its root certificate: --ca FILE, or in the config: delivery: { ca: ./ca.pem } (mkcert: $(mkcert -CAROOT)/rootCA.pem); if that is not enough, let the receiver send its intermediate certificates too (fullchain.pem)`,
  'tls-expired':
    'fix: renew the certificate; if it is renewed already, let the server load it (nginx -s reload); if that date is still to come, correct the clock of this machine',
  'tls-early':
    'fix: check the clock of this machine (date); if it is right, give the server a certificate that is valid today',
  'tls-hostname':
    'fix: use a name that the certificate is for (a wildcard stands for one label), or let the receiver get one for this name (an address needs subjectAltName=IP:…, not DNS:)',
  'tls-untrusted': `fix: ${ISSUER}; or let the receiver send its intermediate certificates too (fullchain.pem)`,
  'tls-rejected':
    'fix: give the server another certificate: for servers (serverAuth), signed with SHA-256, by an issuer that may issue it',
  'tls-chain': `proved: the receiver sends only its own certificate, whose issuer is not trusted here
    fix: if that issuer is a public one, let the receiver send the intermediate certificates too (fullchain.pem); if it is yours, ${ISSUER}`,
  'tls-chain-between': `proved: the file of --ca does not have the issuer of the certificate, and the receiver sends no certificate between the two
    fix: openssl x509 -noout -subject -in FILE shows whom the file names: if that is another issuer, name the file of the right one; if it is the root above, let the receiver send the intermediate certificates too (fullchain.pem), or add them to the file`,
  'tls-no-http1': `proved: the server rejects HTTP/1.1 in TLS (ALPN), in which messages are sent, as a server that speaks only HTTP/2 does
    fix: let it speak HTTP/1.1, too (Node: http2.createSecureServer({ allowHTTP1: true, … })), or put a proxy in front of it that does`,
  'client-certificate': `proved: it wants a client certificate (mutual TLS), which webhooks do not have
    fix: exempt this path from it (ssl_verify_client optional), or give another host name; the signature proves the sender`,
  'tls-alert': `proved: the port speaks TLS, but the handshake with it failed
    fix: for an "unrecognized name", give a name that the server knows in place of {hostname}; else look into the log of the server: its certificate for {hostname}, its TLS versions and ciphers`,
  tls: 'fix: check the certificate, the TLS versions (1.2 or later) and the ciphers of the server; http:// does without TLS',
  'no-tls': `proved: its response to TLS is not TLS
    fix: check that the port speaks TLS; http:// does without it`,
  'tls-unfinished': `proved: the TLS handshake did not finish, so no message was sent
    fix: check the host and port of the URL, and what stands in front of the receiver (a load balancer, a firewall)`,
  'tls-old': `proved: the server speaks only TLS 1.0 or 1.1, which is no longer used
    fix: ${OTHER_TLS}`,
  'tls-weak': `proved: the key or hash of the certificate is too weak
    fix: get a certificate with 2048 bits and SHA-256`,
  'tls-handshake': `proved: the server rejected the TLS handshake: it has no version or cipher in common, or wants a client certificate
    fix: let it accept TLS 1.2 or later with a cipher for its kind of certificate (RSA, ECDSA), and requests without a client certificate`,
  'proxy-authentication': `proved: the proxy wants a user and a password (407), and those in {proxy} are missing or wrong
    fix: give them: {proxy}=http://USER:PASSWORD@HOST:PORT; ${DIRECT}; in them, / ? # @ % stand as %2F %3F %23 %40 %25`,
  'proxy-ntlm': `proved: the proxy wants a login by NTLM or Kerberos (407), for which a user and a password in {proxy} do not work
    fix: run a proxy on this machine that logs in there (cntlm, px), and name that one: {proxy}=http://127.0.0.1:3128; ${DIRECT}`,
  'proxy-forbids': `proved: the proxy does not allow the connection to {host}{bypass}
    fix: let the proxy allow it, ${DIRECT}`,
  'proxy-failed': `proved: the proxy could not connect to {host}{bypass}
    fix: check the host and port of the URL; a proxy cannot reach names that exist only on this machine: NO_PROXY={hostname} goes direct`,
  'proxy-unreachable': `proved: the proxy itself cannot be reached; nothing was asked of {host}{bypass}
    fix: check {proxy}, ${DIRECT}`,
  'proxy-silent': `proved: the proxy accepted the connection, but no TLS handshake with {host} through it finished in time{bypass}
    fix: ${CHECK_PROXY}`,
  'proxy-garbage': `proved: the server in {proxy} does not respond like a proxy{bypass}
    fix: ${CHECK_PROXY}`,
  'tunnel-no-tls': `proved: the response through the proxy in {proxy} is not TLS: the proxy does not make a tunnel, or the port of {host} does not speak TLS
    fix: ${CHECK_PROXY}`,
  'blocked-address': 'fix: allow it with --allow-private or delivery.allowPrivate, if it is yours',
};
