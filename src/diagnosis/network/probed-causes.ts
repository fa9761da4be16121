import { START_IT, DIRECT, CHECK_PROXY } from './told-causes.ts';

/**
 * Causes that tests of a failed connection (PROBES) find, in the order in which they are tried, as lines like those of
 * TOLD_CAUSES. An `if` line names probes, each with a pattern for the start of its result (`.` matches any result but
 * an empty one). All patterns of at least one `if` line must match. The probe `failed` gives the error and the cause
 * known so far. A line without `way` is for direct connections.
 * The names in braces are those of probes, or of facts about the request.
 */
export const PROBED_CAUSES: Readonly<Record<string, string>> = {
  placeholder: `if: failed=dns way=. host=.*[{}$]
    proved: {hostname} is a placeholder in the URL that was not filled in
    fix: put the name of the host in its place`,
  'near-host': `if: failed=dns way=. near=.
    likely: its host name is a typing error for that of {near}
    fix: correct the host name: {near}`,
  'docker-host': `if: failed=dns host=host\\.docker\\.internal$
    proved: host.docker.internal is a name inside containers only
    fix: give localhost here; in a container on Linux start it with --add-host=host.docker.internal:host-gateway`,
  'service-name': `if: failed=dns host=[^.]+$
    likely: {hostname} is the name of a container: names without a dot are known only inside the network of the containers
    fix: give localhost with the published port, or run hooks inside the same network`,
  'other-loopback': `if: failed=refused/$ machine=own elsewhere=.
    proved: nothing listens at {host}, but something does at {elsewhere}
    fix: give that address in the URL, or let the receiver listen at all addresses (::)`,
  'nothing-listens': `if: failed=refused/$ machine=own
    proved: nothing listens at {host}{others}
    fix: ${START_IT}; inside a container, {hostname} is the container itself: give host.docker.internal or the name of another container instead; hooks listen starts a receiver that shows each request`,
  'refused-there': `if: failed=refused/$ machine=(?!own)
    proved: the host {addressed} rejects this port, or a firewall on the way does
    fix: run ss -ltn on that host: if the port is not in its list, start the receiver, or give its port (Docker: the published port; Kubernetes: the targetPort of the service, and its pods); if it is there at 127.0.0.1 only, let it listen at 0.0.0.0; else a firewall there rejects it`,
  'not-accepting': `if: failed=timeout/no-connection-in-time machine=own
    likely: a program listens at {host}, but does not accept connections: it is overloaded, hangs, or is stopped (Ctrl-Z, a debugger)
    fix: look into the log of the program, let it continue, or start it again`,
  'speaks-tls': `if: failed=(?:reset|protocol|timeout|tls)/ scheme=http$ speech=tls
    proved: the port speaks TLS: {otherScheme}
    fix: give the URL with https: {otherScheme}`,
  'speaks-http': `if: failed=(?:reset|protocol|timeout|tls)/ scheme=https speech=http(?!2)
    proved: the port speaks plain HTTP: {otherScheme}
    fix: give the URL with http: {otherScheme}; or give the receiver a certificate`,
  'speaks-other': `if: failed=(?:reset|protocol|timeout|tls)/ speech=(?:other|http2)
    proved: the port speaks {words}
    fix: give the port of the receiver, or let the server speak HTTP/1.1 at this port`,
  'handler-silent': `if: failed=timeout/$ options=http
    proved: the server responds to OPTIONS {path}, but not to this message: its handler, or what reads the body before it, waits (for a body that was read already, the end of the connection, a lock), works too long, or never ends the response
    fix: let the handler respond first and do slow work after it, end its response on every path (res.end(), done, await), and read the body by its Content-Length (Python: rfile.read(length)); --timeout waits longer, up to 30s`,
  died: `if: failed=reset/ speech=refused
    likely: the receiver crashed on the message: it closed the connection, and has refused new ones since
    fix: look into the log of the receiver, repair the error, and start it again`,
  'closes-message': `if: failed=reset/ options=http
    proved: the server responds to OPTIONS {path}, but closed the connection on this message
    fix: look into the log of the receiver: it may have crashed on this message, or a limit of it or of a proxy in front of it closed the connection`,
  silent: `if: failed=reset/ speech=closed
    if: failed=reset/ options=closed speech=(?:http|tls)
    proved: the port closes each connection without a response, to OPTIONS as to a message
    fix: look into the log of the receiver; if the port forwards to it (docker-proxy, ssh -L, a tunnel), let the program in the container run and listen at 0.0.0.0, not at 127.0.0.1; if it is a database, give the port of the receiver; if it wants the PROXY protocol (HAProxy: accept-proxy), give the port of the load balancer in front of it; if it knows only certain host names (nginx: return 444 to others), give one of them in place of {hostname}`,
  'port-silent': `if: failed=timeout/$ options=silent
    if: failed=reset/$ options=silent
    proved: the port accepts connections, but not even OPTIONS gets a response in time
    fix: look into the log of the program: it is starting, is stopped (Ctrl-Z, a debugger), works long on each request (let it respond first and work later), never ends its responses, or hangs; if it forwards to another (docker-proxy, ssh -L, HAProxy), start that one; --timeout waits longer, up to 30s`,
  'proxy-tls': `if: way=http failed=tls-(?:untrusted|self-signed)/
    proved: the certificate came through the proxy in {proxy}{bypass}
    fix: if this proxy inspects TLS (a company, an antivirus), name its root certificate: --ca FILE; ${DIRECT}`,
  'proxy-scheme': `if: way=http$ failed=(?:refused/(?!proxy-unr)|reset/|protocol/|timeout/|tls/) speech=tls
    if: way=https failed=(?:refused/(?!proxy-unr)|reset/|protocol/|timeout/|tls/) speech=http
    proved: the port in {proxy} speaks {words}: {otherScheme}
    fix: set {proxy}={otherScheme}, or the port at which the proxy speaks the protocol of that URL`,
  'no-proxy': `if: way=http failed=(?:refused/(?!proxy-unr)|reset/|protocol/|timeout/|tls/) speech=(?:other|http2) tunnel=.
    if: way=http failed=(?:reset|protocol)/ speech=closed tunnel=closes
    if: way=http scheme=https failed=(?:refused/(?!proxy-unr)|reset/|protocol/|timeout/|tls/) tunnel=(?:closes|responded.with.(?:400|404|405|501))
    proved: the server in {proxy} is no proxy: it {tunnel} CONNECT
    fix: ${CHECK_PROXY}`,
  'upstream-tls': `if: failed=[^/]*/wants-tls scheme=https
    if: failed=[^/]*/wants-tls speech=(?!tls|silent|refused)
    proved: a server behind {host} says that: {host} forwards the request in plain HTTP to a port that speaks TLS
    fix: let it forward in TLS (nginx: proxy_pass https://…; HAProxy: ssl on the server line), or to a port without TLS`,
  'upstream-certificate': `if: failed=[^/]*/wants-client-certificate scheme=http$
    likely: a server behind {host} says that: {host} itself wants no client certificate, and forwards the request without one
    fix: let {host} present a certificate there (nginx: proxy_ssl_certificate), or let that server do without`,
  'route-without-post': `if: status=40[45] routes=(?!.*,.(?:unlike|but)).
    proved: {path} has a route, but not for POST: {routes}
    fix: let this route take POST, or give the URL of one that does`,
  'route-there': `if: status=404 routes=.*,.unlike
    proved: {path} has a route, which responds with 404 itself: {routes}
    fix: look into its handler: it does not find what it looks for, or sets no response (Koa and others respond with 404 without one)`,
  'route-near': `if: status=40[45] routes=.*,.but
    proved: a path near it has a route: {routes}
    fix: if that is the route of the receiver, give its path, and the query as it is: {otherUrl}; or let the proxy in front keep the path (nginx: proxy_pass without a path)`,
};
