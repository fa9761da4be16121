type CleanUp = () => unknown;

/** Module state: a process runs many test files and evaluates this module once (`isolate: false`). */
const afterFile: CleanUp[] = [];
const afterTest: CleanUp[] = [];

/**
 * Runs at the end of every test file, whichever of them has imported the caller first: `afterAll` at the top of a module that several
 * files share is registered for the first of them only.
 */
export function afterEachFile(cleanUp: CleanUp): void {
  afterFile.push(cleanUp);
}

/** The same at the end of every test. Not for what tests use that run side by side. */
export function afterEachTest(cleanUp: CleanUp): void {
  afterTest.push(cleanUp);
}

export async function cleanUpAfterFile(): Promise<void> {
  for (const cleanUp of afterFile) await cleanUp();
}

export async function cleanUpAfterTest(): Promise<void> {
  for (const cleanUp of afterTest) await cleanUp();
}
