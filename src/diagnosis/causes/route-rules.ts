import { rulesOfKind } from './cause-rule.ts';

const ROUTES = 'compare {path} with the routes of the receiver: prefix, final slash, POST';

/** Frameworks without a route for the request: the application runs, but the path or the method is wrong. */
export const ROUTE_RULES = rulesOfKind('status', [
  {
    code: 'route-express',
    status: [404],
    body: /Cannot POST |Route POST:.{0,200} not found/,
    says: 'the application runs, but has no route for POST {path}',
    fix: `check the path of the URL: ${ROUTES}`,
  },
  {
    code: 'route-rails',
    status: [404],
    body: /No route matches \[POST\]|no route found for POST|The current path, |didn.t match any of these|Page not found at/,
    says: 'the application runs, but has no route for POST {path}',
    fix: `check the path of the URL: ${ROUTES}`,
  },
  {
    code: 'route-laravel',
    status: [405, 500],
    body: /The POST method is not supported for|MethodNotAllowedHttpException/,
    says: 'the route {path} exists, but not for POST',
    fix: "declare it for POST: Route::post('{path}', …)",
  },
  {
    code: 'route-flask',
    status: [405],
    body: /method is not allowed for the requested URL|Method Not Allowed|Method "?POST"? not allowed/i,
    says: 'the route {path} exists, but not for POST',
    fix: "declare it for POST (methods=['POST'], app.post, @PostMapping)",
  },
  {
    code: 'route-django-slash',
    kind: 'way',
    status: [500],
    body: /the URL doesn.t end in a slash and you have APPEND_SLASH set/i,
    says: 'Django wants a slash at the end of the path, and cannot redirect a POST there (APPEND_SLASH)',
    fix: 'give the URL with a / at the end',
  },
  {
    code: 'route-wordpress',
    status: [404],
    body: /rest_no_route/,
    says: 'WordPress has no REST route for POST {path}',
    fix: "register it: register_rest_route(…, ['methods' => 'POST', 'permission_callback' => '__return_true'])",
  },
  {
    code: 'fastapi-query',
    status: [422],
    body: /"loc":\s*\["query"/,
    says: 'FastAPI looks for the message in the query of the URL, not in the body',
    fix: 'declare the parameter as the body: request: Request, and await request.body(); or payload: dict = Body()',
  },
  {
    code: 'record-missing',
    status: [404],
    body: /ActiveRecord::RecordNotFound|ModelNotFoundException|No query results for model/,
    says: 'the route runs, but does not find a record that the message names{exception}',
    fix: 'create the record there, or respond with 2xx to ids that the receiver does not know',
  },
  {
    code: 'route-go',
    status: [404],
    body: /^404 page not found\s*$/,
    says: 'a Go program or Traefik responds, and has no route for {path}',
    fix: `check the path of the URL: ${ROUTES}`,
  },
]);
