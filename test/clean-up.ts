import { afterAll, afterEach } from 'vitest';
import { cleanUpAfterFile, cleanUpAfterTest } from './clean-ups.ts';

/** Timeout in ms, for a hundred temporary folders on a busy disk. */
const CLEANED_UP_WITHIN = 120_000;

// Vitest runs a setup file again for each test file.
afterAll(cleanUpAfterFile, CLEANED_UP_WITHIN);
afterEach(cleanUpAfterTest);
