import { APPLICATION_RULES } from './application-rules.ts';
import type { CauseRule } from './cause-rule.ts';
import { FIREWALL_RULES } from './firewall-rules.ts';
import { FORGERY_PROTECTION_RULES } from './forgery-protection-rules.ts';
import { GATEWAY_RULES, TUNNEL_RULES } from './gateway-rules.ts';
import { HOSTING_RULES } from './hosting-rules.ts';
import { RARE_STATUS_RULES } from './rare-status-rules.ts';
import { ROUTE_RULES } from './route-rules.ts';
import { SERVICE_RULES } from './service-rules.ts';
import { STATUS_RULES } from './status-rules.ts';
import { WANTED_RULES } from './wanted-rules.ts';

/** All rules for responses other than 2xx, the most specific first: the first rule that applies decides. */
export const CAUSE_RULES: readonly CauseRule[] = [
  ...TUNNEL_RULES,
  ...FIREWALL_RULES,
  ...FORGERY_PROTECTION_RULES,
  ...HOSTING_RULES,
  ...ROUTE_RULES,
  ...WANTED_RULES,
  ...SERVICE_RULES,
  ...APPLICATION_RULES,
  ...GATEWAY_RULES,
  ...STATUS_RULES,
  ...RARE_STATUS_RULES,
];
