import type { AnswerCase, AnswerTheme } from '../answer-case.ts';
import { RECEIVERS } from './receivers.ts';

/** The themes in the order of the page. */
export const THEMES: readonly AnswerTheme[] = [RECEIVERS];

export const ALL_CASES: readonly AnswerCase[] = THEMES.flatMap(({ cases }) => cases);
