import { rulesOfKind, type CauseRule } from './cause-rule.ts';

/** Frameworks that reject a request before code of the receiver runs. */
export const FRAMEWORK_RULES = rulesOfKind('way', 'likely', {
  csrf: {
    status: [400, 401, 403, 419, 422, 500],
    words:
      /^(?![\s\S]*(?:signature|hmac))[\s\S]*(?:(?:csrf|xsrf|anti-?forgery)[^.\n"]{0,40}\b(?:missing|invalid|mismatch|fail|required|incorrect|wrong|expired|absent|not|token, please)|\b(?:missing|invalid|bad|wrong|no|required|mismatch(?:ed)?)\b[^.\n"]{0,30}(?:csrf|xsrf|anti-?forgery)|EBADCSRFTOKEN|Cross-site POST|CSRF verification failed|InvalidAuthenticityToken|verify (?:the provided )?CSRF token|The change you wanted was rejected|Page Expired)/i,
    says: 'the framework wants a CSRF token, which only forms on its own pages have',
    fix: 'exempt this route from the CSRF protection: Django @csrf_exempt (DRF also authentication_classes = []), Laravel validateCsrfTokens(except: [\'{path}\']), Rails skip_forgery_protection, Spring csrf(c -> c.ignoringRequestMatchers("{path}")), Flask-WTF @csrf.exempt, Express and Phoenix a route before that middleware',
  },
  hosts: {
    status: [400, 403, 421, 500],
    words:
      /Invalid HTTP_HOST header|Blocked hosts?:|Blocked request\. This host|invalid host header|host not allowed|Host .{0,80} is not allowed(?! to connect)|Misdirected Request|Invalid Hostname/i,
    says: 'the server does not accept requests for the host that it was asked for: {hostname}, where no proxy changes it',
    fix: 'add it to the hosts that the server allows (Django ALLOWED_HOSTS, Rails config.hosts, Vite server.allowedHosts, TrustedHostMiddleware, server_name); a name with an underscore is never valid',
  },
  'hosts-django-production': {
    status: [400],
    body: /<h1>Bad Request \(400\)<\/h1>/,
    says: 'Django rejects the request before any view runs, because it does not know the host {hostname}',
    fix: "add it to ALLOWED_HOSTS in settings.py: '{hostname}'; its log has the reason",
  },
  'refused-spring': {
    kind: 'status',
    status: [401, 403],
    words:
      /^\s*\{"timestamp":"[^"]{10,40}","status":40[13],"error":"(?:Forbidden|Unauthorized)"(?:,"message":"[^"]{0,40}")?,"path":/,
    says: 'Spring rejects the request without a reason: Spring Security does so (CSRF protection, or no rule that lets the path in), or the receiver itself',
    fix: 'exempt this route: csrf(c -> c.ignoringRequestMatchers("{path}")) and authorizeHttpRequests permitAll for it; else look into its log for what rejects the request',
  },
  'cors-express': {
    status: [400, 403, 500],
    words: /Not allowed by CORS|CORS (?:policy )?(?:error|rejected|denied)/i,
    says: 'its CORS rule rejects requests without an Origin, which only browsers send',
    fix: 'let {path} pass without it: register the route before cors(), or allow requests that have no Origin',
  },
  'refused-permission': {
    kind: 'status',
    status: [401, 403],
    words: /You do not have permission to perform this action|"rest_(?:forbidden|cannot_\w+|not_logged_in)"/,
    fix: "let everyone in, since the signature protects the route: Django permission_classes = [AllowAny], WordPress 'permission_callback' => '__return_true'",
  },
  'route-django-slash': {
    status: [500],
    words: /URL doesn.t end in a slash and you have APPEND_SLASH set/i,
    fix: 'give the URL with a / at the end',
  },
  'route-method': {
    kind: 'status',
    status: [405, 500],
    words:
      /method is not (?:allowed|supported) for|MethodNotAllowedHttpException|Method "?POST"? not allowed/i,
    says: 'the route {path} exists, but not for POST',
    fix: "declare it for POST (Route::post('{path}', …), methods=['POST'], app.post, @PostMapping)",
  },
  'fastapi-query': {
    kind: 'status',
    status: [422],
    words: /"loc":\s*\["query"/,
    says: 'FastAPI looks for the message in the query of the URL, not in the body',
    fix: 'declare the parameter as the body: request: Request, and await request.body(); or payload: dict = Body()',
  },
  'record-missing': {
    kind: 'status',
    status: [404],
    words: /RecordNotFound|ModelNotFoundException|No query results for model|DoesNotExist/,
    fix: 'create the record there, or respond with 2xx to ids that the receiver does not know',
  },
  'n8n-inactive': {
    status: [404],
    words: /The requested webhook [^\n]{1,200} is not registered/,
    says: 'n8n has no active workflow with this webhook',
    fix: 'activate the workflow and give its production URL (/webhook/…); a test URL (/webhook-test/…) takes one message after each "Execute workflow"',
  },
  'route-missing': {
    kind: 'status',
    status: [404],
    words:
      /^404 page not found\s*$|Cannot POST |Route POST:|rest_no_route|No route matches|no route found|didn.t match any of these|Page not found at/i,
    says: 'the program that responded has no route for POST {path}',
    fix: 'check the path of the URL: compare {path} with the routes of the receiver: prefix, final slash, POST',
  },
});

/** Used instead of a rule for missing routes if the response names another path. */
export const REWRITTEN_RULE = {
  code: 'route-rewritten',
  kind: 'way',
  confidence: 'likely',
  says: 'a proxy or a mount point in front of the routes changes the path: the request was for {path}, and the response names {named}',
  fix: 'let the proxy forward the path unchanged (nginx: proxy_pass without a path; no strip-prefix), or change the path in the URL so that the receiver gets the one of its route',
} as const satisfies CauseRule;

/** The path that a response about a missing route names, if it is not the path of the request. */
export function rewrittenPath(quotation: string, url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const named = /\bPOST\b[\]:\s"']{1,4}(\/[\w.~%/-]*)/.exec(quotation)?.[1];
  return named === new URL(url).pathname ? undefined : named;
}
