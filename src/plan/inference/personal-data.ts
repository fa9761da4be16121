import { isSecretHeader } from '../../redact.ts';

/** Words in the names of properties that usually hold a person's data. */
const PERSONAL_WORDS =
  /\b(?:e ?mail|phone|mobile|(?:first|last|full|sur|nick|user) ?name|birth(?: ?(?:day|date))?|address|street|zip(?: ?code)?|postal|ip|ssn|passport|iban|password|token|secret|lat(?:itude)?|lon(?:gitude)?|gender|age|religion|ethnicity|diagnosis|pin)\b/;

/** Roles at the end of a name, whose value is likely the name of a person: `owner`, `invited_by`, but not `owner_type`. */
const PERSON = /\b(?:user|owner|author|manager|member|employee|customer|patient|contact|by|handle|twitter)$/;

/** Whether a property usually holds a person's data, by the words in its name: `userEmail`, `first_name`. */
export function isPersonalName(name: string): boolean {
  const words = name
    .replaceAll(/([a-z\d])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, ' ');
  return PERSONAL_WORDS.test(words) || PERSON.test(words) || isSecretHeader(name);
}

const PERSONAL_VALUES = [
  /^[^\s@]+@[^\s@]+\.[a-z]{2,}$/i,
  /^\+?\d[\d\s()./-]{7,}\d$/,
  /^\d{1,3}(?:\.\d{1,3}){3}$/,
] as const;

/** Whether a text looks like a person's data: an e-mail address, a phone number or an IPv4 address. */
export function looksPersonal(text: string): boolean {
  if (text.length < 6 || text.length > 254) return false;
  // A date has the digits and separators of a phone number.
  return PERSONAL_VALUES.some((pattern) => pattern.test(text)) && !/^\d{4}-\d\d-\d\d/.test(text);
}
