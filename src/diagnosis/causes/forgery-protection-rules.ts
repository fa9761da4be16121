import { rulesOfKind } from './cause-rule.ts';

const TOKEN = 'wants a CSRF token, which only forms on its own pages have';

/**
 * Frameworks that mistake a webhook for a forged form, or do not know its host. They reject it before code of
 * the receiver runs.
 */
export const FORGERY_PROTECTION_RULES = rulesOfKind('way', [
  {
    code: 'csrf-django',
    status: [403],
    body: /CSRF verification failed|CSRF Failed|CSRF cookie not set/,
    says: `Django ${TOKEN}`,
    fix: 'exempt this route: put @csrf_exempt above the view (with DRF also authentication_classes = [])',
  },
  {
    code: 'csrf-laravel',
    status: [419],
    says: `Laravel ${TOKEN} (419)`,
    fix: "exempt this route: $middleware->validateCsrfTokens(except: ['{path}']) in bootstrap/app.php, or move it to routes/api.php",
  },
  {
    code: 'csrf-rails',
    status: [422, 400, 500],
    body: /InvalidAuthenticityToken|CSRF token authenticity|The change you wanted was rejected/,
    says: `Rails ${TOKEN}`,
    fix: 'exempt this action: skip_forgery_protection only: :create (skip_before_action :verify_authenticity_token)',
  },
  {
    code: 'csrf-spring',
    status: [403],
    body: /Invalid CSRF Token|Could not verify the provided CSRF token|Expected CSRF token not found/,
    says: `Spring Security ${TOKEN}`,
    fix: 'exempt this route: csrf(c -> c.ignoringRequestMatchers("{path}")) and authorizeHttpRequests permitAll',
  },
  {
    code: 'refused-spring',
    kind: 'status',
    status: [401, 403],
    body: /^\s*\{"timestamp":"[^"]{10,40}","status":40[13],"error":"(?:Forbidden|Unauthorized)"(?:,"message":"[^"]{0,40}")?,"path":/,
    says: 'Spring rejects the request without a reason: Spring Security does so (CSRF protection, or no rule that lets the path in), or the receiver itself',
    fix: 'exempt this route: csrf(c -> c.ignoringRequestMatchers("{path}")) and authorizeHttpRequests permitAll for it; else check that both sides have the same secret',
  },
  {
    code: 'cors-express',
    status: [400, 403, 500],
    body: /Not allowed by CORS|CORS (?:policy )?(?:error|rejected|denied)/i,
    says: 'its CORS rule rejects requests without an Origin, which only browsers send',
    fix: 'let {path} pass without it: register the route before cors(), or allow requests that have no Origin',
  },
  {
    code: 'refused-drf',
    kind: 'status',
    status: [403],
    body: /You do not have permission to perform this action/,
    says: 'a permission class of Django REST framework rejects the request',
    fix: 'allow everyone in this view: permission_classes = [AllowAny], authentication_classes = []; the signature protects it',
  },
  {
    code: 'refused-wordpress',
    status: [401, 403],
    body: /"rest_(?:forbidden|cannot_\w+|not_logged_in)"/,
    says: 'WordPress wants a login for this route, whatever the signature',
    fix: "register it with 'permission_callback' => '__return_true': the signature protects it",
  },
  {
    code: 'csrf-flask',
    status: [400],
    body: /The CSRF (?:session )?token is (?:missing|invalid)/,
    says: `Flask-WTF ${TOKEN}`,
    fix: 'exempt this route: put @csrf.exempt above the view',
  },
  {
    code: 'csrf-express',
    status: [403, 500],
    body: /EBADCSRFTOKEN|invalid csrf token|CSRF token (?:missing|mismatch)|Missing csrf secret|FST_CSRF/i,
    says: `the framework ${TOKEN}`,
    fix: 'exempt this route: register it before the CSRF middleware',
  },
  {
    code: 'csrf-phoenix',
    status: [403],
    body: /invalid CSRF \(Cross Site Request Forgery\) token/,
    says: `Phoenix ${TOKEN}`,
    fix: 'exempt this route: put it into a pipeline without plug :protect_from_forgery',
  },
  {
    code: 'csrf-other',
    status: [400, 401, 403, 422, 500],
    body: /^(?![\s\S]*(?:signature|hmac))[\s\S]*(?:(?:csrf|xsrf|anti-?forgery)[^.\n"]{0,40}\b(?:missing|invalid|mismatch|fail|required|incorrect|wrong|expired|absent|not)|\b(?:missing|invalid|bad|wrong|no|required|mismatch(?:ed)?)\b[^.\n"]{0,30}(?:csrf|xsrf|anti-?forgery)|Cross-site POST)/i,
    says: `the framework ${TOKEN}`,
    fix: 'exempt this route from the CSRF protection: the signature protects it',
  },
  {
    code: 'hosts-django-name',
    status: [400, 500],
    body: /Invalid HTTP_HOST header: '(?<named>[^']{1,100}?)(?::\d+)?'\. The domain name provided is not valid/,
    says: 'Django was asked for the host {named}, which is not a valid name: a host name has letters, digits, dots and hyphens, and no underscore',
    fix: 'rename it (my-app instead of my_app), or let the proxy in front of it send another Host (nginx: proxy_set_header Host $host)',
  },
  {
    code: 'hosts-django',
    status: [400, 500],
    body: /Invalid HTTP_HOST header: '(?<named>[^']{1,100}?)(?::\d+)?'/,
    says: 'Django does not know the host {named}',
    fix: "add it to ALLOWED_HOSTS in settings.py: '{named}'",
  },
  {
    code: 'hosts-rails',
    status: [403],
    body: /Blocked hosts?: ?(?<named>[^\s<,:]{1,100})/,
    says: 'Rails does not know the host {named}',
    fix: 'allow it: config.hosts << "{named}" in config/environments/development.rb',
  },
  {
    code: 'hosts-vite',
    status: [403],
    body: /Blocked request\. This host(?: \(\\*"(?<named>[^"\\]{1,100}))?/,
    says: 'the development server (Vite) does not know the host {named}',
    fix: "allow it: server: { allowedHosts: ['{named}'] } in vite.config",
  },
  {
    code: 'hosts-other',
    status: [400, 403, 421],
    body: /invalid host header|host not allowed|Host .{0,80} is not allowed(?! to connect)|Misdirected Request/i,
    says: 'the server does not accept requests for this host: {hostname}, where no proxy changes it{words}',
    fix: 'add it to the hosts that the server allows (allowedHosts, TrustedHostMiddleware, server_name)',
  },
  {
    code: 'hosts-django-production',
    status: [400, 500],
    body: /DisallowedHost|<h1>Bad Request \(400\)<\/h1>/,
    says: 'Django rejects the request before any view runs: most likely it does not know the host {hostname}',
    fix: "add it to ALLOWED_HOSTS in settings.py: '{hostname}'; its log has the reason",
  },
]);
