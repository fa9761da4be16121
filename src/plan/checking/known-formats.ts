import { fullFormats } from 'ajv-formats/dist/formats.js';

/** Returns the test of a format as the validator has it, so that an inferred format accepts the texts it was inferred from. */
export function formatTest(name: 'date-time' | 'uuid' | 'email'): (text: string) => boolean {
  const format: unknown = fullFormats[name];
  const test = format instanceof RegExp ? format : (format as { validate?: unknown }).validate; // the formats that define one
  if (test instanceof RegExp) return (text) => test.test(text);
  return test as (text: string) => boolean; // as ajv documents `FormatDefinition`
}
