import type { AnswerCase, AnswerTheme } from '../answer-case.ts';
import { DISKS } from './disks.ts';
import { FAULTY_RECEIVERS } from './faulty-receivers.ts';
import { FIELDS } from './fields.ts';
import { FILES } from './files.ts';
import { FRAMEWORKS_THEME } from './frameworks.ts';
import { GATEWAYS } from './gateways.ts';
import { HOSTS } from './hosts.ts';
import { NETWORK } from './network.ts';
import { OWN_WORDS_THEME } from './own-words.ts';
import { PROXIES } from './proxies.ts';
import { RECEIVERS } from './receivers.ts';
import { SCHEME_RECEIVERS } from './scheme-receivers.ts';
import { SERVICES_THEME } from './services.ts';
import { SIGNATURES } from './signatures.ts';
import { STRANGERS } from './strangers.ts';
import { SYSTEMS } from './systems.ts';
import { TLS } from './tls.ts';

/** The themes in the order of the page. */
export const THEMES: readonly AnswerTheme[] = [
  RECEIVERS,
  OWN_WORDS_THEME,
  GATEWAYS,
  HOSTS,
  FRAMEWORKS_THEME,
  SERVICES_THEME,
  NETWORK,
  TLS,
  PROXIES,
  FAULTY_RECEIVERS,
  SCHEME_RECEIVERS,
  SIGNATURES,
  FILES,
  FIELDS,
  SYSTEMS,
  DISKS,
  STRANGERS,
];

export const ALL_CASES: readonly AnswerCase[] = THEMES.flatMap(({ cases }) => cases);
