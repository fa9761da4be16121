import { START_IT, DIRECT, CHECK_PROXY } from './told-causes.ts';

/**
 * Causes that probes find, in the order in which they are compared, as lines like those of TOLD_CAUSES. An `if` line
 * names probes, each with a pattern for the start of its result (`.` matches any result but an empty one). All patterns of
 * one `if` line must match. The probe `failed` gives the error and the cause known so far. A line without `way` is for direct
 * connections. `location` names the probe whose result fills `{location}`. The texts quote other probes by their names in
 * braces.
 */
export const PROBED_CAUSES: Readonly<Record<string, string>> = {
  placeholder: `if: failed=dns way=. host=.*[{}$]
    proved: {hostname} is a placeholder in the URL that was not filled in
    fix: put the name of the host in its place`,
  'near-host': `if: failed=dns way=. near=.
    location: near
    likely: its host name is a typing error for that of {location}
    fix: correct the host name: {location}`,
  'all-proxy': `if: failed=(?:dns|refused) allProxy=.
    proved: ALL_PROXY is set, but not used: only HTTPS_PROXY and HTTP_PROXY are, so the connection was direct
    fix: if the proxy is needed, set {proxy}=http://HOST:PORT; else check the host name and port of the URL`,
  'docker-host': `if: failed=dns host=host\\.docker\\.internal$
    proved: host.docker.internal is a name inside containers only
    fix: give localhost here; in a container on Linux start it with --add-host=host.docker.internal:host-gateway`,
  'kubernetes-name': `if: failed=dns host=[^.]+$ namespace=.
    location: namespace
    proved: the namespace {location}, in which this pod runs, has no service {hostname}
    fix: give the namespace of the service in the URL: {hostname}.NAMESPACE; kubectl get services -A lists all`,
  'service-name': `if: failed=dns host=[^.]+$
    likely: {hostname} is the name of a container: names without a dot are known only inside the network of the containers
    fix: give localhost with the published port, or run hooks inside the same network`,
  'no-name': `if: failed=dns/$ above=.
    proved: {above}
    fix: check the host name in the URL letter by letter; if it is right, its DNS record is missing: nslookup {hostname} asks for it`,
  'slow-names': `if: failed=(?:refused/$|timeout/no-connection) address=late
    proved: the name server of this machine does not respond in time when asked for {hostname}
    fix: check the name servers of this machine (/etc/resolv.conf, VPN); the receiver was not asked`,
  'no-address': `if: failed=(?:refused/$|timeout/no-connection) host=(?!0\\.0|\\[) address=(?:0\\.0\\.0\\.0|::)$
    location: address
    proved: the name {hostname} leads to {location}, which is no host: a name server with a block list, or the hosts file, gives this address
    fix: ask another name server (nslookup {hostname} 1.1.1.1), and take the name off the block list`,
  'other-loopback': `if: failed=refused/$ machine=own elsewhere=.
    location: elsewhere
    proved: nothing listens at {host}{from}, but something does at {location}
    fix: give that address in the URL, or let the receiver listen at all addresses (::)`,
  'other-port': `if: failed=refused/$ machine=own others=.
    proved: nothing listens at {host}{from}{within}; {others}
    fix: if that is the receiver, give its port in the URL; else ${START_IT}`,
  container: `if: failed=refused/$ machine=own within=.
    proved: nothing listens at {host} in this container: inside it, {hostname} is the container itself
    fix: ${START_IT}; if it runs outside this container, give host.docker.internal or the name of its container in place of {hostname}`,
  'nothing-listens': `if: failed=refused/$ machine=own
    proved: nothing listens at {host}{from}, and no other port of this machine is known to speak HTTP or TLS
    fix: ${START_IT}; hooks listen starts a receiver that shows each request`,
  'refused-there': `if: failed=refused/$ machine=(?!own)
    location: addressed
    proved: the host {location} was reached, and rejects this port
    fix: run ss -ltn on that host: if the port is not in its list, start the receiver, or give its port (Docker: the published port; Kubernetes: the targetPort of the service, and its pods); if it is there at 127.0.0.1 only, let it listen at 0.0.0.0; else a firewall there rejects it`,
  stopped: `if: failed=timeout/ program=.*stopped
    proved: the program at {host}{program} is stopped (Ctrl-Z, kill -STOP), so it does not respond
    fix: let it continue: fg in its terminal, or kill -CONT with the number of the process`,
  'not-accepting': `if: failed=timeout/no-connection-in-time machine=own
    likely: a program listens at {host}, but does not accept connections: it is overloaded, hangs, or is stopped (Ctrl-Z, a debugger)
    fix: look into the log of the program, let it continue, or start it again`,
  'speaks-tls': `if: failed=(?:reset|protocol|timeout|tls)/ scheme=http$ speech=tls
    location: otherScheme
    proved: the port speaks TLS: {location}
    fix: give the URL with https: {location}`,
  'speaks-http': `if: failed=(?:reset|protocol|timeout|tls)/ scheme=https speech=http(?!2)
    location: otherScheme
    proved: the port speaks plain HTTP: {location}
    fix: give the URL with http: {location}; or give the receiver a certificate`,
  'speaks-http2': `if: failed=(?:reset|protocol|timeout|tls)/ speech=http2
    proved: the port speaks HTTP/2 without TLS only (h2c, as gRPC does), and messages are sent in HTTP/1.1
    fix: let the server speak HTTP/1.1 at this port (Node: http.createServer), or put a proxy in front of it that does`,
  'speaks-other': `if: failed=(?:reset|protocol|timeout|tls)/ speech=(?:other|database)
    location: words
    proved: the port speaks {location}
    fix: give the port of the receiver`,
  'other-store': `if: failed=store scheme=redis$ database=(?!Redis) speech=(?:tls|http|other|database)
    if: failed=store scheme=rediss speech=(?:http|other|database)
    if: failed=store scheme=postgres database=(?!Post) speech=(?:tls|http|other|database)
    location: words
    proved: its port speaks {location}
    fix: check the scheme, host and port of \`store\` (rediss: is Redis in TLS)`,
  'handler-silent': `if: failed=timeout/$ options=http
    proved: the server responds to OPTIONS {path}, but not to this message: its handler, or what reads the body before it, waits (for a body that was read already, the end of the connection, a lock), works too long, or never ends the response
    fix: let the handler read the body by its Content-Length (Python: rfile.read(length)), end its response on every path (res.end(), done, await), and do slow work after it; --timeout waits longer, up to 30s
    receiver: read the body by its Content-Length (Python: rfile.read(length)), end the response on every path of the handler (res.end(), done, await), and do slow work after it`,
  'client-certificate': `if: failed=(?:reset|protocol|tls)/ speech=.*mutual options=(?!http)
    proved: it wants a client certificate (mutual TLS), which webhooks do not have
    fix: exempt this path from it (ssl_verify_client optional), or give another host name; the signature proves the sender`,
  'tls-13': `if: failed=tls/tls-(?:alert|handshake) speech=.*accepted
    proved: the server accepts a handshake of TLS 1.2 without ALPN, but not one of TLS 1.3 with ALPN (http/1.1)
    fix: update the server, or the device in between that inspects TLS; let it accept http/1.1 in ALPN`,
  'tls-name': `if: failed=tls/tls-(?:alert|handshake) nameless=.*(?:accepted|mutual)
    if: failed=reset/ scheme=https speech=closed nameless=tls
    proved: the server ends the TLS handshake because of the name {hostname}: without a name, it continues it
    fix: check the host name in the URL, and let the server have a certificate for it`,
  died: `if: failed=reset/ speech=refused
    likely: the receiver crashed on the message: it closed the connection, and has refused new ones since
    fix: look into the log of the receiver, repair the error, and start it again`,
  'closes-message': `if: failed=reset/ options=http
    proved: the server responds to OPTIONS {path}, but closed the connection on this message
    fix: look into the log of the receiver: it may have crashed on this message, or a limit of it or of a proxy in front of it closed the connection
    receiver: look into the receiver's log: it has crashed on this message, or a limit closed the connection`,
  'host-decides': `if: failed=reset/ options=closed otherHost=.
    if: status=(?:4(?!05)|5) failed=[^/]*/(?:proxy-|bad-gateway|not-found) otherHost=.
    proved: the host decides there: {otherHost}
    fix: give the host that leads to the receiver, or add a rule for {hostname} (nginx: server_name; HAProxy: hdr(host); an ingress: host)`,
  'closes-all': `if: failed=reset/ options=closed speech=(?:http|tls)
    proved: the server closes the connection without a response to OPTIONS, too
    fix: look into the log of the receiver, which fails on every request before it responds; if it knows only certain host names (nginx: return 444 to others), give one of them in place of {hostname}`,
  'proxy-protocol': `if: failed=reset/ speech=closed proxyLine=http
    proved: the port speaks HTTP only after a line of the PROXY protocol, as a load balancer sends it
    fix: give the URL of the load balancer, or let the server take requests without that line (nginx: listen without proxy_protocol)`,
  silent: `if: failed=reset/ speech=closed
    proved: the port closes each connection without a response, in HTTP as in TLS{program}
    fix: find out which program listens there (ss -ltnp): if it forwards to another (docker-proxy, ssh -L, a tunnel), let the program in the container run and listen at 0.0.0.0, not at 127.0.0.1; if it is a database, give the port of the receiver; else look into its log`,
  'port-silent': `if: failed=timeout/$ options=silent
    if: failed=reset/$ options=silent
    proved: the port accepts connections, but not even OPTIONS gets a response in time{program}
    fix: look into the log of the program: it is starting, works long on each request (let it respond first and work later), never ends its responses, or hangs; if it forwards to another (docker-proxy, ssh -L, HAProxy), start that one; --timeout waits longer, up to 30s
    receiver: look into its log; start its workers before it listens, respond with 2xx first, and do the work later`,
  'hosts-file': `if: failed=(?:timeout|reset|tls-hostname|.*unreachable) hostsLine=.
    location: hostsLine
    proved: the name {hostname} has its address from {location}
    fix: correct that line if the address is an old one; else check that host, its port and its firewall`,
  'proxy-exception': `if: way=http exception=.
    proved: {proxy} is used, although NO_PROXY has {exception}: this entry does not match {host}
    fix: write the entry as the name alone, without http:// and *: NO_PROXY={hostname}`,
  'proxy-difference': `if: way=http status=. difference=.
    proved: the proxy in {proxy} makes the difference: {difference}
    fix: go direct: NO_PROXY={hostname}; or let the proxy reach {host}`,
  'proxy-tls': `if: way=http failed=tls-(?:untrusted|self-signed)/
    proved: the certificate came through the proxy in {proxy}{bypass}
    fix: if this proxy inspects TLS (a company, an antivirus), name its root certificate: --ca FILE; ${DIRECT}`,
  'proxy-speaks-tls': `if: way=http$ failed=(?:refused/(?!proxy-unr)|reset/|protocol/|timeout/|tls/) speech=tls
    location: otherScheme
    proved: the port in {proxy} speaks TLS: {location}
    fix: set {proxy}={location}, or the port at which the proxy speaks plain HTTP`,
  'proxy-speaks-http': `if: way=https failed=(?:refused/(?!proxy-unr)|reset/|protocol/|timeout/|tls/) speech=http
    location: otherScheme
    proved: the port in {proxy} speaks plain HTTP: {location}
    fix: set {proxy}={location}`,
  'proxy-speaks-other': `if: way=http failed=(?:refused/(?!proxy-unr)|reset/|protocol/|timeout/|tls/) speech=(?:other|database)
    location: words
    proved: the port in {proxy} speaks {location}
    fix: ${CHECK_PROXY}`,
  'no-proxy': `if: way=http failed=(?:refused/(?!proxy-unr)|reset/|protocol/|timeout/|tls/) speech=closed tunnel=closes
    if: way=http scheme=https failed=(?:refused/(?!proxy-unr)|reset/|protocol/|timeout/|tls/) tunnel=(?:closes|responded.with.(?:400|404|405|501))
    location: tunnel
    proved: the server in {proxy} is no proxy: it {location} CONNECT
    fix: ${CHECK_PROXY}`,
  'upstream-tls': `if: failed=[^/]*/wants-tls scheme=https
    if: failed=[^/]*/wants-tls speech=(?!tls|silent|refused)
    proved: a server behind {host} says that: {host} forwards the request in plain HTTP to a port that speaks TLS
    fix: let it forward in TLS (nginx: proxy_pass https://…; HAProxy: ssl on the server line), or to a port without TLS`,
  'upstream-certificate': `if: failed=[^/]*/wants-client-certificate scheme=http$
    if: failed=[^/]*/wants-client-certificate speech=tls.accepted
    likely: a server behind {host} says that: {host} itself wants no client certificate, and forwards the request without one
    fix: let {host} present a certificate there (nginx: proxy_ssl_certificate), or let that server do without`,
  'route-without-post': `if: status=40[45] routes=(?!.*,.(?:unlike|but)).
    proved: {path} has a route, but not for POST: {routes}
    fix: let this route take POST, or give the URL of one that does`,
  'route-there': `if: status=404 routes=.*,.unlike
    proved: {path} has a route, which responds with 404 itself: {routes}
    fix: look into its handler: it does not find what it looks for, or sets no response (Koa and others respond with 404 without one)`,
  'prefix-stripped': `if: status=404 routes=OPTIONS.(/[^/]+)\\1/.*,.but
    proved: with the first part of {path} twice, it has a route: {routes}
    fix: give {otherUrl}; or name that part once: a router has it already from where it is mounted, and a proxy must forward it unchanged (nginx: proxy_pass without a path; no strip-prefix)`,
  'route-near': `if: status=40[45] routes=.*,.but
    proved: a path near it has a route: {routes}
    fix: if that is the route of the receiver, give its path, and the query as it is: {otherUrl}`,
};
