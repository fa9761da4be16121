import { afterAll, afterEach } from 'vitest';
import { cleanUpAfterFile, cleanUpAfterTest } from './clean-ups.ts';

/** Timeout in ms, for a hundred temporary folders on a busy disk. */
const CLEANED_UP_WITHIN = 120_000;

// Vitest runs a setup file again for each test file.
afterAll(cleanUpAfterFile, CLEANED_UP_WITHIN);
afterEach(cleanUpAfterTest);
afterEach(({ task }) => {
  // Vitest keeps what these register in a field that its types do not have.
  const { onFinished = [] } = task as { readonly onFinished?: readonly unknown[] };
  if (task.concurrent === true && onFinished.length > 0) {
    throw new Error(
      'onTestFinished, resolves or rejects in a concurrent test: Vitest cannot tell which of them is running',
    );
  }
});
