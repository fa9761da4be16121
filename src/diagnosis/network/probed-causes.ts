import { START_IT, DIRECT, CHECK_PROXY } from './told-causes.ts';

/**
 * Causes that tests of a failed connection (PROBES) find, in the order in which they are tried, as lines like those of
 * TOLD_CAUSES. An `if` line names probes, each with a pattern for the start of its result (`.` matches any result but
 * an empty one). All patterns of at least one `if` line must match. The probe `failed` gives the error and the cause
 * known so far. A line without `way` is for direct connections. `location` names the probe whose result replaces
 * `{location}`. The other names in braces are those of probes, or of facts about the request.
 */
export const PROBED_CAUSES: Readonly<Record<string, string>> = {
  placeholder: `if: failed=dns way=. host=.*[{}$]
    proved: {hostname} is a placeholder in the URL that was not filled in
    fix: put the name of the host in its place`,
  'near-host': `if: failed=dns way=. near=.
    location: near
    likely: its host name is a typing error for that of {location}
    fix: correct the host name: {location}`,
  'docker-host': `if: failed=dns host=host\\.docker\\.internal$
    proved: host.docker.internal is a name inside containers only
    fix: give localhost here; in a container on Linux start it with --add-host=host.docker.internal:host-gateway`,
  'service-name': `if: failed=dns host=[^.]+$
    likely: {hostname} is the name of a container: names without a dot are known only inside the network of the containers
    fix: give localhost with the published port, or run hooks inside the same network`,
  'other-loopback': `if: failed=refused/$ machine=own elsewhere=.
    location: elsewhere
    proved: nothing listens at {host}, but something does at {location}
    fix: give that address in the URL, or let the receiver listen at all addresses (::)`,
  'other-port': `if: failed=refused/$ machine=own others=.
    proved: nothing listens at {host}{within}; {others}
    fix: if that is the receiver, give its port in the URL; else ${START_IT}`,
  container: `if: failed=refused/$ machine=own within=.
    proved: nothing listens at {host} in this container: inside it, {hostname} is the container itself
    fix: ${START_IT}; if it runs outside this container, give host.docker.internal or the name of its container in place of {hostname}`,
  'nothing-listens': `if: failed=refused/$ machine=own
    proved: nothing listens at {host}, and no other port of this machine is known to speak HTTP or TLS
    fix: ${START_IT}; hooks listen starts a receiver that shows each request`,
  'refused-there': `if: failed=refused/$ machine=(?!own)
    location: addressed
    proved: the host {location} was reached, and rejects this port
    fix: run ss -ltn on that host: if the port is not in its list, start the receiver, or give its port (Docker: the published port; Kubernetes: the targetPort of the service, and its pods); if it is there at 127.0.0.1 only, let it listen at 0.0.0.0; else a firewall there rejects it`,
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
  'handler-silent': `if: failed=timeout/$ options=http
    proved: the server responds to OPTIONS {path}, but not to this message: its handler, or what reads the body before it, waits (for a body that was read already, the end of the connection, a lock), works too long, or never ends the response
    fix: let the handler respond first and do slow work after it, end its response on every path (res.end(), done, await), and read the body by its Content-Length (Python: rfile.read(length)); --timeout waits longer, up to 30s
    receiver: respond first and do slow work after it, end the response on every path of the handler (res.end(), done, await), and read the body by its Content-Length (Python: rfile.read(length))`,
  'client-certificate': `if: failed=(?:reset|protocol|tls)/ speech=.*mutual options=(?!http)
    proved: it wants a client certificate (mutual TLS), which webhooks do not have
    fix: exempt this path from it (ssl_verify_client optional), or give another host name; the signature proves the sender`,
  died: `if: failed=reset/ speech=refused
    likely: the receiver crashed on the message: it closed the connection, and has refused new ones since
    fix: look into the log of the receiver, repair the error, and start it again`,
  'closes-message': `if: failed=reset/ options=http
    proved: the server responds to OPTIONS {path}, but closed the connection on this message
    fix: look into the log of the receiver: it may have crashed on this message, or a limit of it or of a proxy in front of it closed the connection
    receiver: look into the receiver's log: it has crashed on this message, or a limit closed the connection`,
  'closes-all': `if: failed=reset/ options=closed speech=(?:http|tls)
    proved: the server closes the connection without a response to OPTIONS, too
    fix: look into the log of the receiver, which fails on every request before it responds; if it knows only certain host names (nginx: return 444 to others), give one of them in place of {hostname}`,
  silent: `if: failed=reset/ speech=closed
    proved: the port closes each connection without a response, in HTTP as in TLS{program}
    fix: find out which program listens there (ss -ltnp): if it forwards to another (docker-proxy, ssh -L, a tunnel), let the program in the container run and listen at 0.0.0.0, not at 127.0.0.1; if it is a database, give the port of the receiver; else look into its log`,
  'port-silent': `if: failed=timeout/$ options=silent
    if: failed=reset/$ options=silent
    proved: the port accepts connections, but not even OPTIONS gets a response in time{program}
    fix: look into the log of the program: it is starting, works long on each request (let it respond first and work later), never ends its responses, or hangs; if it forwards to another (docker-proxy, ssh -L, HAProxy), start that one; --timeout waits longer, up to 30s
    receiver: look into its log; start its workers before it listens, respond with 2xx first, and do the work later`,
  'proxy-tls': `if: way=http failed=tls-(?:untrusted|self-signed)/
    proved: the certificate came through the proxy in {proxy}{bypass}
    fix: if this proxy inspects TLS (a company, an antivirus), name its root certificate: --ca FILE; ${DIRECT}`,
  'proxy-scheme': `if: way=http$ failed=(?:refused/(?!proxy-unr)|reset/|protocol/|timeout/|tls/) speech=tls
    if: way=https failed=(?:refused/(?!proxy-unr)|reset/|protocol/|timeout/|tls/) speech=http
    location: otherScheme
    proved: the port in {proxy} speaks {words}: {location}
    fix: set {proxy}={location}, or the port at which the proxy speaks the protocol of that URL`,
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
